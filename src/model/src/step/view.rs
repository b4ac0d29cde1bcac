//! The state of a plan for display: its batches, or before a command those that it would begin or continue.

use std::collections::HashMap;
use std::time::Duration;

use super::batch::{FutureBatches, next, obstacle};
use super::batch_view::{BatchStage, BatchView, slots_by_key};
use super::memory::Memory;
use super::outcome::{RollbackOutcome, StepOutcome, StopReason};
use super::refusals::foretold_update;
use super::request::{Origin, StepOptions};
use super::soak::Soak;
use super::start::{as_held, foreign_lock, has_to_end, nothing_to_release, prepare_plan};
use super::state_of;
use crate::api::pod::Node;
use crate::cause::Cause;
use crate::change::effect::UpdatedPods;
use crate::engine::Now;
use crate::hold::mechanism::State;
use crate::hold::mechanism::deletions::check_node_flags;
use crate::hold::plan::{Hold, Pace, Reach};
use crate::hold::slot::{Slot, SlotState, max_unavailable, own_limit};
use crate::observation::Observation;
use crate::revision::Revision;

/// The state of a plan.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one fact of the output")]
pub struct PlanView {
    /// The label of the revision for a rollback, if it is stored.
    pub from: Option<String>,
    /// The label of the revision that `step` releases, once it is stored.
    pub to: Option<String>,
    /// The desired number of pods.
    pub wanted: usize,
    /// How many of them run the new revision.
    pub updated: usize,
    /// The pace.
    pub pace: Pace,
    /// How long a pod of a batch is awaited.
    pub batch_limit: Duration,
    /// How many pods may be unavailable, for the present replicas.
    pub max_unavailable: usize,
    /// Whether that is the workload's own limit.
    pub is_own_limit: bool,
    /// How many surge pods the controller may create, where it has a surge of its own.
    pub surge: usize,
    /// The field by which the plan holds the workload, and its value where that is a word.
    pub holds_by: Option<(String, Option<&'static str>)>,
    /// The goal of the command.
    pub reach: Reach,
    /// The batches that this process observed, and at most 10 future ones.
    pub batches: Vec<BatchView>,
    /// The batches after those.
    pub further: FurtherBatches,
    /// The sum of the remaining soaks of all batches.
    pub soaks: Duration,
    /// The pods that are skipped because their nodes are not ready.
    pub skipped: Vec<String>,
    /// Whether `--force` would let the plan ignore an unavailable pod.
    pub ignoring_nodes_helps: bool,
    /// Whether the plan is paused.
    pub is_paused: bool,
    /// Whether the plan is rolling back or rolled back. Then the updated pods are those that run the restored revision.
    pub is_rolling_back: bool,
    /// The causes why the plan does not progress.
    pub causes: Vec<Cause>,
    /// The kubectl command that ends the hold without this program, if the kind has one.
    pub end_by_hand: Option<String>,
    /// How outdated pods will be updated.
    pub update: UpdatedPods,
    /// Before the first write: why the next batch cannot begin, if it cannot.
    pub stops: Option<StopReason>,
}

/// The batches that a view only counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FurtherBatches {
    /// How many there are.
    pub count: usize,
    /// How many pods each one has; none if that differs, and without such batches.
    pub size: Option<usize>,
}

/// The most future batches in a view.
const MOST_BATCHES: usize = 10;

