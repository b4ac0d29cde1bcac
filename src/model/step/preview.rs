//! Previews a plan: what a command would begin or continue.

use std::collections::BTreeMap;

use super::batches::Next;
use super::existing::{ExistingPlan, Origin, find_plan, foretold_update, nothing_to_release};
use super::outcome::{BatchFailure, RollbackOutcome, StepOutcome, StopReason};
use super::request::Request;
use super::situation::Situation;
use super::slot::PodSlot;
use super::state::PlanState;
use super::timers::Timers;
use super::view::PlanView;
use super::view_builder::plan_view;
use crate::model::api::node::Node;
use crate::model::follow::Now;
use crate::model::revision::Revision;
use crate::model::status::observation::Observation;

/// Returns the plan that a command would begin or continue.
///
/// # Errors
/// The outcome of a command that would end before it writes anything.
pub fn preview(
    request: &Request,
    observed: &Observation,
    nodes: Option<&[Node]>,
    now: Now,
) -> Result<PlanView, StepOutcome> {
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
    let update = Some(foretold_update(state.context().observed));
    Ok(PlanView { stops: stops(&state), update, ..plan_view(&state, &BTreeMap::new()) })
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
