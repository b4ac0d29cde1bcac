//! Pods without a node, or whose node rejects them, lacks their volumes, or is unreachable.

use std::collections::BTreeSet;

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::autoscaler::{self, NodeScaling};
use super::context::{CauseContext, PodProblem, SLOW_AFTER};
use super::image_pull::inner_message;
use super::{Cause, CauseId, CauseSeverity, start};
use crate::api::container::Container;
use crate::api::pod::Pod;
use crate::observation::Observation;
use crate::text::plural::plural;

/// How the scheduler names a missing claim: `persistentvolumeclaim "data" not found`.
const MISSING_CLAIM: &str = "persistentvolumeclaim \"";

/// Phrases of the scheduler about claims (`scheduler/framework/plugins/volumebinding`).
const CLAIM_PHRASES: [&str; 3] = [
    MISSING_CLAIM,
    "unbound immediate PersistentVolumeClaims",
    "didn't find available persistent volumes to bind",
];

/// Whether the scheduler found no node because of a volume.
fn is_about_volumes(message: &str) -> bool {
    CLAIM_PHRASES.iter().any(|phrase| message.contains(phrase))
}

/// Returns the problem of a pod with a missing or unbound claim. An unbound claim may still be bound; a user must
/// create a missing one.
pub(super) fn unbound(pod: &Pod, context: &CauseContext<'_>) -> Option<Cause> {
    let (scheduling, message) = (&pod.scheduling, pod.scheduling.message.as_str());
    if !pod.node.is_empty() || scheduling.status != "False" || !is_about_volumes(message) {
        return None;
    }
    Some(match start::not_found(message, MISSING_CLAIM) {
        Some((name, summary)) if !is_created_by_controller(name, pod, context) => {
            Cause::new(CauseId::MissingClaim, summary).with_evidence(message)
        }
        _ => Cause::new(CauseId::VolumeUnbound, "unbound volume").with_evidence(message),
    })
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
pub(super) fn unmounted(pod: &Pod, context: &CauseContext<'_>) -> Option<Cause> {
    if !is_being_created(pod) {
        return None;
    }
    let mut warnings = context.warnings(pod, "");
    let warning =
        warnings.find(|warning| matches!(warning.reason.as_str(), "FailedMount" | "FailedAttachVolume"))?;
    let what = if warning.reason == "FailedMount" { "mounted" } else { "attached" };
    Some(start::missing(&warning.message).unwrap_or_else(|| {
        Cause::new(CauseId::VolumeMount, format!("a volume cannot be {what}")).with_evidence(&warning.message)
    }))
}

/// Whether the kubelet sets up the volumes and the sandbox of a scheduled pod, or pulls its images where it does not say that
/// they are set up. The events of an earlier attempt stay for an hour.
fn is_being_created(pod: &Pod) -> bool {
    let untried = ["", "ContainerCreating", "PodInitializing"];
    let is_untried = |container: &Container| {
        container.latest_termination().is_none()
            && !container.started
            && untried.contains(&container.waiting_reason())
    };
    !pod.node.is_empty()
        && pod.phase == "Pending"
        && !pod.sandbox.is_true()
        && pod.containers.iter().all(is_untried)
}

/// Returns the problem of an unscheduled pod, with the message of the condition `PodScheduled`, and what an autoscaler of nodes
/// does.
pub(super) fn unscheduled(pod: &Pod, context: &CauseContext<'_>) -> Option<Cause> {
    let scheduling = &pod.scheduling;
    if !pod.node.is_empty() || scheduling.status != "False" {
        return None;
    }
    match scheduling.reason.as_str() {
        "SchedulingGated" => Some(
            Cause::new(CauseId::SchedulingGated, "waits for its scheduling gates")
                .with_evidence(&scheduling.message),
        ),
        _ if is_about_volumes(&scheduling.message) => None,
        _ => {
            let scaling = autoscaler::latest(pod, context);
            let summary = match scaling {
                Some((NodeScaling::AddsNode, _)) => "unschedulable, a node is being added",
                Some((NodeScaling::AddsNone, _)) => "unschedulable, no node is added",
                None => "unschedulable",
            };
            let messages = [scheduling.message.as_str(), scaling.map_or("", |(_, message)| message)];
            let evidence = messages.join(" ");
            Some(Cause::new(CauseId::Unschedulable, summary).with_evidence(evidence.trim()))
        }
    }
}

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

/// The reasons of a kubelet that ended or rejected a pod because its node shuts down (`pkg/kubelet/nodeshutdown`).
const NODE_SHUTDOWN: [&str; 2] = ["Terminated", "NodeShutdown"];

/// How long a pod that ended is a problem. Its controller replaces it, in a DaemonSet after at most 15 minutes, but the pods of
/// Deployments stay for days.
const ENDED_LIMIT: SignedDuration = SignedDuration::from_hours(1);

/// Returns the problem of a failed pod that the kubelet evicted (`Evicted`, `Preempting`), ended with its node, or rejected
/// (`OutOfcpu`, `UnexpectedAdmissionError`, `NodeAffinity`). If all containers of an evicted pod exited with 0,
/// only an event shows the eviction.
pub(super) fn refused(pod: &Pod, context: &CauseContext<'_>) -> Option<Cause> {
    let is_old = |ended| context.now.duration_since(ended) > ENDED_LIMIT;
    if !pod.has_ended() || ended_at(pod).is_some_and(is_old) {
        return None;
    }
    if pod.phase != "Failed" || pod.reason.is_empty() {
        let eviction = context.warnings(pod, "").find(|warning| warning.reason == "Evicted")?;
        return Some(Cause::new(CauseId::Evicted, "Evicted").with_evidence(eviction.message.trim()));
    }
    if matches!(pod.reason.as_str(), "Evicted" | "Preempting") {
        return Some(Cause::new(CauseId::Evicted, pod.reason.as_str()).with_evidence(pod.message.trim()));
    }
    if NODE_SHUTDOWN.contains(&pod.reason.as_str()) {
        return Some(Cause::new(CauseId::Evicted, "its node shut down").with_evidence(pod.message.trim()));
    }
    let summary = format!("refused by its node, {}", pod.reason);
    let refused = Cause::new(CauseId::NodeRefused, summary).with_evidence(pod.message.trim());
    let is_final = REFUSED_FOR_GOOD.contains(&pod.reason.as_str());
    Some(if is_final { Cause { severity: CauseSeverity::Fatal, ..refused } } else { refused })
}

/// Returns when a pod ended, at the latest: its containers, or the kubelet that rejected it once it was scheduled.
fn ended_at(pod: &Pod) -> Option<Timestamp> {
    let ends = pod.containers.iter().filter_map(|container| container.latest_termination()?.finished);
    ends.chain(pod.readiness.since).chain(pod.scheduling.since).max()
}

/// Returns the problem of a pod whose kubelet has not reported a status.
pub(super) fn without_status(pod: &Pod, context: &CauseContext<'_>) -> Option<Cause> {
    is_unacknowledged(pod, context.now)
        .then(|| Cause::new(CauseId::NodeNotReady, format!("node {} has not acknowledged the pod", pod.node)))
}

/// Whether the kubelet has not reported a status of a pod. A kubelet does so within a second after the pod is bound, so this
/// kubelet is stopped or disconnected.
fn is_unacknowledged(pod: &Pod, now: Timestamp) -> bool {
    let is_bound = !pod.node.is_empty() && pod.phase == "Pending" && pod.containers.is_empty();
    let bound = pod.scheduling.since.filter(|_| is_bound);
    bound.is_some_and(|bound| now.duration_since(bound) > SLOW_AFTER)
}

/// Returns the nodes that a workload with a pod on each node waits for although they do not answer, as far as its pods show it;
/// none for another workload, whose pods are replaced on other nodes.
pub(crate) fn lost_nodes(observed: &Observation, now: Timestamp) -> BTreeSet<&str> {
    let is_lost = |pod: &&Pod| pod.is_on_lost_node() || is_unacknowledged(pod, now);
    let pods = observed.own_pods().filter(|_| observed.workload.kind().pods().are_per_node());
    pods.filter(is_lost).map(|pod| pod.node.as_str()).collect()
}

/// Returns which nodes these are: `2 nodes not ready: n3, n4`; none without one.
#[must_use]
pub fn lost_node_words(observed: &Observation, now: Timestamp) -> Option<String> {
    let nodes = lost_nodes(observed, now);
    let shown = nodes.iter().copied().take(MOST_NODES).collect::<Vec<_>>().join(", ");
    let more = nodes.len().saturating_sub(MOST_NODES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!nodes.is_empty()).then(|| format!("{} not ready: {shown}{more}", plural(nodes.len(), "node")))
}

/// Merges the problems of several nodes that do not answer into one, for a workload with a pod on each node.
pub(super) fn merge_lost_nodes(problems: &mut [PodProblem<'_>], context: &CauseContext<'_>) {
    let of_nodes = problems.iter_mut().filter(|problem| problem.cause.id == CauseId::NodeNotReady);
    let of_nodes: Vec<_> = of_nodes.collect();
    if let Some(words) = lost_node_words(context.observed, context.now).filter(|_| of_nodes.len() > 1) {
        for problem in of_nodes {
            problem.cause = Cause::new(CauseId::NodeNotReady, words.clone());
        }
    }
}

/// The most names of nodes in a cause.
const MOST_NODES: usize = 5;

/// Returns the problem of a pod whose sandbox cannot be created, usually because of the network: `Failed to
/// create pod sandbox: ...` (`kuberuntime_manager.go`).
pub(super) fn no_sandbox(pod: &Pod, context: &CauseContext<'_>) -> Option<Cause> {
    if !is_being_created(pod) {
        return None;
    }
    let warning = context.warnings(pod, "").find(|warning| warning.reason == "FailedCreatePodSandBox")?;
    Some(
        Cause::new(CauseId::PodSandbox, "no sandbox for the pod")
            .with_evidence(inner_message(&warning.message)),
    )
}

/// Returns the problem of a pod, of any revision, on an unreachable node. A DaemonSet waits for each of its nodes.
pub(super) fn unreachable(pod: &Pod, _: &CauseContext<'_>) -> Option<Cause> {
    (!pod.terminating && pod.is_on_lost_node())
        .then(|| Cause::new(CauseId::NodeNotReady, format!("node {} does not answer", pod.node)))
}
