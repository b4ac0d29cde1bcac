//! `pause` and `resume`: the patches that hold a workload and that end a hold, also that of a plan whose annotation is gone.
//!
//! `kubectl rollout undo` replaces the annotations of a Deployment by those of the ReplicaSet that it returns to, which
//! existed before the plan. The fields that hold stay. The controller has copied the annotation to the ReplicaSet that
//! the plan released, so that the original fields are known.

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use super::held::Held;
use crate::api::count::as_count;
use crate::api::patch::Patch;
use crate::error::{Error, ErrorKind, Result};
use crate::hold::plan::{Hold, completed_rollback, require_fields};
use crate::kind::fields::HoldFields;
use crate::kind::owners::refuse_driven;
use crate::kind::{Workload, strategy};
use crate::observation::Observation;
use crate::text::shell_command::{Word, command};

/// What holds outdated pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldBy {
    /// The field that pauses the kind.
    Paused,
    /// `OnDelete`: pods are replaced only after they are deleted.
    OnDelete,
    /// A partition: pods below this index are held.
    Partition(i64),
    /// A plan of `step` that holds by other fields than a partition and `OnDelete`.
    Plan,
}

/// Returns what holds the outdated pods of this workload.
#[must_use]
pub fn held_by(workload: &Workload) -> Option<HeldBy> {
    if workload.is_paused() {
        return Some(HeldBy::Paused);
    }
    if strategy::is_on_delete(workload) {
        return Some(HeldBy::OnDelete);
    }
    if workload.hold_blocks_availability() && workload.held().in_force().is_some() {
        return Some(HeldBy::Plan);
    }
    Some(strategy::partition(workload)).filter(|partition| *partition > 0).map(HeldBy::Partition)
}

/// What `pause` does.
#[derive(Clone, Debug, PartialEq)]
pub enum Pause {
    /// Nothing: the workload is paused already.
    AlreadyPaused,
    /// Nothing: the strategy `OnDelete` replaces no running pod.
    OnDelete,
    /// Write a patch.
    Change {
        /// The patch.
        patch: Patch,
        /// What holds the workload then.
        held_by: HeldBy,
    },
}

/// Returns the patch that holds a workload in its present state. `by` and `since` are stored for display.
///
/// # Errors
/// If the annotation of a hold is not readable, if pods cannot be read, and if the kind or the update strategy cannot be
/// held.
pub fn pause(observation: &Observation, by: Option<&str>, since: &str) -> Result<Pause> {
    let workload = &observation.workload;
    let mut patch = Patch::of(workload.object());
    if let Some(hold) = completed_rollback(observation) {
        let mut patch = hold.ending(workload);
        let held_by = match Workload::of_json(patch.after()) {
            Some(restored) => add_hold(observation, &restored, &mut patch, by, since)?,
            None => HeldBy::Plan,
        };
        return Ok(Pause::Change { patch, held_by });
    }
    match workload.held() {
        Held::Unreadable(error) => return Err(error.clone()),
        Held::Paused(_) => return Ok(Pause::AlreadyPaused),
        Held::Plan(hold) if hold.is_paused() => return Ok(Pause::AlreadyPaused),
        Held::Plan(hold) => {
            require_fields(workload, &mut patch);
            let is_rolling_back = hold.is_rolling_back_to_live_template(workload);
            if let Some(field) = workload.pause_field().filter(|_| is_rolling_back) {
                patch.set(field, Value::Bool(true)); // the partition of a rollback keeps no pod
            }
            Hold { paused: true, ..Hold::clone(hold) }.store(workload, &mut patch);
            return Ok(Pause::Change { patch, held_by: HeldBy::Plan });
        }
        Held::Free | Held::Ended(_) | Held::Lost => {}
    }
    if workload.is_paused() {
        return Ok(Pause::AlreadyPaused);
    }
    if strategy::is_on_delete(workload) {
        return Ok(Pause::OnDelete);
    }
    let held_by = add_hold(observation, workload, &mut patch, by, since)?;
    Ok(Pause::Change { patch, held_by })
}

/// Adds to a patch what holds a workload in its present state, and returns what holds it then.
fn add_hold(
    observation: &Observation,
    workload: &Workload,
    patch: &mut Patch,
    by: Option<&str>,
    since: &str,
) -> Result<HeldBy> {
    if let Some(field) = workload.pause_field() {
        patch.set(field, Value::Bool(true));
        return Ok(HeldBy::Paused);
    }
    require_hold(workload, "paused")?;
    strategy::require_gradual(workload, "paused")?;
    let hold = Hold::new(workload, holding_fields(observation, workload)?).written_by(by, since);
    hold.add_fields_to(workload, patch);
    hold.store(workload, patch);
    Ok(Workload::of_json(patch.after()).and_then(|held| held_by(&held)).unwrap_or(HeldBy::Plan))
}

/// Refuses a kind that has no field for a pause and cannot be held otherwise.
fn require_hold(workload: &Workload, verb: &str) -> Result<()> {
    match workload.mechanism() {
        Err(reason) if workload.pause_field().is_none() => {
            Err(Error::usage(format!("{} cannot be {verb}: {reason}", workload.target())))
        }
        _ => Ok(()),
    }
}

