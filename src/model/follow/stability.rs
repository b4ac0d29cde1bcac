//! Whether what was reached stays so.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::model::observed::Observed;

/// A goal that was reached, and what would show that it was not so all the while.
///
/// A container without a readiness probe is available the instant it starts, so one that crashes is
/// available for a moment, again and again. Whoever looks twice may miss what was in between; a
/// restart leaves its trace in the counters.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stability {
    /// Since when, since following began.
    pub(super) since: Duration,
    traces: Traces,
}

/// What a pod that was not well in between would have changed.
#[derive(Debug, PartialEq, Eq)]
struct Traces {
    generation: i64,
    pods: BTreeSet<(String, i64, Option<k8s_openapi::jiff::Timestamp>)>,
}

impl Stability {
    /// The goal is reached: for the first time, or still, if nothing happened in between.
    pub(super) fn go_on(before: Option<Self>, observed: &Observed, now: Duration) -> Self {
        let traces = Traces::of(observed);
        match before {
            Some(before) if before.traces == traces => before,
            _ => Self { since: now, traces },
        }
    }
}

impl Traces {
    fn of(observed: &Observed) -> Self {
        let running = observed.revisions.running();
        let pods = running.into_iter().flat_map(|running| observed.pods_of(running));
        let traces = pods.filter(|pod| !pod.terminating && !pod.has_ended()).map(|pod| {
            let restarts = pod.containers.iter().map(|container| container.restarts).sum();
            (pod.uid.clone(), restarts, pod.readiness.since)
        });
        Self { generation: observed.workload.object().generation(), pods: traces.collect() }
    }
}
