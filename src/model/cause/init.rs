//! Init containers that end with an error: the others are never started.

use super::CauseId;
use super::crash;
use super::sight::{Sight, Trouble};
use crate::model::container::Container;
use crate::model::pod::Pod;

/// An init container is meant to end, so only an error is a trouble, and only its last one.
pub(super) fn of(container: &Container, pod: &Pod, sight: &Sight<'_>) -> Option<Trouble> {
    if !container.init || container.ending()?.exit_code == 0 {
        return None;
    }
    let trouble = crash::of(container, pod, sight)?;
    let id = if trouble.id == CauseId::CrashLoop { CauseId::InitCrash } else { trouble.id };
    Some(Trouble { id, summary: format!("init container, {}", trouble.summary), ..trouble })
}
