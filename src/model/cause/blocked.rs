//! Outdated pods that are not ready and block the update of a StatefulSet.

use super::context::CauseContext;
use super::stuck::since;
use super::{Cause, CauseId};
use crate::model::api::pod::Pod;

/// Returns the cause for a pod that blocks a StatefulSet with ordered updates.
///
/// The controller waits until each pod is available before it updates the next. If that pod runs an outdated
/// revision, no rollback or fix reaches it until a user deletes it. The controller waits for the pod with the
/// lowest ordinal. A pod of the current revision has a cause of its own.
pub(super) fn causes(context: &CauseContext<'_>) -> Vec<Cause> {
    let observed = context.observed;
    let is_ordered = observed.workload.kind().pods().wait_for_each_other(&observed.workload);
    let Some(current) = context.revision.filter(|_| is_ordered) else { return Vec::new() };
    let mut unready: Vec<&Pod> = observed.own_pods().filter(|pod| !pod.ready && !pod.terminating).collect();
    unready.sort_by_key(|pod| pod.ordinal);
    let Some(lowest) = unready.first().filter(|pod| !observed.workload.runs(pod, current)) else {
        return Vec::new();
    };
    blocking(lowest, context).into_iter().collect()
}

fn blocking(pod: &Pod, context: &CauseContext<'_>) -> Option<Cause> {
    let revision =
        context.observed.revisions.iter().find(|revision| context.observed.workload.runs(pod, revision));
    let problems =
        CauseContext::new(context.observed, revision, context.allowed, context.now).problems_of(pod);
    let found = problems.first()?; // a pod without a problem is still starting
    let revision_label = revision
        .map_or_else(|| "another revision".to_owned(), |revision| format!("revision {}", revision.label()));
    let summary = format!(
        "{}; the pod runs {revision_label} and blocks the rollout until it is ready or deleted",
        found.problem.summary
    );
    let cause = Cause::of_workload(CauseId::BlockedByPod, summary)
        .with_evidence(&found.problem.evidence)
        .with_pods([pod]);
    Some(Cause {
        is_transient: found.problem.is_transient,
        container: found.container.map(|container| container.name.clone()),
        restarts: found.container.map_or(0, |container| container.restarts),
        // The pod may have been broken before the rollout began.
        since: since(found.problem.id, pod, found.container)
            .max(context.revision.and_then(|current| current.created)),
        ..cause
    })
}