/// Returns the state of a plan.
pub(super) fn plan_view(state: &State<'_>, memory: &Memory) -> PlanView {
    let (plan, pace) = (state.plan, state.pace());
    let by_key = slots_by_key(state);
    let (coming, further) = coming(state, &by_key);
    let soaking = coming.len() + further.count + usize::from(state.present_batch.is_some());
    let soaks = pace.soak.saturating_mul(u32::try_from(soaking).unwrap_or(u32::MAX));
    let soaks = soaks.saturating_add(pace.final_soak);
    let revisions = &state.observed.revisions;
    let label = |name: &String| revisions.iter().find(|one| one.name == *name).map(Revision::label);
    let last = plan.last_batch.as_ref();
    let earlier = memory.batches.iter().filter(|batch| last.is_some_and(|last| batch.number < last.number));
    let last = last.filter(|last| last.done || state.present_batch.is_some());
    let begun = earlier.chain(last).map(|planned| {
        let batch_stage = if state.present_batch.is_some_and(|present| present.number == planned.number) {
            memory.stage(state)
        } else {
            let slots = planned.slots.iter().filter_map(|key| by_key.get(key.as_str()).copied());
            BatchStage::Done { healthy: Soak::default().healthy(slots, state.now) } // by the timestamps of pods
        };
        BatchView::among(state, planned, &by_key, batch_stage)
    });
    // No slot is left of a batch whose pods or nodes were removed, perhaps before it was done.
    let begun = begun.filter(|batch| !batch.slots.is_empty());
    // The present pods are those of the rollback, and the controller gives its revision a new number.
    let rollback = Some(&memory.rollback).filter(|_| plan.rolling_back);
    let restored = rollback.and_then(|rollback| rollback.revision.clone());
    let ignoring = Pace { ignore_unready_nodes: true, ..pace.clone() };
    let is_excused =
        |slot: &Slot<'_>| slot.is_unavailable(pace) && !slot.is_ignored(pace) && slot.is_ignored(&ignoring);
    PlanView {
        from: plan.from.as_ref().and_then(label),
        to: restored.or_else(|| state.plan_revision.map(Revision::label)),
        wanted: state.slots.len(),
        updated: state.slots.iter().filter(|slot| slot.state.is_updated()).count(),
        pace: pace.clone(),
        batch_limit: state.batch_limit(),
        max_unavailable: state.allowed(),
        reach: plan.reach.unwrap_or(Reach::Next),
        batches: match rollback {
            Some(rollback) => rollback.failed_batches.clone(),
            None => begun.chain(coming).collect(),
        },
        further: if plan.rolling_back { FurtherBatches::default() } else { further },
        soaks,
        skipped: state.skipped(),
        ignoring_nodes_helps: state.slots.iter().any(is_excused),
        is_paused: state.hold.is_paused(),
        is_rolling_back: plan.rolling_back,
        is_own_limit: own_limit(state.workload())
            .is_some_and(|own| own < max_unavailable(pace, state.slots.len())),
        surge: state.mechanism.surge(state),
        holds_by: state.workload().mechanism().ok().map(|mechanism| {
            let (field, value) = mechanism.step_field(state.workload());
            (field.members().join("."), value)
        }),
        end_by_hand: state.hold.end_by_hand(state.workload()),
        causes: memory.causes.active().cloned().collect(),
        update: foretold_update(state.observed),
        stops: None,
    }
}

/// Returns the next future batches, as if each one succeeded, and counts the others. The time is linear in the slots,
/// because a plan of a large cluster has a thousand batches.
fn coming(state: &State<'_>, by_key: &HashMap<&str, &Slot<'_>>) -> (Vec<BatchView>, FurtherBatches) {
    let mut slots = state.slots.clone();
    for slot in slots.iter_mut().filter(|slot| state.is_in_batch(slot)) {
        slot.state = SlotState::Healthy { since: None };
    }
    let mut future = FutureBatches::after(state.plan, &slots, state.mechanism);
    let (mut batches, mut further) = (Vec::new(), FurtherBatches::default());
    let mut reach = state.plan.reach.unwrap_or(Reach::Next);
    loop {
        match future.next(Some(reach)) {
            Ok(Some(next)) if batches.len() < MOST_BATCHES => {
                batches.push(BatchView::among(state, &next, by_key, BatchStage::Waiting));
            }
            Ok(Some(next)) => {
                let size = Some(next.slots.len());
                further.size = size.filter(|_| further.count == 0 || further.size == size);
                further.count += 1;
            }
            Ok(None) if reach != Reach::All => reach = Reach::All,
            Ok(None) | Err(_) => return (batches, further),
        }
    }
}

/// Returns the plan that a command would begin or continue.
///
/// # Errors
/// The outcome of a command that would end before it writes anything.
pub fn preview(
    options: &StepOptions,
    observed: &Observation,
    nodes: Option<&[Node]>,
    now: Now,
) -> Result<PlanView, StepOutcome> {
    let (hold, origin) = prepare_plan(options, observed)?;
    if hold.is_rolling_back() {
        return Err(rolling_back(observed, &hold, origin));
    }
    let has_to_end = has_to_end(origin, &observed.workload);
    let after = as_held(&hold, observed);
    let observed = after.as_ref().unwrap_or(observed);
    let state = state_of(observed, nodes, &hold, now).map_err(StepOutcome::Error)?;
    check_node_flags(&state).map_err(StepOutcome::Error)?;
    if !has_to_end && !state.slots.iter().any(Slot::is_outdated) {
        return Err(nothing_to_release(&state));
    }
    Ok(PlanView {
        stops: foreign_lock(options, &hold).map(StopReason::Locked).or_else(|| stops(&state)),
        ..plan_view(&state, &Memory::default())
    })
}

/// Returns why the next batch cannot begin, if it cannot.
fn stops(state: &State<'_>) -> Option<StopReason> {
    match next(state) {
        _ if state.present_batch.is_some() => None,
        Ok(next) => obstacle(state, &next?),
        Err(reason) => Some(reason),
    }
}

fn rolling_back(observed: &Observation, hold: &Hold, origin: Origin) -> StepOutcome {
    let revision = observed.revisions.current().map(Revision::label).unwrap_or_default();
    let is_held = origin == Origin::Plan && hold.is_in_force(&observed.workload);
    let why = if is_held {
        "step waits for it, and then restores the original strategy"
    } else {
        "step waits for it"
    };
    let rollback = RollbackOutcome::Unfinished { revision, why: why.to_owned() };
    let failure = hold.plan.as_ref().and_then(|plan| plan.failure.clone());
    StepOutcome::Failed { failure, rollback: Some(rollback) }
}
