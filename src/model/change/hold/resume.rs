//! `resume`: the patch that ends a hold.

use super::record::require_fields;
use super::release::has_own_pause;
use super::{HOLD_ANNOTATION, Hold, HoldReason};
use crate::error::Result;
use crate::model::change::patch::{FieldPath, Patch};
use crate::model::workload::{Workload, strategy};

/// What `resume` does.
#[derive(Clone, Debug, PartialEq)]
pub enum Resume {
    /// Nothing: the workload is not paused.
    NotPaused,
    /// Nothing: `step` has a plan that is not paused.
    Stepping,
    /// End the pause and restore the strategy.
    End(Patch),
    /// Remove the annotation of a pause that another client has ended.
    Forget(Patch),
    /// Let `step` continue a paused plan.
    Continue(Patch),
}

/// Returns the patch that resumes a workload. With `release_all` a plan of `step` ends too, and the
/// controller updates the remaining pods.
///
/// # Errors
/// If the annotation of the hold is not readable.
pub fn resume(workload: &Workload, release_all: bool) -> Result<Resume> {
    let mut patch = Patch::of(workload.object());
    if has_own_pause(workload) && Hold::of(workload)?.is_some() {
        return resume_plan(workload, release_all, patch);
    }
    if !workload.kind().hold.is_remembered() {
        patch.remove(strategy::hold_path(workload));
        return Ok(if workload.is_paused() { Resume::End(patch) } else { Resume::NotPaused });
    }
    let Some(hold) = Hold::of(workload)? else { return Ok(Resume::NotPaused) };
    if !hold.is_in_force(workload) {
        hold.release(workload, &mut patch);
        return Ok(Resume::Forget(patch));
    }
    if hold.reason() == HoldReason::Plan && !release_all {
        if !hold.is_paused() {
            return Ok(Resume::Stepping);
        }
        patch.require_unchanged(strategy::strategy_path(workload));
        patch.set(FieldPath::annotation(HOLD_ANNOTATION), hold.with_pause(false).annotation().into());
        return Ok(Resume::Continue(patch));
    }
    hold.release(workload, &mut patch);
    Ok(Resume::End(patch))
}

/// Resumes a workload with a pause of its own that a plan holds, or held. The controller moves no pod while the workload is
/// paused, so that a pause never comes back with the original fields.
fn resume_plan(workload: &Workload, release_all: bool, mut patch: Patch) -> Result<Resume> {
    let Some(hold) = Hold::of(workload)? else { return Ok(Resume::NotPaused) };
    let paused = strategy::hold_path(workload);
    let is_in_force = hold.is_in_force(workload);
    if is_in_force && !release_all {
        require_fields(workload, &mut patch);
        if hold.is_paused_by_another_client(workload) {
            patch.remove(paused);
        } else if !hold.is_paused() {
            return Ok(Resume::Stepping);
        }
        patch.set(FieldPath::annotation(HOLD_ANNOTATION), hold.with_pause(false).annotation().into());
        return Ok(Resume::Continue(patch));
    }
    hold.without_pause(workload).release(workload, &mut patch);
    patch.remove(paused);
    Ok(if is_in_force || workload.is_paused() { Resume::End(patch) } else { Resume::Forget(patch) })
}
