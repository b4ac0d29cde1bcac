//! Nodes that reject pods, evict pods, or are unreachable.

use super::context::{CauseContext, PodProblem, Problem, SLOW_AFTER};
use super::group::by_cause;
use super::runtime_messages::inner_message;
use super::scheduling::is_being_created;
use super::{Cause, CauseId};
use crate::model::api::pod::Pod;

/// The reasons for which a kubelet rejects a pod permanently (`pkg/kubelet/lifecycle`, `pkg/kubelet/sysctl`). The
/// other reasons concern resources that may become free.
const REFUSED_FOR_GOOD: [&str; 8] = [
    "SysctlForbidden",
    "AppArmor",
    "PodOSNotSupported",
    "PodOSSelectorNodeLabelDoesNotMatch",
    "InitContainerRestartPolicyForbidden",
    "SupplementalGroupsPolicyNotSupported",
    "PodLevelResourcesNotSupported",
    "PodFeatureUnsupported",
];

/// Returns the problem of a failed pod that the kubelet evicted (`Evicted`, `Preempting`) or rejected
/// (`OutOfcpu`, `UnexpectedAdmissionError`, `NodeAffinity`). If all containers of an evicted pod exited with 0,
/// only an event shows the eviction.
pub(super) fn refused(pod: &Pod, context: &CauseContext<'_>) -> Option<Problem> {
    if !pod.has_ended() {
        return None;
    }
    if pod.phase != "Failed" || pod.reason.is_empty() {
        let eviction = context.warnings(pod, "").find(|warning| warning.reason == "Evicted")?;
        return Some(Problem::new(CauseId::Evicted, "Evicted", eviction.message.trim()));
    }
    if matches!(pod.reason.as_str(), "Evicted" | "Preempting") {
        return Some(Problem::new(CauseId::Evicted, pod.reason.as_str(), pod.message.trim()));
    }
    let summary = format!("refused by its node, {}", pod.reason);
    let refused = Problem::new(CauseId::NodeRefused, summary, pod.message.trim());
    Some(Problem { is_transient: !REFUSED_FOR_GOOD.contains(&pod.reason.as_str()), ..refused })
}

/// Returns the problem of a pod whose kubelet has not reported a status. A kubelet does so within a second after
/// the pod is bound, so this kubelet is stopped or disconnected.
pub(super) fn without_status(pod: &Pod, context: &CauseContext<'_>) -> Option<Problem> {
    let is_bound = !pod.node.is_empty() && pod.phase == "Pending" && pod.containers.is_empty();
    let bound = pod.scheduling.since.filter(|_| is_bound)?;
    (context.now.duration_since(bound) > SLOW_AFTER).then(|| {
        Problem::new(CauseId::NodeNotReady, format!("node {} has not acknowledged the pod", pod.node), "")
    })
}

/// Returns the problem of a pod whose sandbox cannot be created, usually because of the network: `Failed to
/// create pod sandbox: ...` (`kuberuntime_manager.go`).
pub(super) fn no_sandbox(pod: &Pod, context: &CauseContext<'_>) -> Option<Problem> {
    if !is_being_created(pod) {
        return None;
    }
    let warning = context.warnings(pod, "").find(|warning| warning.reason == "FailedCreatePodSandBox")?;
    Some(Problem::new(CauseId::PodSandbox, "no sandbox for the pod", inner_message(&warning.message)))
}

/// Returns the causes for pods, of any revision, on unreachable nodes. A DaemonSet waits for each of its nodes.
pub(super) fn unreachable(context: &CauseContext<'_>) -> Vec<Cause> {
    let pods = context.observed.own_pods().filter(|pod| !pod.terminating && is_unreachable(pod));
    let found = pods.map(|pod| PodProblem {
        pod,
        container: None,
        problem: Problem::new(CauseId::NodeNotReady, format!("node {} does not answer", pod.node), ""),
    });
    by_cause(found.collect())
}

/// Whether the pod is on an unreachable node. The node controller then sets `Ready` to false and leaves
/// `ContainersReady`, which only the kubelet writes (`MarkPodsNotReady` in `controller/util/node`).
pub(super) fn is_unreachable(pod: &Pod) -> bool {
    !pod.ready
        && pod.containers_ready
        && pod.readiness.reason != "ReadinessGatesNotReady"
        && pod.readiness.status == "False"
}
