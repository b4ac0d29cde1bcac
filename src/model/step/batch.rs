//! A batch under way: releases more of it, waits for its pods, lets them soak, checks them, and fails.

use std::time::Duration;

use super::action::{Action, Decision, Purpose, Release};
use super::causes::reasons;
use super::check::NextCheck;
use super::memory::Memory;
use super::outcome::{BatchFailure, StepOutcome, StopReason};
use super::report::StepReport;
use super::slot::PodSlot;
use super::state::State;
use super::view_builder::finished_batch;
use crate::model::cause::CauseId;
use crate::model::hold::plan::{BatchRecord, OnFailure, Reach};
use crate::model::text::go_duration;

/// How long a small wave of deletions waits to become larger. Each wave needs a refresh, so fewer waves mean fewer
/// reads.
pub(super) const WAVE_PAUSE: Duration = Duration::from_secs(10);

/// Continues a batch: releases more slots, waits for their pods, lets them soak, runs the check, and records that the
/// batch is done.
pub(super) fn continue_batch(state: &State<'_>, memory: &Memory, batch: &BatchRecord) -> Decision {
    let in_batch: Vec<_> = state.slots.iter().filter(|slot| state.is_in_batch(slot)).collect();
    let status = format!(
        "batch {}: {} of {} pods available, {} of {} unavailable",
        batch.number,
        in_batch.iter().filter(|slot| slot.is_ready()).count(),
        in_batch.len(),
        state.unavailable(),
        state.allowed(),
    );
    match state.kind.release(state, batch, state.free()) {
        Some(Release::Strategy { set, slots }) => {
            let record = state.record.written_at(state.now.stamp());
            let why = format!("{status}: release {}", slots.join(" "));
            let write = (Purpose::ReleaseSlots, released(batch.number, slots));
            return Decision::store(write, record, Some(set), state.workload(), why);
        }
        Some(Release::Wave(wave)) if is_wave_due(state, memory, &in_batch, wave.len()) => {
            let why = format!("{status}: delete a wave of {} pods", wave.len());
            return Decision::new(Action::DeleteWave(wave), why);
        }
        _ => {}
    }
    if state.is_moving() {
        return Decision::new(Action::Wait, format!("{status}: wait"));
    }
    if let Some(decision) = check(state, memory, batch.number) {
        return decision;
    }
    if !memory.soak_left(state).is_zero() {
        let soak = go_duration::write(memory.soak_length(state));
        return Decision::new(Action::Wait, format!("batch {}: it soaks for {soak}: wait", batch.number));
    }
    finish_batch(state, memory, batch)
}

/// Decides on the check of a batch whose pods are ready; none if it passed, or if there is nothing to check now.
pub(super) fn check(state: &State<'_>, memory: &Memory, number: usize) -> Option<Decision> {
    let check = state.pace().check.as_ref()?;
    match memory.next_check(check, state) {
        NextCheck::Run => Some(Decision::new(Action::RunCheck, format!("batch {number}: check it"))),
        NextCheck::Wait if memory.soak_left(state).is_zero() => {
            Some(Decision::new(Action::Wait, format!("batch {number}: wait for its check")))
        }
        NextCheck::Passed | NextCheck::Wait => None,
        NextCheck::Failed(result) => {
            let failures = memory.batch.check.failures();
            let failure = BatchFailure::Check { batch: number, result, failures };
            Some(Decision::new(Action::Fail(failure), format!("batch {number}: the check did not pass")))
        }
    }
}

/// Whether a wave is large enough: half of `--max-unavailable`, or the rest of the batch. A smaller wave waits for
/// [`WAVE_PAUSE`].
fn is_wave_due(state: &State<'_>, memory: &Memory, in_batch: &[&PodSlot<'_>], size: usize) -> bool {
    let left = in_batch.iter().filter(|slot| !slot.is_released && slot.unready_node.is_none()).count();
    let is_large = size >= left.min(state.allowed().div_ceil(2));
    let now = state.now.elapsed;
    is_large || memory.batch.last_wave.is_none_or(|last| now >= last + WAVE_PAUSE)
}

