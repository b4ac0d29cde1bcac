//! A batch under way: releases more of it, waits for its pods, lets them soak, checks them, and fails.

use std::time::Duration;

use super::action::{Action, Decision, Purpose, Release};
use super::causes::reasons;
use super::outcome::{BatchFailure, CheckResult, StepOutcome, StopReason};
use super::report::StepReport;
use super::slot::PodSlot;
use super::state::PlanState;
use super::timers::CheckState;
use super::view_builder::finished_batch;
use crate::model::change::plan::{BatchRecord, Reach};
use crate::model::status::cause::CauseId;
use crate::model::text::go_duration;

/// How long a small wave of deletions waits to become larger. Each wave needs a refresh, so fewer waves mean fewer
/// reads.
pub(super) const WAVE_PAUSE: Duration = Duration::from_secs(10);

/// Continues a batch: releases more slots, waits for their pods, lets them soak, runs the check, and records that the
/// batch is done.
pub(super) fn in_batch(state: &PlanState<'_>, batch: &BatchRecord) -> Decision {
    let context = state.context();
    let in_batch: Vec<_> = state.all().iter().filter(|slot| state.is_in_batch(slot)).collect();
    let status = format!(
        "batch {}: {} of {} pods available, {} of {} unavailable",
        batch.number,
        in_batch.iter().filter(|slot| slot.is_ready()).count(),
        in_batch.len(),
        state.unavailable(),
        state.allowed(),
    );
    match state.slots.kind.release(context, state.all(), batch, state.free()) {
        Some(Release::Strategy { set, slots }) => {
            let record = context.record.renewed(context.now.stamp());
            let patch = record.patch(context.workload(), Some(set));
            let why = format!("{status}: release {}", slots.join(" "));
            let reports = released(batch.number, slots);
            return Decision::write(Purpose::ReleaseSlots, patch, reports, why);
        }
        Some(Release::Wave(wave)) if is_wave_due(state, &in_batch, wave.len()) => {
            let why = format!("{status}: delete a wave of {} pods", wave.len());
            return Decision::new(Action::DeleteWave(wave), why);
        }
        _ => {}
    }
    if state.is_moving() {
        return Decision::new(Action::Wait, format!("{status}: wait"));
    }
    if !state.soak_left().is_zero() {
        let soak = go_duration::write(state.soak());
        return Decision::new(Action::Wait, format!("batch {}: it soaks for {soak}: wait", batch.number));
    }
    let number = batch.number;
    match (&state.pace().check, state.timers.check) {
        (None, _) | (_, CheckState::Finished(CheckResult::Passed)) => finish_batch(state, batch),
        (_, CheckState::NotRun) => Decision::new(Action::RunCheck, format!("batch {number}: check it")),
        (_, CheckState::Running(_)) => {
            Decision::new(Action::Wait, format!("batch {number}: the check runs: wait"))
        }
        (_, CheckState::Finished(result)) => {
            let failure = BatchFailure::Check { batch: number, result };
            Decision::new(Action::Fail(failure), format!("batch {number}: the check did not pass"))
        }
    }
}

/// Whether a wave is large enough: half of `--max-unavailable`, or the rest of the batch. A smaller wave waits for
/// [`WAVE_PAUSE`].
fn is_wave_due(state: &PlanState<'_>, in_batch: &[&PodSlot<'_>], size: usize) -> bool {
    let left = in_batch.iter().filter(|slot| !slot.is_released && slot.unready_node.is_none()).count();
    let is_large = size >= left.min(state.allowed().div_ceil(2));
    let now = state.context().now.elapsed;
    is_large || state.timers.last_wave.is_none_or(|last| now >= last + WAVE_PAUSE)
}

/// Records that the batch soaked and passed its check.
fn finish_batch(state: &PlanState<'_>, batch: &BatchRecord) -> Decision {
    let context = state.context();
    let mut record = context.record.renewed(context.now.stamp());
    if let Some(batch) = &mut record.plan.batch {
        batch.done = true;
    }
    if record.plan.reach == Some(Reach::Next) {
        record.plan.reach = None; // the goal of the command is reached
    }
    let patch = record.patch(context.workload(), None);
    let reports = vec![StepReport::Batch(finished_batch(state, batch))];
    Decision::write(Purpose::FinishBatch, patch, reports, format!("batch {}: done", batch.number))
}

/// Returns the decision if the last batch has failed: it has a fatal cause, or its timeout has passed.
pub(super) fn failed(state: &PlanState<'_>, batch: &BatchRecord) -> Option<Decision> {
    if !state.is_moving() {
        return None;
    }
    if let Some((id, pods)) = fatal_cause(state) {
        let failure = BatchFailure::Cause { batch: batch.number, id: id.name(), pods };
        let why = format!("batch {}: {} lasts: it failed", batch.number, id.name());
        return Some(Decision::new(Action::Fail(failure), why));
    }
    state.timers.progress.is_over(state.pace().batch_timeout).then(|| past_timeout(state, batch.number))
}

/// Returns a fatal cause of a required pod, or one without a pod, such as a quota.
pub(super) fn fatal_cause(state: &PlanState<'_>) -> Option<(CauseId, Vec<String>)> {
    let is_required =
        |name: &String| state.required().any(|slot| slot.pod.is_some_and(|pod| pod.name == *name));
    let mut fatal = state.timers.causes.fatal(state.context().now.elapsed);
    fatal.find(|(_, pods)| pods.is_empty() || pods.iter().any(is_required))
}

/// Decides after the timeout of a batch. The batch has failed only if one of its pods was replaced. Otherwise other
/// unavailable pods may have left no room for it, which is no fault of the new revision.
fn past_timeout(state: &PlanState<'_>, batch: usize) -> Decision {
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
        let pods = reasons(others, state.context());
        let outcome = StepOutcome::Stopped(StopReason::Unhealthy { pods, allowed: state.allowed() });
        return Decision::finish(outcome, format!("{why}, for pods of no batch: stop"));
    }
    let waiting = state.all().iter().filter(|slot| state.is_awaited(slot)).collect();
    Decision::new(Action::Fail(BatchFailure::NotReplaced { batch, after, pods: names(waiting) }), why)
}

pub(super) fn released(batch: usize, slots: Vec<String>) -> Vec<StepReport> {
    slots.into_iter().map(|slot| StepReport::Released { batch, slot }).collect()
}
