//! Containers that the runtime cannot start.

use super::CauseId;
use super::runtime_words::{StartFailure, brief, command_in, start_failure};
use super::sight::{Sight, Trouble};
use crate::model::container::Container;
use crate::model::pod::Pod;

/// The kubelet's words for a start that failed, as a reason to wait (CRI-O fails on creation,
/// containerd on start) and as the end of a container that never ran.
const WAITING: [&str; 2] = ["RunContainerError", "CreateContainerError"];
const ENDED: [&str; 2] = ["StartError", "ContainerCannotRun"];

/// Containers that never ran.
pub(super) fn of(container: &Container, _: &Pod, _: &Sight<'_>) -> Option<Trouble> {
    let message = words(container)?;
    let command = || command_in(message).unwrap_or_default();
    Some(match start_failure(message) {
        StartFailure::NoCommand => Trouble::new(
            CauseId::CommandNotFound,
            format!("command {:?} not found", command()),
            brief(message),
        ),
        StartFailure::NotExecutable => Trouble::new(
            CauseId::CommandNotFound,
            format!("command {:?} may not be executed", command()),
            brief(message),
        ),
        StartFailure::Other => Trouble::new(CauseId::ContainerStart, "cannot be started", brief(message)),
    })
}

/// What the runtime said. A waiting container has only the kubelet's `back-off` after some tries; how
/// it ended says more.
fn words(container: &Container) -> Option<&str> {
    let ending = container.ending().filter(|ending| ENDED.contains(&ending.reason.as_str()));
    let waiting = || WAITING.contains(&container.waiting_for()).then(|| container.waiting_message());
    ending.map(|ending| ending.message.as_str()).or_else(waiting)
}
