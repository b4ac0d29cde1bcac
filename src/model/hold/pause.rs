//! `pause` and `resume`: the patches that hold a workload and that end a hold.

use serde_json::Value;

use super::summary::{HeldBy, held_by};
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::patch::{FieldPath, Patch};
use crate::model::hold::plan::{HOLD_ANNOTATION, Hold, completed_rollback, require_fields};
use crate::model::kind::PresentPods;
use crate::model::kind::fields::HoldFields;
use crate::model::kind::{Workload, strategy};
use crate::model::observation::Observation;
use crate::model::revision::Revision;

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
    if let Some(hold) = Hold::of(workload)?.filter(|hold| hold.is_in_force(workload)) {
        if hold.is_paused() {
            return Ok(Pause::AlreadyPaused);
        }
        require_fields(workload, &mut patch);
        if let Some(field) =
            workload.pause_field().filter(|_| hold.is_rolling_back_to_live_template(workload))
        {
            patch.set(field, Value::Bool(true)); // the partition of a rollback keeps no pod
        }
        let annotation = hold.with_pause(true).annotation(workload);
        patch.set(FieldPath::annotation(HOLD_ANNOTATION), annotation.into());
        return Ok(Pause::Change { patch, held_by: HeldBy::Plan });
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
    patch.set(FieldPath::annotation(HOLD_ANNOTATION), hold.annotation(workload).into());
    Ok(Workload::of_json(patch.after()).and_then(|held| held_by(&held)).unwrap_or(HeldBy::Plan))
}

/// Refuses a kind that has no field for a pause and cannot be held otherwise.
fn require_hold(workload: &Workload, verb: &str) -> Result<()> {
    match workload.kind().hold_method() {
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
pub(in crate::model) fn holding_fields(observation: &Observation, workload: &Workload) -> Result<HoldFields> {
    if observation.pods.is_none() {
        let sentence = format!("{} cannot be held, because its pods cannot be listed", workload.target());
        return Err(Error::new(ErrorKind::Refused, sentence).hint("request permission to list pods"));
    }
    let current = observation.revisions.current();
    let is_updated = |pod: &&_| current.is_some_and(|current| workload.runs(pod, current));
    let (updated, outdated) = observation.own_pods().partition(is_updated);
    let size = |revision: &Revision| i32::try_from(revision.replica_set_counts.wanted).unwrap_or(i32::MAX);
    let updated_size = i64::from(current.map_or(0, size));
    let all_sizes: i64 = observation.revisions.iter().map(size).map(i64::from).sum();
    let replica_set_sizes = (updated_size, all_sizes - updated_size);
    let pods = PresentPods { updated, outdated, replica_set_sizes };
    Ok(workload.kind().hold_method().map(|method| method.fields_to_hold(workload, &pods)).unwrap_or_default())
}

/// Returns how many pods there are beyond the wanted ones.
#[must_use]
pub fn surplus_pods(observation: &Observation) -> usize {
    let wanted = usize::try_from(observation.workload.wanted()).unwrap_or_default();
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
/// If the annotation of the hold is not readable, and for a kind that cannot be held.
pub fn resume(workload: &Workload, release_all: bool) -> Result<Resume> {
    let mut patch = Patch::of(workload.object());
    require_hold(workload, "resumed")?;
    let Some(hold) = Hold::of(workload)? else {
        end_pause(workload, &mut patch);
        return Ok(if workload.is_paused() { Resume::End(patch) } else { Resume::NotPaused });
    };
    let is_in_force = hold.is_in_force(workload);
    if is_in_force && hold.has_plan() && !release_all {
        require_fields(workload, &mut patch);
        if hold.is_paused_by_another_client(workload) {
            end_pause(workload, &mut patch);
        } else if !hold.is_paused() {
            return Ok(Resume::Stepping);
        }
        let annotation = hold.with_pause(false).annotation(workload);
        patch.set(FieldPath::annotation(HOLD_ANNOTATION), annotation.into());
        return Ok(Resume::Continue(patch));
    }
    hold.end(workload, &mut patch);
    end_pause(workload, &mut patch);
    Ok(if is_in_force || workload.is_paused() { Resume::End(patch) } else { Resume::Forget(patch) })
}

/// Adds to a patch what ends a pause by the kind's own field. As with kubectl, a Deployment has no such field then. Of a kind of
/// OpenKruise it is `false`.
pub(in crate::model) fn end_pause(workload: &Workload, patch: &mut Patch) {
    let Some(field) = workload.pause_field() else { return };
    if field.value_in(patch.after()) == Some(&Value::Bool(true)) {
        patch.set_or_remove(field, (!workload.kind().is_built_in()).then_some(Value::Bool(false)));
    }
}
