//! Whether a goal stays reached (`--stable`).

use std::collections::BTreeSet;
use std::time::Duration;

use crate::model::status::observation::Observation;

/// A goal that is reached, and traces that would show an interruption.
///
/// A container without a readiness probe is available the moment it starts, so a crashing one is
/// available for short periods. Two observations can miss the crash between them, but its restart
/// counter shows it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stability {
    /// When the goal was reached, counted from the start of the follower.
    pub(super) since: Duration,
    traces: PodTraces,
}

/// The values that change if a pod fails between two observations.
#[derive(Debug, PartialEq, Eq)]
struct PodTraces {
    generation: i64,
    pods: BTreeSet<(String, i64, Option<k8s_openapi::jiff::Timestamp>)>,
}

impl Stability {
    /// Keeps the start time if nothing happened since, and otherwise starts a new period.
    pub(super) fn extend_or_restart(before: Option<Self>, observation: &Observation, now: Duration) -> Self {
        let traces = PodTraces::of(observation);
        match before {
            Some(before) if before.traces == traces => before,
            _ => Self { since: now, traces },
        }
    }
}

impl PodTraces {
    fn of(observation: &Observation) -> Self {
        let current = observation.revisions.current();
        let pods = current.into_iter().flat_map(|current| observation.pods_of(current));
        let traces = pods.filter(|pod| !pod.terminating && !pod.has_ended()).map(|pod| {
            let restarts = pod.containers.iter().map(|container| container.restarts).sum();
            (pod.uid.clone(), restarts, pod.readiness.since)
        });
        Self { generation: observation.workload.object().generation(), pods: traces.collect() }
    }
}
