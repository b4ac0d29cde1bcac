//! Starts a command: continues the plan of the workload or prepares a new one, and acquires its lock.

use super::batch::{between_batches, check_without_batch};
use super::memory::Memory;
use super::obstacle::own_partition_reached;
use super::outcome::{StepOutcome, StopReason};
use super::refusals::{check_in_place, check_not_blank, check_options, check_repeated};
use super::request::{Origin, Step, StepOptions, StepReport, Then};
use super::state_of;
use super::world::World;
use crate::api::managed_fields::{last_author, last_template_author};
use crate::engine::Now;
use crate::error::Result;
use crate::hold;
use crate::hold::held::Held;
use crate::hold::mechanism::State;
use crate::hold::mechanism::deletions::{UNKNOWN_NODE, check_node_flags};
use crate::hold::plan::{Hold, Lock, Pace, Plan, Reach};
use crate::hold::slot::Slot;
use crate::kind::fields::HoldFields;
use crate::kind::update_budget::PodUpdatePolicy;
use crate::kind::{Workload, strategy};
use crate::observation::Observation;

/// Whether a plan for the live template exists, which must be ended even if every pod is updated.
pub(super) fn has_to_end(origin: Origin, workload: &Workload) -> bool {
    let stored = workload.held().stored().filter(|hold| hold.is_for_live_template(workload));
    matches!(origin, Origin::Plan | Origin::Replaced) && stored.is_some()
}

/// Returns the fields of a hold that the workload has still to get; `None` if it has them.
pub(super) fn fields_to_write(hold: &Hold, workload: &Workload) -> Option<HoldFields> {
    let is_held = hold.holds_nothing() || hold.set == workload.replaceable_fields();
    (!is_held).then(|| hold.set.clone())
}

/// Returns the observation as it would be after the first write holds the workload; `None` if it is held already.
pub(super) fn as_held(hold: &Hold, observed: &Observation) -> Option<Observation> {
    let fields = fields_to_write(hold, &observed.workload)?;
    let (_, patch) = hold.clone().into_patch(&observed.workload, Some(fields)).ok()?;
    Some(Observation { workload: Workload::of_json(patch.after())?, ..observed.clone() })
}

/// Finds the existing plan, or prepares a new one: its hold as this process would write it, but with the lock that is stored,
/// which [`acquire_lock`] replaces; and what held the workload before.
///
/// # Errors
/// The outcome of a command that ends before it writes anything.
pub(super) fn prepare_plan(
    options: &StepOptions,
    observed: &Observation,
) -> Result<(Hold, Origin), StepOutcome> {
    let workload = &observed.workload;
    check_options(options, observed).map_err(StepOutcome::Error)?;
    let hold = workload.held().readable().map_err(StepOutcome::Error)?;
    check_not_blank(options, hold.is_some_and(Hold::has_plan)).map_err(StepOutcome::Error)?;
    let (hold, origin) = match workload.held() {
        Held::Paused(hold) => {
            let mut hold = Hold::clone(hold).with_plan(new_plan(options, observed)).adopting(workload);
            (hold.paused, hold.lock) = (false, None);
            (hold, Origin::Pause)
        }
        Held::Plan(hold) => continue_plan(options, observed, hold)?,
        // A rollback whose patch restored the original strategy.
        Held::Ended(hold) if hold.is_rolling_back_to_live_template(workload) && !options.new_plan => {
            (Hold { set: HoldFields::default(), ..Hold::clone(hold) }, Origin::Plan)
        }
        Held::Free | Held::Ended(_) | Held::Lost | Held::Unreadable(_) => {
            let hold = Hold::new(workload, fields_to_hold_now(observed)?);
            (hold.with_plan(new_plan(options, observed)), Origin::Free)
        }
    };
    let is_in_place_only = workload.pod_update_policy() == PodUpdatePolicy::InPlaceOnly;
    if is_in_place_only && !hold.is_rolling_back() {
        let after = as_held(&hold, observed);
        check_in_place(after.as_ref().unwrap_or(observed)).map_err(StepOutcome::Error)?;
    }
    let plan = hold.plan.as_ref().filter(|plan| plan.reach == Some(Reach::All) && !plan.rolling_back);
    if let Some(plan) = plan {
        plan.pace.batch_size.check_end().map_err(StepOutcome::Error)?;
    }
    Ok((hold, origin))
}

