//! `resume`: the patch that ends a hold.

use super::own_pause::end_pause;
use crate::error::Result;
use crate::model::api::patch::{FieldPath, Patch};
use crate::model::hold::plan::{HOLD_ANNOTATION, Hold, HoldReason, require_fields};
use crate::model::kind::Workload;
use crate::model::kind::properties::HoldBy;

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
    let has_own_field = match workload.kind().hold() {
        HoldBy::Paused(_) => true,
        HoldBy::Partition | HoldBy::OnDelete => false,
    };
    let Some(hold) = Hold::of(workload)? else {
        if has_own_field {
            end_pause(workload, &mut patch);
        }
        return Ok(if workload.is_paused() { Resume::End(patch) } else { Resume::NotPaused });
    };
    let is_in_force = hold.is_in_force(workload);
    if is_in_force && hold.reason() == HoldReason::Plan && !release_all {
        require_fields(workload, &mut patch);
        if has_own_field && hold.is_paused_by_another_client(workload) {
            end_pause(workload, &mut patch);
        } else if !hold.is_paused() {
            return Ok(Resume::Stepping);
        }
        patch.set(FieldPath::annotation(HOLD_ANNOTATION), hold.with_pause(false).annotation().into());
        return Ok(Resume::Continue(patch));
    }
    hold.end(workload, &mut patch);
    if has_own_field {
        end_pause(workload, &mut patch);
    }
    Ok(if is_in_force || workload.is_paused() { Resume::End(patch) } else { Resume::Forget(patch) })
}
