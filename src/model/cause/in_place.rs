//! Pods that are updated in place, and what their update waits for.

use std::collections::BTreeMap;

use serde_json::Value;

use super::context::CauseContext;
use super::{Cause, CauseId};
use crate::model::api::pod::Pod;
use crate::model::diff::pod_update::PodUpdate;
use crate::model::kind::update_budget::PodUpdatePolicy;
use crate::model::kind::verdict::RolloutState;
use crate::model::text::plural::plural;

/// Returns what the update of a pod in place waits for: its grace period, or kruise-daemon on its node.
pub(super) fn waiting(pod: &Pod, _: &CauseContext<'_>) -> Option<Cause> {
    let update = pod.in_place_update.as_ref().filter(|update| update.is_under_way)?;
    if update.is_in_grace_period {
        let summary = "in the grace period before its update in place";
        return Some(Cause::of_pod(CauseId::InPlaceGracePeriod, summary, ""));
    }
    update.awaits_daemon.then(|| {
        let containers = update.containers.join(", ");
        let summary = format!(
            "waits for kruise-daemon to restart {containers}, whose environment reads changed metadata"
        );
        Cause::of_pod(CauseId::KruiseDaemon, summary, "")
    })
}

/// Returns the causes about all pods of the workload, whatever revision they run.
pub(super) fn causes(context: &CauseContext<'_>, state: RolloutState) -> Vec<Cause> {
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
        Some(Cause::of_workload(CauseId::LifecycleHook, summary).with_pods(pods))
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
        match PodUpdate::between(&revision.template(), &live, policy) {
            PodUpdate::Refused { because } => Some((pods, because)),
            _ => None,
        }
    })?;
    let path = because.first().map(ToString::to_string).unwrap_or_default();
    let summary = format!("InPlaceOnly keeps {}: {path} cannot change in place", plural(kept.len(), "pod"));
    let since = context.revision.and_then(|current| current.created);
    Some(Cause { since, ..Cause::of_workload(CauseId::InPlaceOnly, summary).with_pods(kept) })
}
