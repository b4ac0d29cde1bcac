//! Volumes that are not there.

use serde_json::Value;

use super::CauseId;
use super::config;
use super::sight::{Sight, Trouble};
use crate::model::container::Container;
use crate::model::pod::Pod;
use crate::model::workload::Workload;

/// The scheduler's words about claims (`scheduler/framework/plugins/volumebinding`).
const CLAIMS: [&str; 3] = [
    "persistentvolumeclaim \"",
    "unbound immediate PersistentVolumeClaims",
    "didn't find available persistent volumes to bind",
];

/// Whether it is for want of a volume that no node was found.
pub(super) fn is_why(message: &str) -> bool {
    CLAIMS.iter().any(|words| message.contains(words))
}

/// Pods whose claims are missing or not bound. A claim that waits may yet be bound; one that is not
/// there somebody has to make.
pub(super) fn unbound(pod: &Pod, sight: &Sight<'_>) -> Option<Trouble> {
    let (scheduling, message) = (&pod.scheduling, pod.scheduling.message.as_str());
    if !pod.node.is_empty() || scheduling.status != "False" || !is_why(message) {
        return None;
    }
    Some(match missing_claim(message) {
        Some((name, words)) if !is_made_by_the_controller(name, pod, sight) => {
            Trouble::new(CauseId::MissingClaim, words, message)
        }
        _ => Trouble::new(CauseId::VolumeUnbound, "unbound volume", message),
    })
}

/// The name of a claim that is not there, and the scheduler's words for it:
/// `persistentvolumeclaim "data" not found`.
fn missing_claim(message: &str) -> Option<(&str, &str)> {
    const BEGIN: &str = "persistentvolumeclaim \"";
    const END: &str = "\" not found";
    let words = message.get(message.find(BEGIN)?..)?;
    let (name, _) = words.strip_prefix(BEGIN)?.split_once('"')?;
    let words = words.get(..BEGIN.len() + name.len() + END.len())?;
    words.ends_with(END).then_some((name, words))
}

/// Whether the claim is of a StatefulSet's own templates: its controller makes it together with the
/// pod, and the scheduler may be faster to look.
fn is_made_by_the_controller(claim: &str, pod: &Pod, sight: &Sight<'_>) -> bool {
    let workload = &sight.observed.workload;
    let templates = workload.object().at("/spec/volumeClaimTemplates").and_then(Value::as_array);
    let mut names = templates.into_iter().flatten().filter_map(|t| t.pointer("/metadata/name")?.as_str());
    matches!(workload, Workload::StatefulSet(_))
        && names.any(|name| claim.strip_prefix(name) == Some(&format!("-{}", pod.name)))
}

/// Pods on a node that cannot attach or mount a volume. Only events tell, so only while nothing was
/// started yet. A volume made of a ConfigMap or Secret is told by what is missing.
pub(super) fn unmounted(pod: &Pod, sight: &Sight<'_>) -> Option<Trouble> {
    if !is_being_created(pod) {
        return None;
    }
    let mut warnings = sight.warnings(pod, "");
    let warning =
        warnings.find(|warning| matches!(warning.reason.as_str(), "FailedMount" | "FailedAttachVolume"))?;
    let what = if warning.reason == "FailedMount" { "mounted" } else { "attached" };
    Some(config::missing(&warning.message).unwrap_or_else(|| {
        Trouble::new(CauseId::VolumeMount, format!("a volume cannot be {what}"), warning.message.as_str())
    }))
}

/// Whether a pod has a node and none of its containers has been tried yet.
pub(super) fn is_being_created(pod: &Pod) -> bool {
    let untried = ["", "ContainerCreating", "PodInitializing"];
    let is_untried = |container: &Container| {
        container.ending().is_none() && !container.started && untried.contains(&container.waiting_for())
    };
    !pod.node.is_empty() && pod.phase == "Pending" && pod.containers.iter().all(is_untried)
}
