//! Pods that cannot be scheduled, and missing, unbound and unmountable volumes.

use serde_json::Value;

use super::context::{CauseContext, Problem};
use super::{CauseId, config};
use crate::model::api::container::Container;
use crate::model::api::pod::Pod;

/// Phrases of the scheduler about claims (`scheduler/framework/plugins/volumebinding`).
const CLAIM_PHRASES: [&str; 3] = [
    "persistentvolumeclaim \"",
    "unbound immediate PersistentVolumeClaims",
    "didn't find available persistent volumes to bind",
];

/// Whether the scheduler found no node because of a volume.
fn is_about_volumes(message: &str) -> bool {
    CLAIM_PHRASES.iter().any(|phrase| message.contains(phrase))
}

/// Returns the problem of a pod with a missing or unbound claim. An unbound claim may still be bound; a user must
/// create a missing one.
pub(super) fn unbound(pod: &Pod, context: &CauseContext<'_>) -> Option<Problem> {
    let (scheduling, message) = (&pod.scheduling, pod.scheduling.message.as_str());
    if !pod.node.is_empty() || scheduling.status != "False" || !is_about_volumes(message) {
        return None;
    }
    Some(match missing_claim(message) {
        Some((name, summary)) if !is_created_by_controller(name, pod, context) => {
            Problem::new(CauseId::MissingClaim, summary, message)
        }
        _ => Problem::new(CauseId::VolumeUnbound, "unbound volume", message),
    })
}

/// Returns the name of a missing claim, and the scheduler's phrase about it: `persistentvolumeclaim "data" not
/// found`.
fn missing_claim(message: &str) -> Option<(&str, &str)> {
    const BEGIN: &str = "persistentvolumeclaim \"";
    const END: &str = "\" not found";
    let quote = message.get(message.find(BEGIN)?..)?;
    let (name, _) = quote.strip_prefix(BEGIN)?.split_once('"')?;
    let quote = quote.get(..BEGIN.len() + name.len() + END.len())?;
    quote.ends_with(END).then_some((name, quote))
}

/// Whether the claim belongs to a StatefulSet's `volumeClaimTemplates`. The controller creates it with the pod, and
/// the scheduler may run before the claim exists.
fn is_created_by_controller(claim: &str, pod: &Pod, context: &CauseContext<'_>) -> bool {
    let workload = context.observed.workload.object();
    let templates = workload.at("/spec/volumeClaimTemplates").and_then(Value::as_array);
    let mut names =
        templates.into_iter().flatten().filter_map(|claim| claim.pointer("/metadata/name")?.as_str());
    names.any(|name| claim.strip_prefix(name) == Some(&format!("-{}", pod.name)))
}

/// Returns the problem of a pod whose node cannot attach or mount a volume. Only events show it, so the pod must
/// not have started a container. For a ConfigMap or Secret volume, the missing object is the problem.
pub(super) fn unmounted(pod: &Pod, context: &CauseContext<'_>) -> Option<Problem> {
    if !is_being_created(pod) {
        return None;
    }
    let mut warnings = context.warnings(pod, "");
    let warning =
        warnings.find(|warning| matches!(warning.reason.as_str(), "FailedMount" | "FailedAttachVolume"))?;
    let what = if warning.reason == "FailedMount" { "mounted" } else { "attached" };
    Some(config::missing(&warning.message).unwrap_or_else(|| {
        Problem::new(CauseId::VolumeMount, format!("a volume cannot be {what}"), warning.message.as_str())
    }))
}

/// Whether the kubelet has not yet tried to start a container of a scheduled pod.
pub(super) fn is_being_created(pod: &Pod) -> bool {
    let untried = ["", "ContainerCreating", "PodInitializing"];
    let is_untried = |container: &Container| {
        container.latest_termination().is_none()
            && !container.started
            && untried.contains(&container.waiting_for())
    };
    !pod.node.is_empty() && pod.phase == "Pending" && pod.containers.iter().all(is_untried)
}

/// Returns the problem of an unscheduled pod, with the message of the condition `PodScheduled`.
pub(super) fn unscheduled(pod: &Pod, _: &CauseContext<'_>) -> Option<Problem> {
    let scheduling = &pod.scheduling;
    if !pod.node.is_empty() || scheduling.status != "False" {
        return None;
    }
    match scheduling.reason.as_str() {
        "SchedulingGated" => Some(Problem::new(
            CauseId::SchedulingGated,
            "waits for its scheduling gates",
            scheduling.message.as_str(),
        )),
        _ if is_about_volumes(&scheduling.message) => None,
        _ => Some(Problem::new(CauseId::Unschedulable, "unschedulable", scheduling.message.as_str())),
    }
}
