//! Estimates the time left from the speed of the rollout so far.

use std::time::Duration;

use crate::model::status::observation::Observation;
use crate::model::workload::counts::Counts;

/// The fewest pods that must become ready before there is an estimate. The first one may have
/// waited for an image, or for the start of the follower.
const MIN_MOVES: u32 = 2;

/// The first and the latest sample of a rollout, and the number of pods it must reach.
#[derive(Debug, Default)]
pub(super) struct EtaEstimator {
    first: Option<Sample>,
    last: Sample,
    goal: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    pods: u32,
    at: Duration,
}

impl EtaEstimator {
    /// Records how many updated pods are ready.
    pub(super) fn record(&mut self, observation: &Observation, now: Duration) {
        let (pods, goal) = ready_and_goal(observation);
        self.add_sample(pods, goal, now);
    }

    /// Discards all samples, because another revision is being rolled out.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// Returns the estimated time left. Returns none with too few samples, and when the estimate
    /// has already passed.
    pub(super) fn time_left(&self, now: Duration) -> Option<Duration> {
        let first = self.first?;
        let moved = self.last.pods.checked_sub(first.pods).filter(|moved| *moved >= MIN_MOVES)?;
        let remaining = self.goal.checked_sub(self.last.pods)?;
        let needed = (self.last.at.saturating_sub(first.at) / moved).checked_mul(remaining)?;
        let left = needed.checked_sub(now.saturating_sub(self.last.at))?;
        (!left.is_zero()).then_some(left)
    }

    /// Only a new maximum counts as a move, so pods that fail and recover do not count twice.
    fn add_sample(&mut self, pods: u32, goal: u32, now: Duration) {
        let sample = Sample { pods, at: now };
        match self.first {
            None => (self.first, self.last) = (Some(sample), sample),
            Some(_) if pods > self.last.pods => self.last = sample,
            Some(_) => {}
        }
        self.goal = goal;
    }
}

/// Returns the number of ready updated pods, and the number to reach. Without pods,
/// `status.updatedReplicas` stands in for the ready ones.
fn ready_and_goal(observation: &Observation) -> (u32, u32) {
    let counts = Counts::of(&observation.workload);
    let current = observation.revisions.current();
    let ready_pods = current.and_then(|current| observation.pod_count(current)).map(|count| count.ready);
    let ready_and_goal = ready_pods.map_or_else(|| u32::try_from(counts.updated), u32::try_from);
    (ready_and_goal.unwrap_or_default(), u32::try_from(counts.released).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time_left(samples: &[(u64, u32)], goal: u32, now: u64) -> Option<u64> {
        let mut estimator = EtaEstimator::default();
        for (at, pods) in samples {
            estimator.add_sample(*pods, goal, Duration::from_secs(*at));
        }
        estimator.time_left(Duration::from_secs(now)).map(|left| left.as_secs())
    }

    #[test]
    fn time_left_extrapolates_the_speed_so_far() {
        for (samples, goal, now, expected) in [
            (&[(0_u64, 0_u32)] as &[(u64, u32)], 10, 5, None),
            (&[(0, 0), (5, 1)], 10, 5, None), // one move is too few
            (&[(0, 0), (5, 1), (10, 2)], 10, 10, Some(40)),
            (&[(0, 0), (5, 1), (10, 2)], 10, 30, Some(20)), // time passes
            (&[(0, 0), (5, 1), (10, 2)], 10, 50, None),     // overdue: no estimate
            (&[(2, 4), (8, 7)], 10, 8, Some(6)), // the first sample is in the middle of the rollout
            (&[(0, 0), (4, 2), (5, 1), (6, 2)], 4, 6, Some(2)), // a pod that recovers is no move
            (&[(0, 0), (4, 4)], 4, 4, None),     // complete
            (&[(0, 0), (4, 4)], 2, 4, None),     // scaled down
        ] {
            assert_eq!(time_left(samples, goal, now), expected, "{samples:?} of {goal} at {now}");
        }
    }
}
