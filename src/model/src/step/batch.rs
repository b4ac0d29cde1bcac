//! The batches: continues one, decides between two of them, and selects the slots of the next one.
//!
//! A batch releases its slots, waits for their pods, lets them soak, runs the check, and is recorded as done. Then the
//! command ends, waits, or begins the next one; after the last one the original strategy is restored.

use std::time::Duration;

use super::batch_view::BatchView;
use super::failure::{decide_failure, fatal_causes};
use super::memory::{Memory, WAVE_PAUSE};
use super::obstacle::{is_complete, own_partition_reached, reason_to_stop};
use super::outcome::{StepOutcome, StopReason};
use super::request::{Request, Step, Then};
use crate::api::pod::Pod;
use crate::hold::mechanism::{Mechanism, State};
use crate::hold::plan::{BatchFailure, BatchSize, CheckResult, OnFailure, Pace, Plan, PlannedBatch, Reach};
use crate::hold::slot::{Slot, SlotState, released_or_updated};
use crate::text::go_duration;

/// How long a pod is expected to be starting.
const YOUNG: Duration = Duration::from_secs(30);

/// The limit for the slot names of one batch, in bytes. The plan's annotation stores them, and all annotations of an
/// object together may have 256 KiB.
const MAX_NAMES: usize = 64 << 10;

/// Continues a batch: releases more slots, waits for their pods, lets them soak, runs the check, and records that the
/// batch is done.
pub(super) fn continue_batch(state: &State<'_>, memory: &Memory, batch: &PlannedBatch) -> Step {
    if let Some(fields) = state.mechanism.release(state, batch) {
        let hold = state.hold_with(state.plan.clone());
        return Step::write_plan(Then::ReleaseSlots, hold, Some(fields), state.workload());
    }
    let wave = state.mechanism.wave(state);
    if !wave.is_empty() && is_wave_due(state, memory, wave.len()) {
        return Step::Ask(Request::Delete { pods: wave, evict: state.pace().evict });
    }
    if state.is_moving() {
        return Step::Wait(None);
    }
    let of_batch = || state.slots.iter().filter(|slot| state.is_in_batch(slot));
    if of_batch().any(Slot::awaits_release) && !of_batch().any(|slot| slot.state.is_updated()) {
        return Step::End(only_skipped_left(state, false)); // their nodes failed before the first release
    }
    let run_check = || Request::Check(BatchView::to_check(state));
    let (healthy, now) = (memory.healthy(state), state.now.elapsed);
    let check = state.pace().check.as_ref();
    if let Some(step) = check
        .and_then(|check| memory.batch.check.next(check, batch.number, &memory.soak, healthy, now, run_check))
    {
        return step;
    }
    if !memory.soak_left(state).is_zero() {
        return Step::Wait(None);
    }
    finish_batch(state)
}

/// Whether a wave is large enough: half of `--max-unavailable`, or the rest of the batch. A smaller wave waits for
/// [`WAVE_PAUSE`].
fn is_wave_due(state: &State<'_>, memory: &Memory, size: usize) -> bool {
    let is_large = size >= state.left_in_batch().count().min(state.allowed().div_ceil(2));
    let now = state.now.elapsed;
    is_large || memory.batch.last_wave.is_none_or(|last| now >= last + WAVE_PAUSE)
}

/// Records that the batch soaked and passed its check.
fn finish_batch(state: &State<'_>) -> Step {
    let mut plan = state.plan.clone();
    if let Some(batch) = &mut plan.last_batch {
        batch.done = true;
    }
    if plan.reach == Some(Reach::Next) {
        plan.reach = None; // the goal of the command is reached
    }
    Step::write_plan(Then::FinishBatch, state.hold_with(plan), None, state.workload())
}

/// Decides what to do between two batches: end, wait, or begin the next one.
pub(super) fn between_batches(state: &State<'_>, memory: &Memory) -> Step {
    if memory.batch.check.is_running() {
        return Step::Wait(None); // for the check of a batch whose slots are gone
    }
    let is_reached = state.is_reached();
    let has_finished_batch = memory.batch.is_finished_here;
    if state.is_all_released() {
        return finish_plan(state, memory);
    }
    if is_reached && (has_finished_batch || !state.is_moving()) {
        return check_without_batch(state, memory).unwrap_or_else(|| Step::End(reached(state)));
    }
    let next = match next(state) {
        Ok(None) if !is_reached => return Step::End(only_skipped_left(state, has_finished_batch)),
        Ok(next) => next,
        Err(reason) => return Step::stop(reason),
    };
    let is_awaited = |slot: &Slot<'_>| {
        let was_stuck = slot.state == SlotState::HeldDown && memory.stuck_pods.is_last(&slot.key);
        let may_be_awaited = state.is_required(slot) || was_stuck;
        may_be_awaited && !slot.state.is_healthy() && may_become_healthy(state, memory, slot)
    };
    if !memory.force && state.slots.iter().any(is_awaited) {
        return Step::wait_for("the pods that are starting");
    }
    if !state.is_moving() && !memory.soak_left(state).is_zero() {
        let soak = go_duration::write(memory.soak_length(state));
        return Step::wait_for(format!("the released pods to be available for {soak}"));
    }
    let Some(next) = next else { return unhealthy(state).map_or(Step::Wait(None), Step::stop) };
    let now = state.now.elapsed;
    match obstacle(state, &next) {
        Some(_) if memory.force => begin_batch(state, next, true),
        Some(_) if state.pace().on_failure == OnFailure::Undo && memory.causes.is_pending(now) => {
            Step::wait_for("a cause to resolve, or to outlast its grace period")
        }
        Some(_) if state.unavailable_slots().any(|slot| is_starting(state, memory, slot)) => {
            Step::wait_for("the pods that are starting")
        }
        Some(reason) => Step::stop(reason),
        None => begin_batch(state, next, false),
    }
}

