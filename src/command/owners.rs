//! Who else may write what we are about to write.

use serde_json::Value;

use crate::model::owners::{LAST_APPLIED, Owner, owners};
use crate::model::patch::Place;
use crate::model::workload::Workload;
use crate::render::owners as warnings;
use crate::render::screen::Screen;

/// Names everybody whose next apply may end a hold that is written at a place. `kubectl apply` touches it
/// only where its manifest names it.
pub(super) fn warn_before_a_hold(workload: &Workload, place: &Place, screen: &mut Screen<'_>) {
    let last_applied = workload.object().annotation(LAST_APPLIED).unwrap_or_default();
    let last_applied: Value = serde_json::from_str(last_applied).unwrap_or_default();
    for owner in owners(workload, place) {
        if owner != Owner::Apply || place.of_value(&last_applied).is_some() {
            screen.note_once(&warnings::before_a_hold(&owner, workload));
        }
    }
}
