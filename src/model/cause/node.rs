//! Nodes that refuse pods, put them out, or do not answer.

use super::group::by_cause;
use super::runtime_words::brief;
use super::sight::{Found, Sight, Trouble};
use super::volume::is_being_created;
use super::{Cause, CauseId};
use crate::model::pod::Pod;

/// Pods that failed as a whole: the kubelet put them out (`Evicted`, `Preempting`), or never took them
/// in (`OutOfcpu`, `UnexpectedAdmissionError`, `NodeAffinity`).
pub(super) fn refused(pod: &Pod, _: &Sight<'_>) -> Option<Trouble> {
    if pod.phase != "Failed" || pod.reason.is_empty() {
        return None;
    }
    let put_out = matches!(pod.reason.as_str(), "Evicted" | "Preempting");
    let id = if put_out { CauseId::Evicted } else { CauseId::NodeRefused };
    let summary = if put_out { pod.reason.clone() } else { format!("refused by its node, {}", pod.reason) };
    Some(Trouble::new(id, summary, pod.message.trim()))
}

/// Pods whose sandbox cannot be made, for the most part because of the network: `Failed to create pod
/// sandbox: ...` (`kuberuntime_manager.go`).
pub(super) fn no_sandbox(pod: &Pod, sight: &Sight<'_>) -> Option<Trouble> {
    if !is_being_created(pod) {
        return None;
    }
    let warning = sight.warnings(pod, "").find(|warning| warning.reason == "FailedCreatePodSandBox")?;
    Some(Trouble::new(CauseId::PodSandbox, "no sandbox for the pod", brief(&warning.message)))
}

/// Pods of any revision on nodes that do not answer. A DaemonSet waits for each of its nodes.
pub(super) fn unreachable(sight: &Sight<'_>) -> Vec<Cause> {
    let pods = sight.observed.own_pods().filter(|pod| !pod.terminating && is_unreachable(pod));
    let found = pods.map(|pod| Found {
        pod,
        container: None,
        trouble: Trouble::new(CauseId::NodeNotReady, format!("node {} does not answer", pod.node), ""),
    });
    by_cause(found.collect())
}

/// The node controller takes `Ready` from the pods of a node that is silent, and leaves what only the
/// kubelet writes as it was (`controller/util/node`: `MarkPodsNotReady`).
pub(super) fn is_unreachable(pod: &Pod) -> bool {
    !pod.ready
        && pod.containers_ready
        && pod.readiness.reason != "ReadinessGatesNotReady"
        && pod.readiness.status == "False"
}
