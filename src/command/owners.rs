//! Warnings about other owners of a workload's manifest.

use serde_json::Value;

use crate::cluster::reader::{read_revisions, reread};
use crate::cluster::source::Source;
use crate::model::api::managed_fields::LAST_APPLIED;
use crate::model::api::patch::FieldPath;
use crate::model::change::owners::{ManifestOwner, apply_reverts, owners};
use crate::model::change::undo::UndoOptions;
use crate::model::hold::plan::Plan;
use crate::model::kind::Workload;
use crate::model::kind::fields::spec_path;
use crate::model::revision::Revision;
use crate::render::owner_warnings as warnings;
use crate::render::ui::Ui;

/// Warns of a Kruise Rollout that drives the workload. The other owners do not revert a restart.
pub(super) fn warn_of_kruise_rollout(workload: &Workload, ui: &mut Ui) {
    for owner in owners(workload, &FieldPath::template()) {
        if matches!(owner, ManifestOwner::KruiseRollout(_)) {
            ui.err_line_once(&warnings::before_a_restart(&owner, workload));
        }
    }
}

/// Warns of each controller and tool that may revert a rollback, but not of `kubectl apply`.
pub(super) fn warn_before_an_undo(workload: &Workload, ui: &mut Ui) {
    let owners = owners(workload, &FieldPath::template()).into_iter();
    for owner in owners.filter(|owner| *owner != ManifestOwner::Apply) {
        ui.err_line_once(&warnings::before_an_undo(&owner, workload));
    }
}

/// Prints which revision a workload still runs after a rollback that was followed to its end, and how an owner that was
/// stopped runs again. Reads the workload again only if it has such an owner.
pub(super) async fn note_after_an_undo(written: &Workload, source: &Source, ui: &mut Ui) {
    let mut owners = owners(written, &FieldPath::template());
    owners.retain(|owner| owner.suspension().is_some());
    if owners.is_empty() {
        return;
    }
    let Ok(now) = reread(written, source).await else { return };
    if now.template_digest() != written.template_digest() {
        ui.err_line(&warnings::changed_after_an_undo(&now));
        return;
    }
    let Ok(observed) = read_revisions(now, source).await else { return };
    let Some(current) = observed.revisions.current() else { return };
    for owner in owners {
        ui.err_lines(warnings::after_an_undo(&owner, written, current));
    }
}

/// Warns that the next `kubectl apply` reverts a rollback to a revision. This is less important than the other warnings,
/// because a user runs it.
pub(super) fn warn_of_apply(workload: &Workload, target: &Revision, options: &UndoOptions, ui: &mut Ui) {
    if !options.sync_last_applied && apply_reverts(workload, target) {
        ui.err_line_once(&warnings::before_an_undo(&ManifestOwner::Apply, workload));
    }
}

/// Prints a warning for each owner whose next apply may end a pause.
pub(super) fn warn_before_a_hold(workload: &Workload, place: &FieldPath, ui: &mut Ui) {
    for owner in owners_of(workload, place) {
        ui.err_line_once(&warnings::before_a_hold(&owner, workload));
    }
}

/// Prints a warning for each owner whose next apply may end a plan, with the fields that it may write. A plan in force
/// has begun with that warning.
pub(super) fn warn_before_a_plan(workload: &Workload, ui: &mut Ui) {
    if Plan::in_force(workload).is_some() {
        return;
    }
    let mut fields: Vec<(ManifestOwner, Vec<String>)> = Vec::new();
    for place in workload.hold_fields().iter().map(|name| spec_path(name)) {
        for owner in owners_of(workload, &place) {
            let field = place.members().join(".");
            match fields.iter_mut().find(|(known, _)| *known == owner) {
                Some((_, fields)) => fields.push(field),
                None => fields.push((owner, vec![field])),
            }
        }
    }
    for (owner, fields) in fields {
        ui.err_line_once(&warnings::before_a_plan(&owner, workload, &fields));
    }
}

/// Returns the owners that may write a field. `kubectl apply` writes it only if its last manifest sets it.
fn owners_of(workload: &Workload, place: &FieldPath) -> impl Iterator<Item = ManifestOwner> {
    let last_applied = workload.object().annotation(LAST_APPLIED).unwrap_or_default();
    let last_applied: Value = serde_json::from_str(last_applied).unwrap_or_default();
    let is_applied = place.value_in(&last_applied).is_some();
    owners(workload, place).into_iter().filter(move |owner| *owner != ManifestOwner::Apply || is_applied)
}
