//! The notes of `undo`: owners of manifests, and a rollback that keeps its hold.

use crate::model::api::managed_fields::LAST_APPLIED;
use crate::model::change::owners::{ManifestOwner, owners};
use crate::model::change::patch::FieldPath;
use crate::model::change::plan::is_rollback_held;
use crate::model::change::undo::{Undo, UndoOptions};
use crate::model::workload::Workload;
use crate::render::screen::Screen;
use crate::render::{change as render, owner_warnings as warnings};

/// Prints that the rollback includes pods below the StatefulSet's partition, and how its hold ends.
pub(in crate::command) fn note_partition_rollback(undo: &Undo<'_>, screen: &mut Screen<'_>) {
    if let (Some(below), Some(after)) = (&undo.below, Workload::of_json(undo.patch.after())) {
        screen.note(&render::partition_rollback(below));
        note_rollback(&after, screen);
    }
}

/// Prints that a rollback by `step` is under way, and how it ends.
pub(in crate::command) fn note_rollback(workload: &Workload, screen: &mut Screen<'_>) {
    if is_rollback_held(workload) {
        screen.note(&render::rollback_hint(workload));
    }
}

/// Warns of each controller and tool that may revert the rollback, but not of `kubectl apply`.
pub(in crate::command) fn warn_of_owners(workload: &Workload, screen: &mut Screen<'_>) {
    let owners = owners(workload, &FieldPath::template()).into_iter();
    for owner in owners.filter(|owner| *owner != ManifestOwner::Apply) {
        screen.note_once(&warnings::before_an_undo(&owner, workload));
    }
}

/// Warns that the next `kubectl apply` may revert the rollback. This is less important than the other warnings,
/// because a user runs it.
pub(in crate::command) fn warn_of_apply(workload: &Workload, options: &UndoOptions, screen: &mut Screen<'_>) {
    if workload.object().annotation(LAST_APPLIED).is_some() && !options.sync_last_applied {
        screen.note_once(&warnings::before_an_undo(&ManifestOwner::Apply, workload));
    }
}