fn new_plan(options: &StepOptions, observed: &Observation) -> Plan {
    let template = observed.workload.template_digest();
    let reach = options.reach.unwrap_or(Reach::Next);
    let pace = options.pace.apply_to(Pace::default());
    let from = observed.stable().ok().map(|stable| stable.name.clone());
    Plan::new(&template, from, pace, reach)
}

/// Continues the plan in force, unless it is paused or is for another template; with `--new-plan` replaces it by one that begins
/// like a first plan. Released slots stay released: for the same template, the fields that hold are kept.
fn continue_plan(
    options: &StepOptions,
    observed: &Observation,
    hold: &Hold,
) -> Result<(Hold, Origin), StepOutcome> {
    let workload = &observed.workload;
    let is_paused = hold.is_paused() || hold.is_paused_by_another_client(workload);
    let Some(plan) = hold.plan.clone().filter(|_| !is_paused) else {
        return Err(StepOutcome::Stopped(StopReason::Paused));
    };
    let is_for_live_template = plan.is_for_live_template(workload);
    if options.new_plan {
        let is_held = is_for_live_template && hold.is_strategy_held(workload);
        let hold = hold.clone().with_plan(new_plan(options, observed));
        return keep_hold(hold, Origin::Replaced, is_held, observed);
    }
    if !is_for_live_template {
        return Err(StepOutcome::Stopped(another_template(workload)));
    }
    if !plan.rolling_back {
        check_repeated(options, &plan, workload).map_err(StepOutcome::Error)?;
    }
    let is_held = plan.rolling_back || hold.is_strategy_held(workload);
    let plan = Plan {
        failure: plan.failure.filter(|_| plan.rolling_back), // a failed batch is tried again
        pace: options.pace.apply_to(plan.pace.with_floors()),
        reach: Some(options.reach.or(plan.reach).unwrap_or(Reach::Next)),
        ..plan
    };
    keep_hold(hold.clone().with_plan(plan), Origin::Plan, is_held, observed)
}

/// Keeps a workload held by its live fields if these hold it, and holds it as it stands otherwise. A strategy that another
/// client wrote becomes the original one.
fn keep_hold(
    mut hold: Hold,
    origin: Origin,
    is_held: bool,
    observed: &Observation,
) -> Result<(Hold, Origin), StepOutcome> {
    let workload = &observed.workload;
    if is_held {
        return Ok((hold.adopting(workload), origin));
    }
    let set = fields_to_hold_now(observed)?;
    if !hold.is_strategy_held(workload) {
        hold = hold.with_present_originals(workload);
    }
    Ok((Hold { set, ..hold }, origin))
}

/// Returns the fields that hold a workload as it is. Refuses one that has such fields already, whose annotation is gone,
/// and one whose pods could not be read.
fn fields_to_hold_now(observed: &Observation) -> Result<HoldFields, StepOutcome> {
    let fields = hold::refuse_lost_annotation(observed)
        .and_then(|()| hold::holding_fields(observed, &observed.workload));
    fields.map_err(StepOutcome::Error)
}

fn another_template(workload: &Workload) -> StopReason {
    let since = workload.held().stored().and_then(|hold| hold.since.as_deref());
    let author = last_template_author(workload.object()).filter(|author| author.is_since(since));
    StopReason::Changed {
        manager: author.map(|author| author.manager),
        changes: vec!["the live template is not the one of the plan".to_owned()],
        lost_original: None,
        rolled_back_to: None,
    }
}

/// Returns the outcome when the plan may release no slot.
pub(super) fn nothing_to_release(state: &State<'_>) -> StepOutcome {
    let others = state.slots.iter().filter(|slot| slot.is_not_selected()).count();
    if others > 0 {
        return StepOutcome::Stopped(StopReason::NotSelected { others });
    }
    own_partition_reached(state).map_or(StepOutcome::NothingOutdated, StepOutcome::Stopped)
}

