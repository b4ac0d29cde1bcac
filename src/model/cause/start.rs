//! Containers that the runtime cannot start.

use super::CauseId;
use super::context::{CauseContext, Problem};
use super::probe::handler_text;
use super::runtime_messages::{StartFailure, command_in, inner_message, start_failure};
use crate::model::api::container::{Container, ContainerState};
use crate::model::api::pod::Pod;

/// The waiting reasons of a failed start. CRI-O fails while it creates the container, containerd while it starts
/// it.
const WAITING_REASONS: [&str; 2] = ["RunContainerError", "CreateContainerError"];

/// The termination reasons of a container that never ran.
const TERMINATION_REASONS: [&str; 2] = ["StartError", "ContainerCannotRun"];

/// Returns the problem of a container that never ran, or that was killed because its postStart hook failed.
pub(super) fn find_problem(container: &Container, pod: &Pod, context: &CauseContext<'_>) -> Option<Problem> {
    failed_hook(container, pod, context).or_else(|| never_ran(container))
}

/// Returns the problem of a container whose `postStart` hook failed. The kubelet reports `PostStartHookError`
/// briefly and then `CrashLoopBackOff`, so the event about the last run identifies the failure. The exit code does
/// not, because the kubelet killed the container.
fn failed_hook(container: &Container, pod: &Pod, context: &CauseContext<'_>) -> Option<Problem> {
    let is_waiting = matches!(container.state, ContainerState::Waiting { .. });
    let began = container.latest_termination().and_then(|ending| ending.started).filter(|_| is_waiting);
    let is_reported = || {
        let mut warnings = context.warnings(pod, &container.name);
        warnings.any(|warning| {
            warning.reason == "FailedPostStartHook" && began.is_some() && warning.last >= began
        })
    };
    if container.waiting_for() != "PostStartHookError" && !is_reported() {
        return None;
    }
    let hook =
        context.declared(&container.name).and_then(|declared| declared.pointer("/lifecycle/postStart"));
    let what = hook.map(|hook| format!(", {}", handler_text(hook))).unwrap_or_default();
    let message = container.waiting_message();
    let evidence = message.split_once("failed - error: ").map_or("", |(_, error)| error);
    Some(Problem::new(CauseId::PostStartHook, format!("postStart hook fails{what}"), evidence))
}

fn never_ran(container: &Container) -> Option<Problem> {
    let message = start_error(container)?;
    let command = || command_in(message).unwrap_or_default();
    Some(match start_failure(message) {
        StartFailure::NoCommand => Problem::new(
            CauseId::CommandNotFound,
            format!("command {:?} not found", command()),
            inner_message(message),
        ),
        StartFailure::NotExecutable => Problem::new(
            CauseId::CommandNotFound,
            format!("command {:?} is not executable", command()),
            inner_message(message),
        ),
        StartFailure::Other => {
            Problem::new(CauseId::ContainerStart, "cannot be started", inner_message(message))
        }
    })
}

/// Returns the runtime's error. After some attempts a waiting container has only the message `back-off`; its
/// termination message still has the error.
fn start_error(container: &Container) -> Option<&str> {
    let ending =
        container.latest_termination().filter(|ending| TERMINATION_REASONS.contains(&ending.reason.as_str()));
    let waiting = || WAITING_REASONS.contains(&container.waiting_for()).then(|| container.waiting_message());
    ending.map(|ending| ending.message.as_str()).or_else(waiting)
}
