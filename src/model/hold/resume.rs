//! What resuming writes.

use super::{HELD, Hold, Reason};
use crate::error::Result;
use crate::model::patch::{Patch, Place};
use crate::model::workload::Workload;

/// What resuming comes to.
#[derive(Clone, Debug, PartialEq)]
pub enum Resume {
    /// It is not paused, and nothing is to be written.
    NotPaused,
    /// A plan of `step` is under way and not paused, and nothing is to be written.
    Stepping,
    /// A pause ends: what was there before is there again.
    End(Patch),
    /// A pause was ended by somebody else before; only the memory of it is cleaned up.
    Forget(Patch),
    /// A paused plan may go on, by `step`.
    Continue(Patch),
}

/// What to write to let a workload go on. With `release_all` a plan of `step` ends too, and the
/// controller goes on at its own pace.
///
/// # Errors
/// When the memory of the hold is unreadable.
pub fn resume(workload: &Workload, release_all: bool) -> Result<Resume> {
    let mut patch = Patch::of(workload.object());
    if matches!(workload, Workload::Deployment(_)) {
        patch.remove(Place::of(["spec", "paused"]));
        return Ok(if workload.is_paused() { Resume::End(patch) } else { Resume::NotPaused });
    }
    let Some(hold) = Hold::of(workload)? else { return Ok(Resume::NotPaused) };
    if !hold.is_in_force(workload) {
        hold.end(workload, &mut patch);
        return Ok(Resume::Forget(patch));
    }
    if hold.reason() == Some(Reason::Plan) && !release_all {
        if !hold.is_paused() {
            return Ok(Resume::Stepping);
        }
        patch.rely_on(crate::model::strategy::place(workload));
        patch.set(Place::annotation(HELD), hold.without("paused").annotation().into());
        return Ok(Resume::Continue(patch));
    }
    hold.end(workload, &mut patch);
    Ok(Resume::End(patch))
}
