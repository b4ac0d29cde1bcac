//! Pods that the controller waits for: slow terminating ones, those that outlive their grace period, outdated ones that block a
//! StatefulSet, and those that are updated in place.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::jiff::SignedDuration;
use serde_json::Value;

use super::context::{CauseContext, SLOW_AFTER};
use super::since::since;
use super::{Cause, CauseId, CauseSeverity};
use crate::api::pod::Pod;
use crate::diff::pod_update::UpdatedPods;
use crate::kind::strategy;
use crate::kind::update_budget::PodUpdatePolicy;
use crate::kind::verdict::RolloutState;
use crate::revision::Revision;
use crate::text::go_duration;
use crate::text::plural::plural;

/// The time that the kubelet has after the grace period to confirm the end of a pod.
const CONFIRMATION_TIME: SignedDuration = SignedDuration::from_secs(30);

/// Returns the problem of a slow terminating pod that the controller waits for before it creates the replacement.
/// A Deployment waits only with `Recreate`, a DaemonSet unless it may surge, and a StatefulSet always.
pub(super) fn terminating(pod: &Pod, context: &CauseContext<'_>) -> Option<Cause> {
    let workload = &context.observed.workload;
    let grace = pod.grace_seconds?;
    let began = pod.deletion_deadline?.checked_sub(SignedDuration::from_secs(grace)).ok()?;
    let is_slow = context.now.duration_since(began) > SLOW_AFTER && !is_late(pod, context);
    if !is_slow || !workload.kind().pods().wait_for_terminating_pods(workload) {
        return None;
    }
    let grace = go_duration::write(Duration::from_secs(grace.try_into().unwrap_or_default()));
    let summary = format!("old pod is still terminating, grace period {grace}");
    Some(Cause::new(CauseId::OldPodsTerminating, summary))
}

fn is_late(pod: &Pod, context: &CauseContext<'_>) -> bool {
    pod.deletion_deadline.is_some_and(|deadline| context.now.duration_since(deadline) > CONFIRMATION_TIME)
}

/// Returns the problem of a pod, of any revision, that outlives its grace period.
pub(super) fn outliving_grace_period(pod: &Pod, context: &CauseContext<'_>) -> Option<Cause> {
    is_late(pod, context)
        .then(|| Cause::new(CauseId::StuckTerminating, summary(pod)).with_evidence(&pod.message))
}

/// Returns the summary for a pod that outlives its grace period. An unreachable kubelet cannot confirm the end of
/// a pod, and may never have received the pod. Older node controllers set the reason `NodeLost`
/// (`pkg/util/node`).
fn summary(pod: &Pod) -> String {
    let is_unheard_of = !pod.node.is_empty() && pod.containers.is_empty();
    if pod.reason == "NodeLost" || pod.is_on_lost_node() || is_unheard_of {
        format!("stuck terminating, node {} does not answer", pod.node)
    } else if pod.finalizers.is_empty() {
        "stuck terminating".to_owned()
    } else {
        format!("stuck terminating, waits for {}", pod.finalizers.join(", "))
    }
}

/// Returns the cause for a pod that blocks a StatefulSet: one with ordered updates, or one whose updates have stopped.
///
/// The controller waits until each pod is available before it updates the next. If that pod runs an outdated
/// revision, no rollback or fix reaches it until a user deletes it. The controller waits for the pod with the
/// lowest ordinal. A pod of the current revision has a cause of its own.
pub(super) fn blocking(context: &CauseContext<'_>) -> Option<Cause> {
    let (observed, current) = (context.observed, context.revision?);
    let (kind, workload) = (observed.workload.kind(), &observed.workload);
    let is_ordered = kind.pods().wait_for_each_other(workload) && kind.waits_for_broken_pods(workload);
    if !is_ordered && !has_stopped(context, current) {
        return None;
    }
    let unready = observed.own_pods().filter(|pod| !pod.ready && !pod.terminating);
    let pod = unready.min_by_key(|pod| pod.ordinal).filter(|pod| !observed.workload.runs(pod, current))?;
    let revision = observed.revision_of(pod);
    let problems = CauseContext::new(observed, revision, context.allowed, context.now).problems_of(pod);
    let found = problems.first()?; // a pod without a problem is still starting
    let revision_label = revision
        .map_or_else(|| "another revision".to_owned(), |revision| format!("revision {}", revision.label()));
    let summary = format!(
        "{}; the pod runs {revision_label} and blocks the rollout until it is ready or deleted",
        found.cause.summary()
    );
    let may_pass = found.cause.severity == CauseSeverity::MayPass;
    let cause = Cause::new(CauseId::BlockedByPod, summary).with_pods([pod]).passing_if(may_pass);
    Some(Cause {
        evidence: found.cause.evidence.clone(),
        container: found.container.map(|container| container.name.clone()),
        restarts: found.container.map_or(0, |container| container.restarts),
        // The pod may have been broken before the rollout began.
        since: since(found.cause.id, pod, found.container).max(current.created),
        ..cause
    })
}