/// Returns the fields that hold a workload as its pods are now; no fields for a kind that cannot be held.
///
/// # Errors
/// If pods cannot be read.
pub(crate) fn holding_fields(observation: &Observation, workload: &Workload) -> Result<HoldFields> {
    if observation.pods.is_none() {
        let sentence = format!("{} cannot be held, because its pods cannot be listed", workload.target());
        return Err(Error::new(ErrorKind::Refused, sentence).hint("request permission to list pods"));
    }
    Ok(workload
        .mechanism()
        .map(|mechanism| mechanism.fields_to_hold(observation, workload))
        .unwrap_or_default())
}

/// Returns how many pods there are beyond the wanted ones.
#[must_use]
pub fn surplus_pods(observation: &Observation) -> usize {
    let wanted = as_count(observation.workload.wanted());
    observation.own_pods().filter(|pod| pod.is_active()).count().saturating_sub(wanted)
}

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
/// If the annotation of the hold is not readable, for a kind that cannot be held, and if a controller that drives the rollouts
/// paused it.
pub fn resume(workload: &Workload, release_all: bool) -> Result<Resume> {
    let mut patch = Patch::of(workload.object());
    require_hold(workload, "resumed")?;
    if workload.is_paused() {
        refuse_driven(workload, "approve")?;
    }
    match workload.held() {
        Held::Unreadable(error) => return Err(error.clone()),
        Held::Plan(hold) if !release_all => {
            require_fields(workload, &mut patch);
            if hold.is_paused_by_another_client(workload) {
                end_pause(workload, &mut patch);
            } else if !hold.is_paused() {
                return Ok(Resume::Stepping);
            }
            Hold { paused: false, ..Hold::clone(hold) }.store(workload, &mut patch);
            return Ok(Resume::Continue(patch));
        }
        Held::Paused(hold) | Held::Plan(hold) | Held::Ended(hold) => hold.end(workload, &mut patch),
        Held::Free | Held::Lost => {}
    }
    end_pause(workload, &mut patch);
    Ok(match workload.held() {
        _ if workload.is_paused() => Resume::End(patch),
        Held::Paused(_) | Held::Plan(_) => Resume::End(patch),
        Held::Ended(_) => Resume::Forget(patch),
        Held::Free | Held::Lost | Held::Unreadable(_) => Resume::NotPaused,
    })
}

/// Adds to a patch what ends a pause by the kind's own field. As with kubectl, a Deployment has no such field then. Of a kind of
/// OpenKruise it is `false`.
pub(crate) fn end_pause(workload: &Workload, patch: &mut Patch) {
    let Some(field) = workload.pause_field() else { return };
    if field.value_in(patch.after()) == Some(&Value::Bool(true)) {
        patch.set_or_remove(field, (!workload.kind().is_built_in()).then_some(Value::Bool(false)));
    }
}

/// Returns the hold from the copies of an annotation that is [lost](Held::Lost); none if there is no copy. Copies of earlier
/// plans stay, so that it is the newest one.
#[must_use]
pub fn lost_hold(observed: &Observation) -> Option<Hold> {
    let workload = &observed.workload;
    if !workload.held().is_lost() {
        return None;
    }
    let copies = observed.revisions.iter().filter_map(|revision| {
        let hold = Hold::read(workload, revision.hold.as_deref()?).ok()?;
        (hold.is_in_force(workload) && !hold.set.are_absent()).then_some(hold)
    });
    copies.max_by_key(|hold| hold.since.as_ref()?.parse::<Timestamp>().ok())
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
    if !workload.held().is_lost() {
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
    use crate::api::object::Object;
    use crate::hold::mechanism::hold_budget::{HoldBudget, NEVER_AVAILABLE};
    use crate::hold::plan::HOLD_ANNOTATION;
    use crate::hold::plan::schema::tests::plan_json;
    use crate::revision::Revisions;

    #[test]
    fn the_newest_copy_has_the_original_fields() {
        let workload = json!({"kind": "Deployment", "metadata": {"name": "web", "uid": "u"},
            "spec": {"minReadySeconds": NEVER_AVAILABLE, "template": {}}});
        let workload = Workload::of_json(&workload).unwrap();
        let copies = [("web-1", "2026-11-20T13:20:00Z", 7), ("web-2", "2026-11-20T13:10:00Z", 5)];
        let copies = copies.map(|(name, since, seconds)| {
            let hold = json!({"version": 1, "since": since, "set": HoldBudget::ONE_SURGE_POD.running_fields().to_json(),
                "strategy": {"minReadySeconds": seconds}, "plan": plan_json()});
            let copy = json!({"kind": "ReplicaSet", "metadata": {"name": name,
                "annotations": {HOLD_ANNOTATION: hold.to_string()},
                "ownerReferences": [{"controller": true, "uid": "u"}]}, "spec": {"template": {}}});
            Object::read(copy).unwrap()
        });
        let revisions = Revisions::of(&workload, copies);
        let hold = lost_hold(&Observation { revisions, ..Observation::of_alone(workload) }).unwrap();
        assert_eq!(hold.strategy.to_json().unwrap()["minReadySeconds"], 7);
    }
}
