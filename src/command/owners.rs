//! Warnings about other owners of a workload's manifest.

use serde_json::Value;

use crate::model::api::managed_fields::LAST_APPLIED;
use crate::model::change::owners::{ManifestOwner, owners};
use crate::model::change::patch::FieldPath;
use crate::model::workload::Workload;
use crate::render::owner_warnings as warnings;
use crate::render::screen::Screen;

/// Warns of a Kruise Rollout that drives the workload. The other owners do not mind a restart.
pub(super) fn warn_of_kruise_rollout(workload: &Workload, screen: &mut Screen<'_>) {
    for owner in owners(workload, &FieldPath::of(["spec", "template"])) {
        if matches!(owner, ManifestOwner::KruiseRollout(_)) {
            screen.note_once(&warnings::before_a_restart(&owner, workload));
        }
    }
}

/// Prints a warning for each owner whose next apply may end a hold. `kubectl apply` ends it only if its last manifest
/// sets the field that the hold writes.
pub(super) fn warn_before_a_hold(workload: &Workload, place: &FieldPath, screen: &mut Screen<'_>) {
    let last_applied = workload.object().annotation(LAST_APPLIED).unwrap_or_default();
    let last_applied: Value = serde_json::from_str(last_applied).unwrap_or_default();
    for owner in owners(workload, place) {
        if owner != ManifestOwner::Apply || place.value_in(&last_applied).is_some() {
            screen.note_once(&warnings::before_a_hold(&owner, workload));
        }
    }
}
