//! The notes of `undo`: owners of manifests, and a rollback that keeps its hold.

use crate::model::change::hold::is_rollback_held;
use crate::model::change::owners::{ManifestOwner, owners};
use crate::model::change::patch::FieldPath;
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

/// Warns of each owner of the manifest that may revert the rollback.
pub(in crate::command) fn warn_of_owners(
    workload: &Workload,
    options: &UndoOptions,
    screen: &mut Screen<'_>,
) {
    for owner in owners(workload, &FieldPath::template()) {
        let is_synced = owner == ManifestOwner::Apply && options.sync_last_applied;
        if !is_synced {
            screen.note_once(&warnings::before_an_undo(&owner, workload));
        }
    }
}