/// Records that the batch soaked and passed its check.
fn finish_batch(state: &State<'_>, memory: &Memory, batch: &BatchRecord) -> Decision {
    let mut record = state.record.written_at(state.now.stamp());
    if let Some(batch) = &mut record.plan.batch {
        batch.done = true;
    }
    if record.plan.reach == Some(Reach::Next) {
        record.plan.reach = None; // the goal of the command is reached
    }
    let write = (Purpose::FinishBatch, vec![StepReport::Batch(finished_batch(state, memory, batch))]);
    Decision::store(write, record, None, state.workload(), format!("batch {}: done", batch.number))
}

/// Returns the decision if the last batch has failed: it has a fatal cause, or its timeout has passed.
pub(super) fn failed(state: &State<'_>, memory: &Memory, batch: &BatchRecord) -> Option<Decision> {
    if !state.is_moving() {
        return None;
    }
    if let Some((id, pods)) = fatal_cause(state, memory) {
        let failure = BatchFailure::Cause { batch: batch.number, id: id.name(), pods };
        let why = format!("batch {}: {} lasts: it failed", batch.number, id.name());
        return Some(Decision::new(Action::Fail(failure), why));
    }
    memory.batch.progress.is_over(state.pace().batch_timeout).then(|| past_timeout(state, batch.number))
}

/// Returns the decision if updated pods fail outside a batch, for a plan that rolls back then. Other plans begin no batch
/// while too many pods are unavailable.
pub(super) fn failed_late(state: &State<'_>, memory: &Memory) -> Option<Decision> {
    let is_updated = |name: &String| {
        state.required().any(|slot| slot.is_updated && slot.pod.is_some_and(|pod| pod.name == *name))
    };
    let (id, mut pods) = fatal_cause(state, memory).filter(|_| state.pace().on_failure == OnFailure::Undo)?;
    pods.retain(is_updated);
    let why = format!("updated pods have {} outside a batch: they failed", id.name());
    (!pods.is_empty()).then(|| Decision::new(Action::Fail(BatchFailure::Late { id: id.name(), pods }), why))
}

/// Returns a fatal cause of a required pod, or one without a pod, such as a quota.
pub(super) fn fatal_cause(state: &State<'_>, memory: &Memory) -> Option<(CauseId, Vec<String>)> {
    let is_required =
        |name: &String| state.required().any(|slot| slot.pod.is_some_and(|pod| pod.name == *name));
    let mut fatal = memory.causes.fatal(state.now.elapsed);
    fatal.find(|(_, pods)| pods.is_empty() || pods.iter().any(is_required))
}

/// Decides after the timeout of a batch. The batch has failed only if one of its pods was replaced. Otherwise other
/// unavailable pods may have left no room for it, which is no fault of the new revision.
fn past_timeout(state: &State<'_>, batch: usize) -> Decision {
    let after = state.pace().batch_timeout;
    let names = |slots: Vec<&PodSlot<'_>>| slots.into_iter().map(PodSlot::label).collect::<Vec<_>>();
    let failed: Vec<_> = state.required().filter(|slot| !slot.is_ready() && slot.is_replaced()).collect();
    let why = format!("batch {batch}: past its timeout of {}", go_duration::write(after));
    if !failed.is_empty() {
        return Decision::new(
            Action::Fail(BatchFailure::TimedOut { batch, after, pods: names(failed) }),
            why,
        );
    }
    let is_full = state.free().is_none_or(|free| free == 0);
    let is_other = |slot: &&PodSlot<'_>| is_full && !state.is_required(slot) && !state.is_in_batch(slot);
    let others: Vec<_> = state.unavailable_slots().filter(is_other).collect();
    if !others.is_empty() {
        let pods = reasons(others, state);
        let outcome = StepOutcome::Stopped(StopReason::Unhealthy { pods, allowed: state.allowed() });
        return Decision::finish(outcome, format!("{why}, for pods of no batch: stop"));
    }
    let waiting = state.slots.iter().filter(|slot| state.is_awaited(slot)).collect();
    Decision::new(Action::Fail(BatchFailure::NotReplaced { batch, after, pods: names(waiting) }), why)
}

pub(super) fn released(batch: usize, slots: Vec<String>) -> Vec<StepReport> {
    slots.into_iter().map(|slot| StepReport::Released { batch, slot }).collect()
}
