//! Whether a goal stays reached: since when, by traces that show an interruption, and since when the pods are ready.

use std::collections::BTreeSet;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

use super::options::FollowOptions;
use crate::model::api::pod::Pod;
use crate::model::cause::{AllowedRestarts, is_crash_looping};
use crate::model::engine::Now;
use crate::model::observation::Observation;

/// How long a goal has been reached, and until when that is not certain.
#[derive(Debug, Default)]
pub(super) struct Stability {
    goal: Option<ReachedGoal>,
    /// When the updated pods will have been ready for long enough; none while one is not ready.
    ready_at: Option<Duration>,
    /// When the goal will have been reached for long enough too.
    pub(super) settles_at: Option<Duration>,
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
        let needed = options.goal.needed_pods(&observation.workload);
        self.goal =
            is_reached.then(|| ReachedGoal::extend_or_restart(before, needed, observation, now.elapsed));
        let since = self.goal.as_ref().map_or(now.elapsed, |goal| goal.since);
        self.ready_at = match options.settle_time() {
            Some(period) => ready_for(period, needed, observation, options.allowed_restarts, since, now),
            None => Some(now.elapsed),
        };
        self.settles_at = self.ready_at.map(|at| at.max(since + options.stable.unwrap_or_default()));
    }

    /// Whether causes may fail the rollout although it is complete: its pods have just become ready.
    pub(super) fn is_settling(&self, now: Duration) -> bool {
        self.ready_at.is_none_or(|at| now < at)
    }

    /// Returns when elapsed time alone changes the answer.
    pub(super) fn dues(&self) -> [Option<Duration>; 2] {
        [self.ready_at, self.settles_at]
    }
}

/// A goal that is reached, and traces that would show an interruption.
///
/// A container without a readiness probe is available the moment it starts, so a crashing one is
/// available for short periods. Two observations can miss the crash between them, but its restart
/// counter shows it.
#[derive(Debug, PartialEq, Eq)]
struct ReachedGoal {
    /// When the goal was reached, counted from the start of the follower.
    since: Duration,
    traces: PodTraces,
}

/// The values that change if a pod fails between two observations.
#[derive(Debug, PartialEq, Eq)]
struct PodTraces {
    generation: i64,
    pods: BTreeSet<(String, i64, Option<Timestamp>)>,
}

impl ReachedGoal {
    /// Keeps the start time if nothing happened since, and otherwise starts a new period. If the goal needs a share of the
    /// pods only, as many of them must be the same as before.
    fn extend_or_restart(
        before: Option<Self>,
        needed: Option<usize>,
        observation: &Observation,
        now: Duration,
    ) -> Self {
        let mut traces = PodTraces::of(observation, needed.is_some());
        match before {
            Some(before) if before.traces == traces => before,
            Some(before) if needed.is_some() && before.traces.generation == traces.generation => {
                let needed = needed.unwrap_or_default().min(before.traces.pods.len());
                let same = &before.traces.pods & &traces.pods;
                if same.len() < needed {
                    return Self { since: now, traces };
                }
                traces.pods = same;
                Self { since: before.since, traces }
            }
            _ => Self { since: now, traces },
        }
    }
}

impl PodTraces {
    /// Returns the values of all updated pods, or of the ready ones.
    fn of(observation: &Observation, only_ready: bool) -> Self {
        let pods = observation.updated_pods().filter(|pod| pod.ready || !only_ready);
        let traces = pods.map(|pod| {
            let restarts = pod.containers.iter().map(|container| container.restarts).sum();
            (pod.uid.clone(), restarts, pod.readiness.since)
        });
        Self { generation: observation.workload.object().generation(), pods: traces.collect() }
    }
}

/// Returns when the updated pods will have been ready for a period, counted from the start of the follower: now for pods
/// that are ready for longer. The stamps of the pods decide, so an old rollout does not wait. None while a pod is not ready,
/// or restarted so recently that it may crash again. If the goal needs a share of the pods only, so many of them decide.
///
/// Pods that cannot be read count as ready since `since`.
fn ready_for(
    period: Duration,
    needed: Option<usize>,
    observation: &Observation,
    allowed: AllowedRestarts,
    since: Duration,
    Now { elapsed, server_time }: Now,
) -> Option<Duration> {
    if observation.pods.is_none() {
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
    Some(elapsed + rest_of(period, began, server_time))
}

/// Returns what is left of a period that began at a time, or long ago.
fn rest_of(period: Duration, began: Option<Timestamp>, now: Timestamp) -> Duration {
    let age = began.map_or(period, |began| now.duration_since(began).try_into().unwrap_or_default());
    period.saturating_sub(age)
}
