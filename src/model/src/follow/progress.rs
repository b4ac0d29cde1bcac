//! A rollout over time: how long it will still take, and whether a goal that is reached stays reached.

use std::collections::BTreeSet;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

use super::options::FollowOptions;
use crate::api::pod::Pod;
use crate::cause::{AllowedRestarts, is_crash_looping};
use crate::engine::Now;
use crate::observation::Observation;
use crate::settle::{failure_stamps, lasted};

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

/// How long a goal has been reached, and until when that is not certain.
#[derive(Debug, Default)]
pub(super) struct Stability {
    goal: Option<ReachedGoal>,
    /// When the updated pods will have been ready for long enough; none while one is not ready.
    pods_ready_from: Option<Duration>,
    /// When the goal will have been reached for long enough too.
    pub(super) stable_from: Option<Duration>,
}

impl Stability {
    /// Records since when the goal is reached, and when it will have been reached for long enough.
    pub(super) fn observe(
        &mut self,
        is_reached: bool,
        observation: &Observation,
        options: &FollowOptions,
        now: Now,
    ) {
        let before = self.goal.take();
        let needed = options.goal.needed_pods(observation, now.server_time);
        self.goal =
            is_reached.then(|| ReachedGoal::extend_or_restart(before, needed, observation, now.elapsed));
        let since = self.goal.as_ref().map_or(now.elapsed, |goal| goal.since);
        self.pods_ready_from = match options.settle_time() {
            Some(period) => ready_for(period, needed, observation, options.allowed_restarts, since, now),
            None => Some(now.elapsed),
        };
        self.stable_from = self.pods_ready_from.map(|at| at.max(since + options.stable.unwrap_or_default()));
    }

    /// Whether the updated pods became ready too recently to be certain.
    pub(super) fn is_not_yet_stable(&self, now: Duration) -> bool {
        self.pods_ready_from.is_none_or(|at| now < at)
    }

    /// Returns the time until a reached goal has been reached for long enough.
    pub(super) fn time_left(&self, now: Duration) -> Option<Duration> {
        let left = self.stable_from.filter(|_| self.goal.is_some())?.checked_sub(now)?;
        (!left.is_zero()).then_some(left)
    }

    /// Returns when elapsed time alone changes the answer.
    pub(super) fn dues(&self) -> [Option<Duration>; 2] {
        [self.pods_ready_from, self.stable_from]
    }
}

/// A goal that is reached, and the stamps that would show an interruption.
///
/// A container without a readiness probe is available the moment it starts, so a crashing one is
/// available for short periods. Two observations can miss the crash between them, but its restart
/// counter shows it.
#[derive(Debug)]
struct ReachedGoal {
    /// When the goal was reached, counted from the start of the follower.
    since: Duration,
    generation: i64,
    /// The uid and the failure stamps of each pod.
    pods: BTreeSet<(String, (i64, Option<Timestamp>))>,
}

impl ReachedGoal {
    /// Starts with all updated pods, or with the ready ones.
    fn new(observation: &Observation, only_ready: bool, now: Duration) -> Self {
        let pods = observation.updated_pods().filter(|pod| pod.ready || !only_ready);
        let pods = pods.map(|pod| (pod.uid.clone(), failure_stamps(pod))).collect();
        Self { since: now, generation: observation.workload.object().generation(), pods }
    }

    /// Keeps the start time if nothing happened since, and otherwise starts a new period. If the goal needs a share of the
    /// pods only, as many of them must be the same as before.
    fn extend_or_restart(
        before: Option<Self>,
        needed: Option<usize>,
        observation: &Observation,
        now: Duration,
    ) -> Self {
        let reached = Self::new(observation, needed.is_some(), now);
        let Some(before) = before.filter(|before| before.generation == reached.generation) else {
            return reached;
        };
        let same = &before.pods & &reached.pods;
        let goes_on = match needed {
            Some(needed) => same.len() >= needed.min(before.pods.len()),
            None => before.pods == reached.pods,
        };
        if goes_on { Self { pods: same, ..before } } else { reached }
    }
}

/// Returns when the updated pods will have been ready for a period, counted from the start of the follower: now for pods
/// that are ready for longer. The stamps of the pods decide, so an old rollout does not wait. None while a pod is not ready,
/// or restarted so recently that it may crash again. If the goal needs a share of the pods only, so many of them decide.
///
/// Pods that cannot be read, or whose revision is not known, count as ready since `since`, when the goal was reached. So do pods
/// whose stamps are later, because the clock of their node is ahead ([`lasted`]).
fn ready_for(
    period: Duration,
    needed: Option<usize>,
    observation: &Observation,
    allowed: AllowedRestarts,
    since: Duration,
    Now { elapsed, server_time }: Now,
) -> Option<Duration> {
    if observation.pods.is_none() || observation.revisions.current().is_none() {
        return Some(since + period);
    }
    let pods =
        observation.updated_pods().filter(|pod| pod.ready && !is_crash_looping(pod, allowed, server_time));
    let mut ready: Vec<_> = pods.map(Pod::ready_since).collect();
    ready.sort_unstable();
    let needed = needed.unwrap_or_else(|| observation.updated_pods().count());
    let began = match needed.checked_sub(1) {
        Some(last) => *ready.get(last)?,
        None => None,
    };
    let observed = elapsed.saturating_sub(since);
    let age = began.map_or(period, |began| lasted(Some(began), observed, server_time));
    Some(elapsed + period.saturating_sub(age))
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