/// Decides what to do while this process does not hold the lock.
pub(super) fn acquire(
    options: &StepOptions,
    cluster: &World,
    observed: &Observation,
    memory: &Memory,
    now: Now,
) -> Step {
    let (hold, origin) = match prepare_plan(options, observed) {
        Ok(prepared) => prepared,
        Err(outcome) => return Step::End(outcome),
    };
    let lock = foreign_lock(options, &hold);
    if let Some(lock) = lock.filter(|lock| !memory.ownership.is_own(lock)) {
        return Step::stop(StopReason::Locked(lock));
    }
    let begin = || {
        let state = state_of(observed, cluster.nodes.as_deref(), &hold, now)?;
        if let Some(step) = wait_or_end(&state, origin, memory)? {
            return Ok(step);
        }
        acquire_lock(&memory.ownership.own, &state, origin)
    };
    begin().unwrap_or_else(|error| Step::End(StepOutcome::Error(error)))
}

/// Returns the step if the plan cannot begin yet, or has nothing to release.
fn wait_or_end(state: &State<'_>, origin: Origin, memory: &Memory) -> Result<Option<Step>> {
    if !state.is_change_observed() {
        return Ok(Some(Step::wait_for("the controller to observe the change")));
    }
    if state.plan.rolling_back {
        return Ok(None);
    }
    check_node_flags(state)?;
    let is_held = origin != Origin::Free || state.workload().is_paused();
    if is_held && state.has_no_replicas() {
        return Ok(Some(Step::stop(StopReason::NoReplicas)));
    }
    if !has_to_end(origin, state.workload()) && !state.slots.iter().any(Slot::is_outdated) {
        let outcome = nothing_to_release(state);
        let check = check_without_batch(state, memory).filter(|_| outcome == StepOutcome::NothingOutdated);
        return Ok(Some(match check {
            Some(Step::Fail(failure)) => {
                Step::End(StepOutcome::Failed { failure: Some(failure), rollback: None })
            }
            Some(step) => step,
            None => Step::End(outcome),
        }));
    }
    // A command that has nothing to release does not change a pause.
    let next = (origin == Origin::Pause).then(|| between_batches(state, memory));
    Ok(next.filter(|step| matches!(step, Step::End(_))))
}

/// Returns the write that stores the plan with the lock of this process.
fn acquire_lock(own: &Lock, state: &State<'_>, origin: Origin) -> Result<Step> {
    let (workload, now) = (state.workload(), state.now);
    let already_updated = already_updated(state, origin)?;
    let mut hold = state.hold.clone();
    let mut reports: Vec<_> = hold
        .lock
        .take()
        .filter(|lock| lock.holder != own.holder)
        .map(StepReport::ReplacesLock)
        .into_iter()
        .collect();
    let stored = workload.held().stored();
    if origin == Origin::Free && stored.as_ref().is_some_and(|stored| !stored.is_rolling_back()) {
        let since = stored.as_ref().and_then(|stored| stored.since.as_deref());
        let author = last_author(workload.object(), &strategy::strategy_path(workload));
        let author = author.filter(|author| author.is_since(since));
        reports.push(StepReport::HoldEnded { manager: author.map(|author| author.manager) });
    }
    reports.push(StepReport::Began { origin, already_updated });
    if origin != Origin::Plan {
        hold = hold.written_by(own.by.as_deref(), &now.stamp());
    }
    hold.lock = Some(own.written_at(now.stamp()));
    let fields = fields_to_write(&hold, workload);
    Ok(Step::write_plan(Then::AcquireLock(reports), hold, fields, workload))
}

/// Returns the pods that a new plan does not release, because they are updated or being updated.
fn already_updated(state: &State<'_>, origin: Origin) -> Result<Vec<String>> {
    if matches!(origin, Origin::Plan | Origin::Pause) {
        return Ok(Vec::new());
    }
    let held = as_held(state.hold, state.observed);
    let observed = held.as_ref().unwrap_or(state.observed);
    let slots = state_of(observed, state.nodes, state.hold, state.now)?.slots;
    let released = slots.into_iter().filter(|slot| !slot.state.is_held());
    Ok(released.filter(|slot| slot.key != UNKNOWN_NODE).map(|slot| slot.label()).collect())
}

/// Returns the lock of another process, unless this command replaces it: with `--take-over`, or because the process of
/// the holder has ended on this host.
pub(super) fn foreign_lock(options: &StepOptions, hold: &Hold) -> Option<Lock> {
    let is_replaced = |lock: &Lock| options.take_over || options.ended_holder.as_ref() == Some(&lock.holder);
    hold.lock.clone().filter(|lock| !is_replaced(lock))
}
