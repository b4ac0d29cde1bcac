//! Measures the progress of a rollout: when it last progressed, and how long it will still take.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

use crate::model::engine::Now;
use crate::model::kind::Workload;
use crate::model::observation::Observation;

/// The best counters of a rollout so far, and when they last improved.
///
/// A crash loop makes pods ready and unready again, and the Deployment controller counts each
/// change as progress. Here only a new best value counts.
#[derive(Debug, Default)]
pub(in crate::model) struct ProgressClock {
    generation: i64,
    furthest: Option<Furthest>,
    last_progress: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Furthest {
    updated: i64,
    outdated: i64,
    ready: i64,
    available: i64,
}

impl ProgressClock {
    /// Records the counters of one observation.
    pub(in crate::model) fn record(&mut self, workload: &Workload, now: Duration) {
        let counts = workload.counts();
        let here = Furthest {
            updated: counts.updated,
            outdated: counts.outdated(),
            ready: counts.ready,
            available: counts.available.unwrap_or_default(),
        };
        let generation = workload.object().generation();
        let before = self.furthest.filter(|_| generation == self.generation);
        let furthest = before.map_or(here, |before| before.or_further(here));
        if before != Some(furthest) {
            self.last_progress = now;
        }
        (self.generation, self.furthest) = (generation, Some(furthest));
    }

    /// Returns when the counters last improved, counted from the start of the follower.
    pub(in crate::model) fn last_progress(&self) -> Duration {
        self.last_progress
    }
}

impl Furthest {
    /// Returns the best value of each counter.
    fn or_further(self, here: Self) -> Self {
        Self {
            updated: self.updated.max(here.updated),
            outdated: self.outdated.min(here.outdated),
            ready: self.ready.max(here.ready),
            available: self.available.max(here.available),
        }
    }
}

/// The fewest pods that must become available before there is an estimate. The first one may have
/// waited for an image, or for the start of the follower.
const MIN_MOVES: u32 = 2;

/// Estimates the time left from the speed so far: the first and the latest sample of the rollout of one revision, and
/// the number of pods it must reach.
#[derive(Debug, Default)]
pub(super) struct EtaEstimator {
    /// The name of the revision.
    revision: Option<String>,
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
    /// Records how many updated pods are available. Another revision starts with no samples.
    pub(super) fn record(&mut self, observation: &Observation, now: Now) {
        let revision = observation.revisions.current().map(|current| current.name.clone());
        if revision != self.revision {
            *self = Self { revision, ..Self::default() };
        }
        let (pods, goal) = available_and_goal(observation, now.server_time);
        self.add_sample(pods, goal, now.elapsed);
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

/// Returns the number of available updated pods, and the number to reach. A wave that is only ready is not over before
/// `minReadySeconds`. Without pods, `status.updatedReplicas` stands in for the available ones.
fn available_and_goal(observation: &Observation, now: Timestamp) -> (u32, u32) {
    let counts = observation.workload.counts();
    let min_ready_seconds = observation.workload.min_ready_seconds();
    let is_known = observation.pods.is_some() && observation.revisions.current().is_some();
    let available = observation.updated_pods().filter(|pod| pod.is_available(min_ready_seconds, now)).count();
    let available = if is_known { u32::try_from(available) } else { u32::try_from(counts.updated) };
    (available.unwrap_or_default(), u32::try_from(counts.released).unwrap_or_default())
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