/// Whether an unavailable pod is [`YOUNG`], or terminates and its deletion deadline has not passed. After another change of
/// the template, the pods of a batch may be replaced once more. Pods that are replaced again and again have a limit.
fn is_starting(state: &State<'_>, memory: &Memory, slot: &Slot<'_>) -> bool {
    let now = state.now.server_time;
    let is_late = memory.stall.is_over(state.batch_limit());
    slot.pod.filter(|_| !is_late).is_some_and(|pod| {
        !pod.terminating && is_younger(state, pod, YOUNG)
            || pod.deletion_deadline.is_some_and(|deadline| now < deadline)
    })
}

/// Whether a pod was created or updated in place less than this long ago.
fn is_younger(state: &State<'_>, pod: &Pod, than: Duration) -> bool {
    let age = pod.updated_at().map(|since| state.now.server_time.duration_since(since));
    age.is_some_and(|age| age < than.try_into().unwrap_or_default())
}

/// Whether a released slot that is not healthy is still young enough to become healthy.
fn may_become_healthy(state: &State<'_>, memory: &Memory, slot: &Slot<'_>) -> bool {
    let limit = state.batch_limit();
    let is_young = slot.pod.is_none_or(|pod| pod.terminating || is_younger(state, pod, limit));
    let has_fatal_cause = fatal_causes(state, memory).next().is_some();
    (is_young || slot.state == SlotState::Released) && !has_fatal_cause && !memory.stall.is_over(limit)
}

/// Stores the next batch. The same write releases its first slots, unless `step` deletes pods itself or the controller has not
/// counted the pods yet. [`continue_batch`] releases the others.
fn begin_batch(state: &State<'_>, next: PlannedBatch, forced: bool) -> Step {
    let fields = state.mechanism.release(state, &next);
    let plan = Plan { last_batch: Some(next), ..state.plan.clone() };
    Step::write_plan(Then::BeginBatch { forced }, state.hold_with(plan), fields, state.workload())
}

/// Decides after the last batch: waits until every pod has soaked, then restores the original fields. The controller of a
/// Deployment can complete the update only afterwards; that of any other kind has to report it before.
fn finish_plan(state: &State<'_>, memory: &Memory) -> Step {
    if state.is_moving() {
        let is_lost = |slot: &Slot<'_>| !slot.state.is_healthy() && !may_become_healthy(state, memory, slot);
        let decision = match &state.plan.last_batch {
            Some(last) => decide_failure(state, memory, last),
            None if state.required().any(is_lost) => unhealthy(state).map(Step::stop),
            None => None,
        };
        return decision.unwrap_or(Step::Wait(None));
    }
    if !memory.soak_left(state).is_zero() {
        return Step::Wait(None); // a pod changed since the last batch was done
    }
    if state.slots.iter().any(|slot| slot.is_not_selected() || slot.is_outdated()) {
        return Step::End(only_skipped_left(state, memory.batch.is_finished_here));
    }
    if let Some(step) = check_without_batch(state, memory) {
        return step;
    }
    if state.workload().hold_blocks_availability() || is_complete(state) {
        let outcome = own_partition_reached(state).map_or(StepOutcome::Complete, StepOutcome::Stopped);
        return Step::end_plan(outcome, state.hold, state.workload());
    }
    match state.skipped_nodes(true) {
        nodes if nodes.is_empty() => Step::wait_for("the controller to report the update as complete"),
        nodes => Step::stop(StopReason::OnUnreadyNodes(nodes)), // the controller waits for their pods
    }
}

/// Runs the check once for the pods that run the revision, where the plan needs no batch: without a failed check, 0 says that it
/// passed. None once it has passed, and for a plan whose batches are checked.
pub(super) fn check_without_batch(state: &State<'_>, memory: &Memory) -> Option<Step> {
    let check = &memory.batch.check;
    state.pace().check.as_ref().filter(|_| state.plan.last_batch.is_none())?;
    match check.result() {
        None if check.is_running() => Some(Step::wait_for("the check of the pods that run the revision")),
        None => Some(Step::Ask(Request::Check(BatchView::to_check(state)))),
        Some(CheckResult::Passed) => None,
        Some(result) => Some(Step::Fail(BatchFailure::Check { batch: None, result, failures: 1 })),
    }
}

