//! A broken pod that a StatefulSet will not go past.

use super::sight::Sight;
use super::{Cause, CauseId};
use crate::model::pod::Pod;
use crate::model::workload::Workload;

/// An ordered set does nothing while a pod is not available, and that pod may be of the revision that
/// was to be replaced: then neither a rollback nor a fix reaches it, until somebody deletes it.
///
/// It is the lowest such pod that the controller waits for. A pod of the revision being rolled out is
/// no such case: it has its own cause.
pub(super) fn causes(sight: &Sight<'_>) -> Vec<Cause> {
    let observed = sight.observed;
    let (Workload::StatefulSet(_), Some(running)) = (&observed.workload, sight.running) else {
        return Vec::new();
    };
    if observed.workload.object().text("/spec/podManagementPolicy") == Some("Parallel") {
        return Vec::new();
    }
    let mut unready: Vec<&Pod> = observed.own_pods().filter(|pod| !pod.ready && !pod.terminating).collect();
    unready.sort_by_key(|pod| pod.ordinal);
    let Some(lowest) = unready.first().filter(|pod| !observed.workload.runs(pod, running)) else {
        return Vec::new();
    };
    blocking(lowest, sight).into_iter().collect()
}

fn blocking(pod: &Pod, sight: &Sight<'_>) -> Option<Cause> {
    let own = sight.observed.revisions.iter().find(|revision| sight.observed.workload.runs(pod, revision));
    let troubles = Sight { running: own, ..*sight }.troubles_of(pod);
    let found = troubles.first()?; // it may be merely starting
    let of = own.map_or_else(|| "another revision".to_owned(), |own| format!("revision {}", own.label()));
    let summary =
        format!("{}; of {of}, and blocks the rollout until it is ready or deleted", found.trouble.summary);
    let cause =
        Cause::of_workload(CauseId::BlockedByPod, summary).told_by(&found.trouble.evidence).of_pods([pod]);
    Some(Cause {
        heals: found.trouble.id.heals_by_itself(),
        container: found.container.map(|container| container.name.clone()),
        restarts: found.container.map_or(0, |container| container.restarts),
        ..cause
    })
}
