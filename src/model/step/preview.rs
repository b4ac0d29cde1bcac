//! Previews a plan: what a command would begin or continue.

use std::collections::BTreeMap;

use super::batches::Next;
use super::existing_plan::{ExistingPlan, Origin, find_plan, foretold_update, nothing_to_release};
use super::outcome::{BatchFailure, RollbackOutcome, StepOutcome, StopReason};
use super::request::Request;
use super::situation::Situation;
use super::slot::PodSlot;
use super::state::PlanState;
use super::timers::Timers;
use super::view::{Batch, BatchStage, PlanPreview};
use super::view_builder::plan_view;
use crate::model::api::node::Node;
use crate::model::follow::Now;
use crate::model::revision::Revision;
use crate::model::status::effect::UpdatedPods;
use crate::model::status::observation::Observation;
use crate::model::workload::kind::PodIdentity;
use crate::model::workload::strategy;

/// Returns the plan that a command would begin or continue.
///
/// # Errors
/// The outcome of a command that would end before it writes anything.
pub fn preview(
    request: &Request,
    observed: &Observation,
    nodes: Option<&[Node]>,
    now: Now,
) -> Result<PlanPreview, StepOutcome> {
    let existing = find_plan(request, observed)?;
    if existing.record.plan.is_completing() {
        return Err(StepOutcome::NothingOutdated);
    }
    if existing.record.plan.is_rolling_back() {
        return Err(rolling_back(observed, &existing));
    }
    let held = existing.as_held(observed);
    let observed = held.as_ref().unwrap_or(observed);
    let situation = Situation { observed, nodes, record: None, slots: None, now };
    let slots = situation.slots_of(&existing.record).map_err(StepOutcome::Error)?;
    slots.kind.check_observation(&slots.context).map_err(StepOutcome::Error)?;
    if !existing.has_to_end() && !slots.all.iter().any(PodSlot::is_outdated) {
        return Err(nothing_to_release(&slots.all, &existing.record, &observed.workload));
    }
    let timers = Timers::default();
    let state = PlanState { slots: &slots, timers: &timers };
    let plan = plan_view(&state, &BTreeMap::new());
    Ok(PlanPreview {
        update: foretold_update(state.context().observed),
        batch_updates: batch_updates(&state, &plan.batches),
        stops: stops(&state),
        plan,
    })
}

/// Foretells the update of the pods of each future batch; empty if the batches are alike, or if the controller chooses
/// the pods of a batch.
fn batch_updates(state: &PlanState<'_>, batches: &[Batch]) -> Vec<(usize, UpdatedPods)> {
    let observed = state.context().observed;
    let workload = &observed.workload;
    if strategy::partition_counts_pods(workload) && workload.kind().pods != PodIdentity::Node {
        return Vec::new();
    }
    let by_label: BTreeMap<_, _> = state.all().iter().map(|slot| (slot.label(), slot)).collect();
    let coming = batches.iter().filter(|batch| batch.stage == BatchStage::Waiting);
    let updates: Vec<_> = coming
        .map(|batch| {
            let pods: Vec<_> = batch.slots.iter().filter_map(|slot| by_label.get(&slot.name)?.pod).collect();
            (batch.number, UpdatedPods::of(&pods, observed, workload))
        })
        .collect();
    let is_like = |one: &UpdatedPods, other: &UpdatedPods| {
        let facts = |update: &UpdatedPods| (update.in_place > 0, update.recreated > 0);
        facts(one) == facts(other) && one.restarted == other.restarted && one.because == other.because
    };
    match updates.split_first() {
        Some(((_, first), rest)) if !rest.iter().all(|(_, other)| is_like(first, other)) => updates,
        _ => Vec::new(),
    }
}

/// Returns why the next batch cannot begin, if it cannot.
fn stops(state: &PlanState<'_>) -> Option<StopReason> {
    match state.next() {
        _ if state.batch().is_some() => None,
        Next::Batch(next) => state.too_many_unavailable(&next),
        Next::Blocked { pod, node } => Some(StopReason::OnUnreadyNode { pod, node }),
        Next::Nothing => None,
    }
}

fn rolling_back(observed: &Observation, existing: &ExistingPlan) -> StepOutcome {
    let revision = observed.revisions.current().map(Revision::label).unwrap_or_default();
    let is_held = existing.origin == Origin::Plan && existing.record.hold.is_in_force(&observed.workload);
    let why = if is_held {
        "step waits for it, and then restores the original strategy"
    } else {
        "step waits for it"
    };
    let rollback = RollbackOutcome::Unfinished { revision, why: why.to_owned() };
    StepOutcome::Failed { failure: BatchFailure::Earlier, rollback: Some(rollback) }
}