/// Returns the outcome when all remaining slots are skipped, because their nodes are not ready or not selected.
fn only_skipped_left(state: &State<'_>, has_finished_batch: bool) -> StepOutcome {
    let others = state.slots.iter().filter(|slot| slot.is_not_selected()).count();
    match state.skipped_nodes(false) {
        nodes if !nodes.is_empty() => StepOutcome::Stopped(StopReason::OnUnreadyNodes(nodes)),
        _ if others > 0 && !has_finished_batch => StepOutcome::Stopped(StopReason::NotSelected { others }),
        _ => reached(state),
    }
}

/// Returns the outcome of a command whose goal is reached.
fn reached(state: &State<'_>) -> StepOutcome {
    let updated = state.slots.iter().filter(|slot| slot.state.is_updated()).count();
    StepOutcome::Reached { updated, of: state.slots.len() }
}

/// Returns the batch that the plan releases next; none if every slot that it may release is released, or if the goal of
/// the command is reached.
///
/// # Errors
/// When the next pod is on a node that is not ready, and cannot be skipped.
pub(super) fn next(state: &State<'_>) -> Result<Option<PlannedBatch>, StopReason> {
    FutureBatches::after(state.plan, &state.slots, state.mechanism).next(state.plan.reach)
}

/// Returns why the next batch may not begin, if its first pod would make too many pods unavailable, or if a released slot
/// is not healthy.
pub(super) fn obstacle(state: &State<'_>, next: &PlannedBatch) -> Option<StopReason> {
    let first = state.slots.iter().find(|slot| Some(&slot.key) == next.slots.first())?;
    if state.mechanism.may_begin(state, first) {
        return unhealthy(state);
    }
    Some(reason_to_stop(state, state.unavailable_slots()))
}

/// Returns the reason to stop if a released slot is not healthy.
fn unhealthy(state: &State<'_>) -> Option<StopReason> {
    let mut slots = state.required().filter(|slot| !slot.state.is_healthy()).peekable();
    slots.peek().is_some().then(|| reason_to_stop(state, slots))
}

/// The batches to come, as if each one succeeded. All of them together visit each slot once.
pub(super) struct FutureBatches<'s, 'a> {
    mechanism: &'s dyn Mechanism,
    pace: &'s Pace,
    wanted: usize,
    released_or_updated: usize,
    number: usize,
    /// The slots that are not visited yet.
    rest: &'s [Slot<'a>],
}

impl<'s, 'a> FutureBatches<'s, 'a> {
    /// Begins after the last batch of a plan.
    pub(super) fn after(plan: &'s Plan, slots: &'s [Slot<'a>], mechanism: &'s dyn Mechanism) -> Self {
        Self {
            mechanism,
            pace: &plan.pace,
            wanted: slots.len(),
            released_or_updated: released_or_updated(slots),
            number: plan.last_batch.as_ref().map_or(0, |batch| batch.number),
            rest: slots,
        }
    }

    /// Returns the next batch as [`next`] does, and counts its slots as updated. A slot that a batch skips is skipped by
    /// all later ones too.
    pub(super) fn next(&mut self, reach: Option<Reach>) -> Result<Option<PlannedBatch>, StopReason> {
        let canary = self.pace.canary && self.released_or_updated == 0;
        let goal = if canary { 1 } else { goal(self.pace, self.released_or_updated, self.wanted) };
        let goal = match reach {
            Some(Reach::To(amount)) => goal.min(amount.pods_of(self.wanted)),
            _ => goal,
        };
        let mut names = Vec::new();
        let (mut group, mut length) = (None, 0);
        while let Some((slot, rest)) = self.rest.split_first() {
            if slot.awaits_release() {
                if self.released_or_updated + names.len() >= goal
                    || group.is_some_and(|group| group != &slot.group)
                {
                    break;
                }
                match &slot.unready_node {
                    None => {
                        group = Some(&slot.group);
                        length += slot.key.len();
                        if length > MAX_NAMES {
                            break;
                        }
                        names.push(slot.key.clone());
                    }
                    Some(_) if self.mechanism.skips_unready_nodes() => {}
                    Some(node) if names.is_empty() => {
                        let (pod, node) = (slot.label(), node.clone());
                        return Err(StopReason::OnUnreadyNode { pod, node });
                    }
                    Some(_) => break,
                }
            }
            self.rest = rest;
        }
        if names.is_empty() {
            return Ok(None);
        }
        self.released_or_updated += names.len();
        self.number += 1;
        Ok(Some(PlannedBatch { number: self.number, canary, slots: names, done: false }))
    }
}

/// Returns how many pods run the new revision after the next batch: of a list the lowest goal that is not reached, because
/// the order of numbers and per cent depends on the replicas.
fn goal(pace: &Pace, updated: usize, wanted: usize) -> usize {
    match &pace.batch_size {
        BatchSize::By(amount) => updated.saturating_add(amount.pods_of(wanted)),
        BatchSize::Until(goals) => {
            let goals = goals.iter().map(|goal| goal.pods_of(wanted));
            goals.filter(|goal| *goal > updated).min().unwrap_or(wanted)
        }
    }
}
