//! The hold of a plan whose annotation is gone.
//!
//! `kubectl rollout undo` replaces the annotations of a Deployment by those of the ReplicaSet that it returns to, which
//! existed before the plan. The fields that hold stay. The controller has copied the annotation to the ReplicaSet that
//! the plan released, so that the original fields are known.

use k8s_openapi::jiff::Timestamp;

use crate::error::{Error, ErrorKind, Result};
use crate::model::api::patch::Patch;
use crate::model::hold::plan::Hold;
use crate::model::kind::{Workload, strategy};
use crate::model::observation::Observation;
use crate::model::text::shell_command::{Word, command};

/// Whether the fields of a workload are those of a plan, and it has no annotation.
#[must_use]
pub fn is_annotation_lost(workload: &Workload) -> bool {
    workload.kind().hold_method().is_ok_and(|method| method.is_evident(workload))
        && matches!(Hold::of(workload), Ok(None))
}

/// Returns the hold from the copies of its annotation; none if the annotation is not gone, or if there is no copy. Copies
/// of earlier plans stay, so that it is the newest one.
#[must_use]
pub fn lost_hold(observed: &Observation) -> Option<Hold> {
    let workload = &observed.workload;
    let copies = observed.revisions.iter().filter_map(|revision| {
        let hold = Hold::read(workload, revision.hold.as_deref()?).ok()?;
        (hold.is_in_force(workload) && !hold.fields.are_absent()).then_some(hold)
    });
    let newest = copies.max_by_key(|hold| hold.since.as_ref()?.parse::<Timestamp>().ok());
    newest.filter(|_| is_annotation_lost(workload))
}

/// Returns the patch that restores the original fields. The workload is not paused then, as after the end of any other
/// hold.
///
/// # Errors
/// When no copy of the annotation is left.
pub fn end_lost_hold(observed: &Observation) -> Result<Patch> {
    let workload = &observed.workload;
    let hold = lost_hold(observed).ok_or_else(|| unknown_fields(workload))?;
    let mut patch = Patch::of(workload.object());
    hold.end(workload, &mut patch);
    patch.remove(strategy::hold_path(workload));
    Ok(patch)
}

/// Refuses a workload whose annotation is gone: another plan would take the fields that hold for the original ones.
///
/// # Errors
/// With the command that ends the hold.
pub fn refuse_lost_annotation(observed: &Observation) -> Result<()> {
    let workload = &observed.workload;
    if !is_annotation_lost(workload) {
        return Ok(());
    }
    if lost_hold(observed).is_none() {
        return Err(unknown_fields(workload));
    }
    let target = workload.target();
    let message = format!("another client removed the annotation of the plan that holds {target}");
    let end = command("to end the hold: {}", [end_command(workload)]);
    Err(Error::new(ErrorKind::Refused, message).hint(end))
}

/// Returns the command that ends a hold.
#[must_use]
pub fn end_command(workload: &Workload) -> Word {
    Word::command("kubectl rollout2 resume {} --release-all", [workload.command_target()])
}

fn unknown_fields(workload: &Workload) -> Error {
    let target = workload.target();
    Error::new(
        ErrorKind::Malformed,
        format!("{target} has the minReadySeconds of a plan whose annotation is gone, so its own fields are unknown"),
    )
    .hint("apply its manifest again, with its own minReadySeconds, progressDeadlineSeconds and strategy")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::api::object::Object;
    use crate::model::hold::plan::HOLD_ANNOTATION;
    use crate::model::kind::deployment_hold::{HeldBudget, NEVER_AVAILABLE};
    use crate::model::revision::Revisions;

    #[test]
    fn the_newest_copy_has_the_original_fields() {
        let workload = json!({"kind": "Deployment", "metadata": {"name": "web", "uid": "u"},
            "spec": {"minReadySeconds": NEVER_AVAILABLE, "template": {}}});
        let workload = Workload::of_json(&workload).unwrap();
        let copies = [("web-1", "2026-11-20T13:20:00Z", 7), ("web-2", "2026-11-20T13:10:00Z", 5)];
        let copies = copies.map(|(name, since, seconds)| {
            let hold = json!({"version": 1, "since": since, "set": HeldBudget::ONE_SURGE_POD.running_fields().to_json(),
                "strategy": {"minReadySeconds": seconds}, "plan": {}});
            let copy = json!({"kind": "ReplicaSet", "metadata": {"name": name,
                "annotations": {HOLD_ANNOTATION: hold.to_string()},
                "ownerReferences": [{"controller": true, "uid": "u"}]}, "spec": {"template": {}}});
            Object::read(copy).unwrap()
        });
        let revisions = Revisions::of(&workload, copies);
        let hold = lost_hold(&Observation { revisions, ..Observation::of_alone(workload) }).unwrap();
        assert_eq!(hold.original.to_json().unwrap()["minReadySeconds"], 7);
    }
}
