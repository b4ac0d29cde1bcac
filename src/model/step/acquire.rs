//! Acquires the lease: checks whether there is something to do and whether it is permitted, then writes the lease.

use std::time::Duration;

use super::action::{Action, Decision, Purpose};
use super::between_batches::between_batches;
use super::daemon_set::UNKNOWN_NODE;
use super::existing_plan::{ExistingPlan, Origin, find_plan, nothing_to_release};
use super::lease_upkeep::foreign_lease;
use super::outcome::{BatchFailure, RollbackOutcome, StepOutcome, StopReason};
use super::report::{Beginning, StepReport};
use super::situation::{Situation, StepCommand};
use super::slot::PodSlot;
use super::state::PlanState;
use super::timers::Timers;
use crate::error::Result;
use crate::model::api::managed_fields::last_author;
use crate::model::change::patch::FieldPath;
use crate::model::change::plan::{HOLD_ANNOTATION, Lease};
use crate::model::status::observation::Observation;
use crate::model::workload::Workload;
use crate::model::workload::strategy;

const NOT_BACK: &str = "the controller has not replaced every pod yet";

/// Decides what to do while this process does not hold the lease.
pub(super) fn acquire(command: &StepCommand, situation: &Situation<'_>, timers: &Timers) -> Decision {
    let observed = situation.observed;
    let existing = match find_plan(&command.request, observed) {
        Ok(existing) => existing,
        Err(outcome) => return Decision::finish(outcome, "the plan cannot begin"),
    };
    if let Some(lease) = foreign_lease(command, situation, timers, &existing.record) {
        return Decision::new(Action::AwaitLease(lease), "another process holds the lease: wait");
    }
    match begin(command, situation, timers, existing) {
        Ok(decision) => decision,
        Err(error) => Decision::finish(StepOutcome::Error(error), "the plan cannot begin"),
    }
}

fn begin(
    command: &StepCommand,
    situation: &Situation<'_>,
    timers: &Timers,
    existing: ExistingPlan,
) -> Result<Decision> {
    let slots = situation.slots_of(&existing.record)?;
    if !situation.is_observed() {
        return Ok(Decision::wait_for("the controller to observe the change"));
    }
    if existing.record.plan.is_releasing() {
        slots.kind.check_observation(&slots.context)?;
        let is_outdated = slots.all.iter().any(PodSlot::is_outdated);
        let is_free = matches!(existing.origin, Origin::Free { .. });
        if let Some(rollback) = rolled_back(situation.observed, timers, is_outdated).filter(|_| is_free) {
            let outcome = StepOutcome::Failed { failure: BatchFailure::Earlier, rollback: Some(rollback) };
            return Ok(Decision::finish(outcome, "the plan of the other process was rolled back"));
        }
        if !existing.has_to_end() && !is_outdated {
            let outcome = nothing_to_release(&slots.all, &existing.record, slots.context.workload());
            return Ok(Decision::finish(outcome, "no pod that the plan may release is outdated"));
        }
        if existing.origin == (Origin::Free { was_held: false }) && timers.other_lease.is_some() {
            let outcome = StepOutcome::Stopped(plan_ended(&situation.observed.workload));
            return Ok(Decision::finish(outcome, "the plan of the other process ended"));
        }
        // A command that has nothing to release does not change a pause.
        if existing.origin == Origin::Pause {
            let state = PlanState { slots: &slots, timers };
            let decision = between_batches(&state);
            if matches!(decision.action, Action::Finish(_)) {
                return Ok(decision);
            }
        }
    }
    drop(slots);
    acquire_lease(command, situation, existing)
}

/// Returns the write that stores the plan with the lease of this process.
fn acquire_lease(
    command: &StepCommand,
    situation: &Situation<'_>,
    existing: ExistingPlan,
) -> Result<Decision> {
    let (workload, now) = (&situation.observed.workload, situation.now);
    let already_updated = already_updated(situation, &existing)?;
    let ExistingPlan { mut record, origin, set } = existing;
    let identity = &command.identity;
    let mut reports = Vec::new();
    let is_taken_over = |lease: &Lease| lease.holder != identity.holder && command.request.take_over;
    if let Some(lease) = record.lease.take().filter(is_taken_over) {
        reports.push(StepReport::LeaseHeld { lease, wait: Duration::ZERO });
    }
    if origin == (Origin::Free { was_held: true }) {
        let author = last_author(workload.object(), &strategy::strategy_path(workload));
        reports.push(StepReport::HoldEnded { manager: author.map(|author| author.manager) });
    }
    let how = match origin {
        Origin::Plan => Beginning::Resumed,
        Origin::Replaced => Beginning::Replaced,
        Origin::Pause | Origin::Free { .. } => Beginning::New,
    };
    reports.push(StepReport::Began { how, already_updated });
    if record.plan.is_rolling_back()
        && let Some(revision) = situation.observed.revisions.current()
    {
        reports.push(StepReport::RollingBack { revision: revision.label() });
    }
    if origin != Origin::Plan {
        record.hold = record.hold.written_by(identity.by.as_deref(), &now.server_time.to_string());
    }
    record.lease = Some(Lease {
        holder: identity.holder.clone(),
        by: identity.by.clone(),
        since: Some(now.stamp()),
        renewed: Some(now.stamp()),
        turn: 1,
    });
    let patch = record.patch(workload, set);
    Ok(Decision::write(Purpose::AcquireLease, patch, reports, "the lease is free: acquire it"))
}

/// Returns the pods that a new plan does not release, because they are updated or being updated.
fn already_updated(situation: &Situation<'_>, existing: &ExistingPlan) -> Result<Vec<String>> {
    if matches!(existing.origin, Origin::Plan | Origin::Pause) {
        return Ok(Vec::new());
    }
    let held = existing.as_held(situation.observed);
    let observed = held.as_ref().unwrap_or(situation.observed);
    let situation =
        Situation { observed, nodes: situation.nodes, record: None, slots: None, now: situation.now };
    let slots = situation.slots_of(&existing.record)?.all;
    let released = slots.into_iter().filter(|slot| slot.is_updated || slot.is_released);
    Ok(released.filter(|slot| slot.name != UNKNOWN_NODE).map(|slot| slot.label()).collect())
}

/// Returns how the plan that this process waited for was rolled back; none if it was not. Its annotation is gone then,
/// and the live template is that of the revision that it began from.
fn rolled_back(observed: &Observation, timers: &Timers, is_outdated: bool) -> Option<RollbackOutcome> {
    let plan = timers.other_plan.as_ref()?;
    let current = observed.revisions.current()?;
    let is_back = if plan.is_rolling_back() {
        plan.template == current.digest.hex()
    } else {
        plan.template != current.digest.hex() && plan.from.as_ref() == Some(&current.name)
    };
    let revision = current.label();
    is_back.then(|| {
        if is_outdated {
            RollbackOutcome::Unfinished { revision, why: NOT_BACK.to_owned() }
        } else {
            RollbackOutcome::Done { revision }
        }
    })
}

/// Returns the reason to stop when the plan of another process ended while this process waited for its lease.
fn plan_ended(workload: &Workload) -> StopReason {
    let author = last_author(workload.object(), &FieldPath::annotation(HOLD_ANNOTATION));
    StopReason::Changed {
        manager: author.map(|author| author.manager),
        changes: vec!["the plan of the other process ended, and outdated pods remain".to_owned()],
        lost_original: None,
        rolled_back_to: None,
    }
}
