//! Computes the state of a plan for display.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::batches::{self, Next};
use super::slot::{PodSlot, max_unavailable, own_limit, unavailable};
use super::soak::Soak;
use super::state::{PlanState, skipped};
use super::timers::CheckState;
use super::view::{Batch, BatchStage, PlanView, SlotState, SlotView, Soaked};
use crate::model::change::plan::{BatchRecord, Pace, Reach};
use crate::model::revision::Revision;
use crate::model::workload::strategy;

/// The most future batches in a view.
const MAX_BATCHES: usize = 1000;

/// Returns the state of a plan. `seen` contains the slots of the batches that this process observed.
pub(super) fn plan_view(state: &PlanState<'_>, seen: &BTreeMap<usize, Vec<String>>) -> PlanView {
    let (plan, pace) = (state.plan(), state.pace());
    let (coming, has_more_batches) = coming(state);
    let soaking = coming.len() + usize::from(state.batch().is_some());
    let soaks = pace.soak.saturating_mul(u32::try_from(soaking).unwrap_or(u32::MAX));
    let context = state.context();
    let revisions = &context.observed.revisions;
    let label = |name: &String| revisions.iter().find(|one| one.name == *name).map(Revision::label);
    let mut batches = earlier(state, seen);
    if let Some(record) = &plan.batch {
        let slots: Vec<_> = state.all().iter().filter(|slot| record.slots.contains(&slot.name)).collect();
        let done = BatchStage::Done { healthy: healthy(state, &slots) };
        batches.push(batch(state, record, if state.batch().is_none() { done } else { stage(state) }));
    }
    batches.extend(coming);
    let is_soaking = state.is_final() && !state.is_moving() && !pace.final_soak.is_zero();
    let healthy = state.healthy().saturating_sub(pace.soak);
    let ignoring = Pace { ignore_unready_nodes: true, ..pace.clone() };
    PlanView {
        from: plan.from.as_ref().and_then(label),
        to: context.current().map(Revision::label),
        wanted: state.all().len(),
        updated: state.all().iter().filter(|slot| slot.is_updated).count(),
        pace: pace.clone(),
        max_unavailable: state.allowed(),
        reach: plan.reach.unwrap_or(Reach::Next),
        batches,
        has_more_batches,
        final_soak: is_soaking.then_some(Soaked { healthy, of: pace.final_soak }),
        soaks: soaks.saturating_add(pace.final_soak),
        skipped: skipped(state.all(), pace),
        ignoring_nodes_helps: unavailable(state.all(), &ignoring) < unavailable(state.all(), pace),
        lease: context.record.lease.clone(),
        is_paused: context.record.hold.is_paused(),
        is_rolling_back: plan.is_rolling_back(),
        is_own_limit: own_limit(context.workload())
            .is_some_and(|own| own < max_unavailable(pace, state.all().len())),
        surge: state.slots.kind.surge(context, state.all().len()),
        holds_by: strategy::step_hold(context.workload())
            .map(|(field, value)| (field.members().join("."), value)),
        end_by_hand: context.record.hold.end_by_hand(context.workload()),
        causes: state.timers.causes.current().cloned().collect(),
    }
}

/// Returns the stage of the present batch.
pub(super) fn stage(state: &PlanState<'_>) -> BatchStage {
    match state.timers.check {
        CheckState::Running(_) | CheckState::Finished(_) => BatchStage::Checking,
        _ if state.is_moving() => BatchStage::Updating,
        CheckState::NotRun => BatchStage::Soaking { healthy: state.healthy(), of: state.soak() },
    }
}

/// Returns a batch with the state of its slots.
pub(super) fn batch(plan: &PlanState<'_>, record: &BatchRecord, stage: BatchStage) -> Batch {
    let names: BTreeSet<&String> = record.slots.iter().collect();
    let slots = plan.all().iter().filter(|slot| names.contains(&slot.name));
    let slots: Vec<SlotView> = slots.map(slot_view).collect();
    Batch { number: record.number, is_canary: record.canary, size: slots.len(), slots, stage }
}

/// Returns the batch that soaked and passed its check.
pub(super) fn finished_batch(state: &PlanState<'_>, record: &BatchRecord) -> Batch {
    batch(state, record, BatchStage::Done { healthy: state.healthy() })
}

fn slot_view(slot: &PodSlot<'_>) -> SlotView {
    let state = match slot {
        slot if slot.is_ready() => SlotState::Updated,
        slot if slot.is_released || slot.is_updated => SlotState::Updating,
        _ => SlotState::Outdated,
    };
    SlotView { name: slot.label(), state }
}

/// Returns the batches before the last one: their sizes, and the slots of those that this process observed.
fn earlier(state: &PlanState<'_>, seen: &BTreeMap<usize, Vec<String>>) -> Vec<Batch> {
    let plan = state.plan();
    let batches = plan.batch_sizes.iter().enumerate().map(|(index, size)| {
        let number = index + 1;
        let names = seen.get(&number).filter(|names| names.len() == *size);
        let is_in_it = |slot: &&PodSlot<'_>| names.is_some_and(|names| names.contains(&slot.name));
        let slots: Vec<_> = state.all().iter().filter(is_in_it).collect();
        Batch {
            number,
            is_canary: index == 0 && *size == 1 && plan.pace.canary,
            size: *size,
            stage: BatchStage::Done { healthy: healthy(state, &slots) },
            slots: slots.into_iter().map(slot_view).collect(),
        }
    });
    batches.collect()
}

/// Returns how long these slots have been ready, by the timestamps of their pods.
fn healthy(state: &PlanState<'_>, slots: &[&PodSlot<'_>]) -> Duration {
    let healthy = Soak::default().healthy(slots.iter().copied(), state.context().now);
    Some(healthy).filter(|healthy| *healthy != Duration::MAX).unwrap_or_default()
}

/// Returns the future batches, as if each one succeeded, and whether there are more.
fn coming(state: &PlanState<'_>) -> (Vec<Batch>, bool) {
    let plan = state.plan();
    let mut slots = state.all().to_vec();
    release(&mut slots, state.batch().map_or(&[], |batch| &batch.slots));
    let mut number = plan.batch.as_ref().map_or(0, |batch| batch.number);
    let mut batches = Vec::new();
    let mut reach = plan.reach.unwrap_or(Reach::Next);
    loop {
        match batches::next(state.slots.kind, &slots, &plan.pace, Some(reach), number) {
            Next::Batch(_) if batches.len() >= MAX_BATCHES => return (batches, true),
            Next::Batch(next) => {
                batches.push(batch(state, &next, BatchStage::Waiting));
                release(&mut slots, &next.slots);
                number = next.number;
            }
            Next::Nothing if reach != Reach::All => reach = Reach::All,
            Next::Nothing | Next::Blocked { .. } => return (batches, false),
        }
    }
}

fn release(slots: &mut [PodSlot<'_>], names: &[String]) {
    let names: BTreeSet<&String> = names.iter().collect();
    for slot in slots.iter_mut().filter(|slot| names.contains(&slot.name)) {
        (slot.is_updated, slot.is_released) = (true, true);
    }
}
