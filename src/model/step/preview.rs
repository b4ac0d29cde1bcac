//! Previews a plan: what a command would begin or continue.

use std::collections::BTreeMap;

use super::batch::too_many_unavailable;
use super::event::Origin;
use super::kind_lookup::state_of;
use super::memory::Memory;
use super::next_batch::next;
use super::options::StepOptions;
use super::outcome::{BatchFailure, RollbackOutcome, StepOutcome, StopReason};
use super::refusals::foretold_update;
use super::slot::PodSlot;
use super::start::{Start, find_plan, foreign_lock, nothing_to_release};
use super::state::State;
use super::view::{Batch, BatchStage, PlanView};
use super::view_builder::plan_view;
use crate::model::api::node::Node;
use crate::model::change::effect::UpdatedPods;
use crate::model::engine::Now;
use crate::model::kind::strategy;
use crate::model::observation::Observation;
use crate::model::revision::Revision;

/// Returns the plan that a command would begin or continue. `ended` is the holder of the lock, if its process has ended on
/// this host.
///
/// # Errors
/// The outcome of a command that would end before it writes anything.
pub fn preview(
    options: &StepOptions,
    observed: &Observation,
    nodes: Option<&[Node]>,
    ended: Option<&str>,
    now: Now,
) -> Result<PlanView, StepOutcome> {
    let start = find_plan(options, observed)?;
    if start.record.plan.is_rolling_back() {
        return Err(rolling_back(observed, &start));
    }
    let held = start.as_held(observed);
    let observed = held.as_ref().unwrap_or(observed);
    let state = state_of(observed, nodes, &start.record, now).map_err(StepOutcome::Error)?;
    state.kind.check_state(&state).map_err(StepOutcome::Error)?;
    if !start.has_to_end() && !state.slots.iter().any(PodSlot::is_outdated) {
        return Err(nothing_to_release(&state));
    }
    let view = plan_view(&state, &Memory::default(), &BTreeMap::new());
    Ok(PlanView {
        update: Some(foretold_update(state.observed)),
        batch_updates: batch_updates(&state, &view.batches),
        stops: foreign_lock(options, &start.record, ended).map(StopReason::Locked).or_else(|| stops(&state)),
        ..view
    })
}

/// Foretells the update of the pods of each future batch; empty if the batches are alike, or if the controller chooses
/// the pods of a batch.
fn batch_updates(state: &State<'_>, batches: &[Batch]) -> Vec<(usize, UpdatedPods)> {
    let observed = state.observed;
    let workload = &observed.workload;
    if strategy::partition_counts_pods(workload) && !workload.kind().pods().are_per_node() {
        return Vec::new();
    }
    let by_label: BTreeMap<_, _> = state.slots.iter().map(|slot| (slot.label(), slot)).collect();
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
fn stops(state: &State<'_>) -> Option<StopReason> {
    match next(state) {
        _ if state.batch().is_some() => None,
        Ok(next) => too_many_unavailable(state, &next?),
        Err(reason) => Some(reason),
    }
}

fn rolling_back(observed: &Observation, start: &Start) -> StepOutcome {
    let revision = observed.revisions.current().map(Revision::label).unwrap_or_default();
    let is_held = start.origin == Origin::Plan && start.record.hold.is_in_force(&observed.workload);
    let why = if is_held {
        "step waits for it, and then restores the original strategy"
    } else {
        "step waits for it"
    };
    let rollback = RollbackOutcome::Unfinished { revision, why: why.to_owned() };
    StepOutcome::Failed { failure: BatchFailure::Earlier, rollback: Some(rollback) }
}