/// Whether the update of a StatefulSet with `Parallel` has stopped at outdated pods that its partition releases. The controller
/// replaces a broken one like any other, within a second once it is its turn; those of Kubernetes 1.35.0 to 1.35.2 count it as
/// unavailable and wait (kubernetes/kubernetes 137409).
fn has_stopped(context: &CauseContext<'_>, current: &Revision) -> bool {
    let (observed, workload) = (context.observed, &context.observed.workload);
    let is_parallel =
        workload.kind().pods().are_ordered() && !workload.kind().pods().wait_for_each_other(workload);
    if !is_parallel || !strategy::is_rolling(workload) {
        return false;
    }
    let partition = strategy::partition(workload);
    let is_kept =
        |pod: &Pod| strategy::partition_index(workload, &pod.name).is_some_and(|index| index < partition);
    let is_still =
        |pod: &Pod| !pod.terminating && (pod.ready || !workload.runs(pod, current) && !is_kept(pod));
    let moved = observed.updated_pods().map(Pod::ready_since).chain([current.created]).max().flatten();
    observed.own_pods().all(is_still)
        && moved.is_some_and(|moved| context.now.duration_since(moved) > SLOW_AFTER)
}

/// Returns what the update of a pod in place waits for: its grace period, or kruise-daemon on its node.
pub(super) fn in_place(pod: &Pod, _: &CauseContext<'_>) -> Option<Cause> {
    let update = pod.in_place_update.as_ref().filter(|update| update.is_under_way)?;
    if update.is_in_grace_period {
        let summary = "in the grace period before its update in place";
        return Some(Cause::new(CauseId::InPlaceGracePeriod, summary));
    }
    update.awaits_daemon.then(|| {
        let containers = update.containers.join(", ");
        let summary = format!(
            "waits for kruise-daemon to restart {containers}, whose environment reads changed metadata"
        );
        Cause::new(CauseId::KruiseDaemon, summary)
    })
}

/// Returns the causes about the updates in place of all pods of the workload, whatever revision they run.
pub(super) fn in_place_of_all(context: &CauseContext<'_>, state: RolloutState) -> Vec<Cause> {
    let mut causes = lifecycle_hooks(context);
    if state == RolloutState::Progressing {
        causes.extend(refused(context));
    }
    causes
}

/// Returns the causes for pods that wait for a lifecycle hook. Another client removes the labels or finalizers of
/// the hook when its work is done. `PreparingNormal` is a usual state of a new pod where there is no such hook.
fn lifecycle_hooks(context: &CauseContext<'_>) -> Vec<Cause> {
    let workload = &context.observed.workload;
    let mut waiting: BTreeMap<(&str, &str), Vec<&Pod>> = BTreeMap::new();
    for pod in context.observed.own_pods().filter(|pod| !pod.has_ended()) {
        let state = pod.in_place_update.as_ref().map_or("", |update| update.lifecycle.as_str());
        let hook = match state {
            "PreparingUpdate" | "Updated" => "inPlaceUpdate",
            "PreparingDelete" => "preDelete",
            "PreparingNormal" => "preNormal",
            _ => continue,
        };
        waiting.entry((state, hook)).or_default().push(pod);
    }
    let cause = |((state, hook), pods): ((&str, &str), Vec<&Pod>)| {
        let handlers = handlers(workload.object().at("/spec/lifecycle")?.get(hook)?)?;
        let summary = format!("{state}: waits for the lifecycle hook {hook} ({handlers})");
        Some(Cause::new(CauseId::LifecycleHook, summary).with_pods(pods))
    };
    waiting.into_iter().filter_map(cause).collect()
}

/// Returns the labels and finalizers of a hook; none for a hook without any.
fn handlers(hook: &Value) -> Option<String> {
    let labels = hook.get("labelsHandler").and_then(Value::as_object).into_iter().flatten();
    let labels = labels.map(|(name, value)| format!("label {name}={}", value.as_str().unwrap_or_default()));
    let finalizers = hook.get("finalizersHandler").and_then(Value::as_array).into_iter().flatten();
    let finalizers = finalizers.filter_map(|name| Some(format!("finalizer {}", name.as_str()?)));
    let all: Vec<String> = labels.chain(finalizers).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// Returns the cause for outdated pods that the policy `InPlaceOnly` keeps on their revision, because the live
/// template differs from it in more than what changes in place.
fn refused(context: &CauseContext<'_>) -> Option<Cause> {
    let workload = &context.observed.workload;
    let policy = workload.pod_update_policy();
    if policy != PodUpdatePolicy::InPlaceOnly {
        return None;
    }
    let live = workload.template();
    let (kept, because) = context.observed.revisions.iter().find_map(|revision| {
        let pods: Vec<&Pod> = context.observed.pods_of(revision).filter(|pod| pod.is_active()).collect();
        if pods.is_empty() {
            return None;
        }
        let update = UpdatedPods::of_one(&revision.template(), &live, policy);
        update.refused.then_some((pods, update.because))
    })?;
    let path = because.first().map(ToString::to_string).unwrap_or_default();
    let summary = format!("InPlaceOnly keeps {}: {path} cannot change in place", plural(kept.len(), "pod"));
    let since = context.revision.and_then(|current| current.created);
    Some(Cause { since, ..Cause::new(CauseId::InPlaceOnly, summary).with_pods(kept) })
}
