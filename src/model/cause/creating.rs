//! Pods that take long before their containers run: init containers, and containers that are created slowly.

use k8s_openapi::jiff::Timestamp;

use super::context::{CauseContext, Problem, SLOW_AFTER};
use super::{CauseId, crash};
use crate::model::api::container::{Container, ContainerState};
use crate::model::api::pod::Pod;

/// Returns the problem of a pod whose containers are created slowly. The kubelet first mounts the volumes and
/// creates the sandbox (`PodReadyToStartContainers`), then pulls the images one by one.
pub(super) fn slow(pod: &Pod, context: &CauseContext<'_>) -> Option<Problem> {
    let waiting = pod.containers.iter().find(|container| is_not_created(container, pod))?;
    let since = last_progress(pod)?;
    if pod.node.is_empty() || context.now.duration_since(since) <= SLOW_AFTER {
        return None;
    }
    if !pod.sandbox.is_true() {
        let summary = "ContainerCreating, its volumes and network are being set up";
        return Some(Problem::new(CauseId::ContainerCreating, summary, ""));
    }
    let has_hook = context
        .declared(&waiting.name)
        .is_some_and(|declared| declared.pointer("/lifecycle/postStart").is_some());
    let or_hook = if has_hook { ", or its postStart hook runs" } else { "" };
    let summary = format!("image {} is being pulled{or_hook}", waiting.image);
    Some(Problem::new(CauseId::ImagePulling, summary, ""))
}

/// Whether the kubelet creates this container next. Containers wait until all init containers have finished.
fn is_not_created(container: &Container, pod: &Pod) -> bool {
    let has_ended =
        |init: &Container| matches!(&init.state, ContainerState::Terminated(ending) if ending.exit_code == 0);
    let is_its_turn = container.init || pod.containers.iter().filter(|other| other.init).all(has_ended);
    let is_waiting = matches!(container.waiting_for(), "ContainerCreating" | "PodInitializing");
    is_its_turn && is_waiting && container.last.is_none()
}

/// Returns the time of the kubelet's last progress with the pod.
fn last_progress(pod: &Pod) -> Option<Timestamp> {
    let of_containers = pod.containers.iter().filter_map(|container| match &container.state {
        ContainerState::Running { since } => *since,
        ContainerState::Terminated(ending) => ending.finished,
        ContainerState::Waiting { .. } | ContainerState::Unknown => None,
    });
    of_containers.chain(pod.sandbox.since).chain(pod.scheduling.since).max()
}

/// Returns the problem of an init container: its last failure, or that it has run for long.
pub(super) fn find_init_problem(
    container: &Container,
    pod: &Pod,
    context: &CauseContext<'_>,
) -> Option<Problem> {
    if !container.init {
        return None;
    }
    failed(container, pod, context).or_else(|| still_running(container, context))
}

fn still_running(container: &Container, context: &CauseContext<'_>) -> Option<Problem> {
    let ContainerState::Running { since: Some(since) } = container.state else { return None };
    let is_slow = context.now.duration_since(since) > SLOW_AFTER;
    is_slow.then(|| Problem::new(CauseId::InitRunning, "init container is still running", ""))
}

fn failed(container: &Container, pod: &Pod, context: &CauseContext<'_>) -> Option<Problem> {
    if container.latest_termination()?.exit_code == 0 {
        return None;
    }
    let problem = crash::find_problem(container, pod, context)?;
    let id = if problem.id == CauseId::CrashLoop { CauseId::InitCrash } else { problem.id };
    Some(Problem { id, summary: format!("{}{}", crash::INIT, problem.summary), ..problem })
}
