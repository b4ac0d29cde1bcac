//! The batches: continues one, and decides between two of them.
//!
//! A batch releases its slots, waits for their pods, lets them soak, runs the check, and is recorded as done. Then the
//! command ends, waits, or begins the next one; after the last one the original strategy is restored.

use std::time::Duration;

use super::action::{Action, Decision, Purpose};
use super::event::StepReport;
use super::failure::{decide_failure, fatal_cause};
use super::memory::{Memory, WAVE_PAUSE};
use super::next_batch::{
    is_back_to_canary, is_reached, next, only_skipped_left, reached, reasons, too_many_unavailable,
};
use super::outcome::{StepOutcome, StopReason};
use super::partition::{is_complete, own_partition_reached};
use super::slot::PodSlot;
use super::soak::NextCheck;
use super::state::State;
use super::view::finished_batch;
use crate::model::api::pod::Pod;
use crate::model::hold::plan::{BatchFailure, OnFailure, PlannedBatch, Reach};
use crate::model::kind::fields::HoldFields;
use crate::model::text::go_duration;

/// How long a pod is expected to be starting.
const YOUNG: Duration = Duration::from_secs(30);

/// Continues a batch: releases more slots, waits for their pods, lets them soak, runs the check, and records that the
/// batch is done.
pub(super) fn continue_batch(state: &State<'_>, memory: &Memory, batch: &PlannedBatch) -> Decision {
    let in_batch: Vec<_> = state.slots.iter().filter(|slot| state.is_in_batch(slot)).collect();
    let status = format!(
        "batch {}: {} of {} pods available, {} of {} unavailable",
        batch.number,
        in_batch.iter().filter(|slot| slot.is_ready()).count(),
        in_batch.len(),
        state.unavailable(),
        state.allowed(),
    );
    let mut reports = Vec::new();
    if let Some((fields, slots)) = release(state, batch, &mut reports) {
        let hold = state.hold.clone().written_at(state.now.stamp());
        let why = format!("{status}: release {slots}");
        return Decision::write_plan(
            Purpose::ReleaseSlots,
            reports,
            hold,
            Some(fields),
            state.workload(),
            why,
        );
    }
    let wave = state.kind.wave(state, batch);
    if !wave.is_empty() && is_wave_due(state, memory, &in_batch, wave.len()) {
        let why = format!("{status}: delete a wave of {} pods", wave.len());
        return Decision::new(Action::DeleteWave(wave), why);
    }
    if state.is_moving() {
        return Decision::new(Action::Wait, format!("{status}: wait"));
    }
    if let Some(decision) = decide_check(state, memory, batch.number) {
        return decision;
    }
    if !memory.soak_left(state).is_zero() {
        let soak = go_duration::write(memory.soak_length(state));
        return Decision::new(Action::Wait, format!("batch {}: it soaks for {soak}: wait", batch.number));
    }
    finish_batch(state, memory, batch)
}

/// Decides on the check of a batch whose pods are ready; none if it passed, or if there is nothing to check now.
fn decide_check(state: &State<'_>, memory: &Memory, number: usize) -> Option<Decision> {
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
fn finish_batch(state: &State<'_>, memory: &Memory, batch: &PlannedBatch) -> Decision {
    let mut plan = state.plan().clone();
    if let Some(batch) = &mut plan.last_batch {
        batch.done = true;
    }
    if plan.reach == Some(Reach::Next) {
        plan.reach = None; // the goal of the command is reached
    }
    let reports = vec![StepReport::Batch(finished_batch(state, memory, batch))];
    let why = format!("batch {}: done", batch.number);
    Decision::write_plan(Purpose::FinishBatch, reports, state.hold_with(plan), None, state.workload(), why)
}

/// Returns the fields that release as many slots of a batch as is possible now, and these slots, and reports each of them.
/// [`begin_batch`] writes the first such fields, if the controller has counted the pods, and [`continue_batch`] those for
/// the other slots.
fn release(
    state: &State<'_>,
    batch: &PlannedBatch,
    reports: &mut Vec<StepReport>,
) -> Option<(HoldFields, String)> {
    let (fields, slots) = state.kind.release(state, batch)?;
    let names = slots.join(" ");
    reports.extend(slots.into_iter().map(|slot| StepReport::Released { batch: batch.number, slot }));
    Some((fields, names))
}

/// Decides what to do between two batches: end, wait, or begin the next one.
pub(super) fn between_batches(state: &State<'_>, memory: &Memory) -> Decision {
    if memory.batch.check.is_running() && !state.is_final() {
        return Decision::new(Action::Wait, "the check of a removed batch still runs: wait");
    }
    let is_reached = is_reached(state.plan().reach, &state.slots);
    let has_finished_batch = memory.batch.is_finished_here;
    let is_left = state.slots.iter().any(PodSlot::awaits_release);
    if is_reached && is_left && (has_finished_batch || !state.is_moving()) {
        return Decision::finish(reached(state), "as many pods are updated as the command asked for: end");
    }
    if state.is_final() {
        return finish_plan(state, memory);
    }
    let next = match next(state) {
        Ok(Some(batch)) => batch,
        Ok(None) if is_reached => {
            return Decision::finish(reached(state), "no slot is left to release: end");
        }
        Ok(None) => {
            let outcome = only_skipped_left(state, has_finished_batch);
            return Decision::finish(outcome, "all that is left is skipped: end");
        }
        Err(reason) => {
            let why = match &reason {
                StopReason::OnUnreadyNode { pod, node } => {
                    format!("{pod} is next, and its node {node} is not ready: stop")
                }
                _ => "the next pod cannot be released: stop".to_owned(),
            };
            return Decision::finish(StepOutcome::Stopped(reason), why);
        }
    };
    let comes_up = |slot: &PodSlot<'_>| !slot.is_ready() && comes_up(state, memory, slot);
    let was_deleted =
        |slot: &PodSlot<'_>| !slot.is_available && memory.deleted_stuck_pods.contains(&slot.key);
    if state.required().any(comes_up) || state.slots.iter().any(|slot| was_deleted(slot) && comes_up(slot)) {
        return Decision::wait_for("the pods that are starting");
    }
    if !has_finished_batch && !state.is_moving() && !memory.soak_left(state).is_zero() {
        let soak = go_duration::write(memory.soak_length(state));
        return Decision::wait_for(format!("the released pods to be available for {soak}"));
    }
    let now = state.now.elapsed;
    match too_many_unavailable(state, &next) {
        Some(_) if memory.force => {
            let tolerated = state.unavailable_slots().map(|slot| slot.key.clone()).collect();
            Decision::new(
                Action::Tolerate(tolerated),
                "too many pods are unavailable: tolerate them (--force)",
            )
        }
        Some(_) if state.pace().on_failure == OnFailure::Undo && memory.causes.is_pending(now) => {
            Decision::wait_for("a cause to resolve, or to outlast its grace period")
        }
        Some(_) if state.unavailable_slots().any(|slot| is_starting(state, slot)) => {
            Decision::wait_for("the pods that are starting")
        }
        Some(reason) => Decision::finish(StepOutcome::Stopped(reason), "too many pods are unavailable: stop"),
        None => begin_batch(state, memory, next),
    }
}

/// Whether an unavailable pod is [`YOUNG`], or terminates and its deletion deadline has not passed. After another change of
/// the template, the pods of a batch may be replaced once more.
fn is_starting(state: &State<'_>, slot: &PodSlot<'_>) -> bool {
    let now = state.now.server_time;
    slot.pod.is_some_and(|pod| {
        !pod.terminating && is_younger(state, pod, YOUNG)
            || pod.deletion_deadline.is_some_and(|deadline| now < deadline)
    })
}

/// Whether a pod was created or updated in place less than this long ago.
fn is_younger(state: &State<'_>, pod: &Pod, than: Duration) -> bool {
    let age = pod.updated_at().map(|since| state.now.server_time.duration_since(since));
    age.is_some_and(|age| age < than.try_into().unwrap_or_default())
}

/// Whether a released pod that is not ready is still young enough to become ready.
fn comes_up(state: &State<'_>, memory: &Memory, slot: &PodSlot<'_>) -> bool {
    let patience = state.pace().batch_timeout;
    let is_young = slot.pod.is_none_or(|pod| pod.terminating || is_younger(state, pod, patience));
    let is_hopeless = fatal_cause(state, memory).is_some();
    (is_young || slot.awaits_deletion) && !is_hopeless && !memory.batch.progress.is_over(patience)
}

/// Stores the next batch. If fields release slots, the same patch releases as many as possible, and [`continue_batch`] the
/// rest.
fn begin_batch(state: &State<'_>, memory: &Memory, next: PlannedBatch) -> Decision {
    let mut plan = state.plan().clone();
    let mut reports = Vec::new();
    match plan.last_batch.take() {
        Some(_) if is_back_to_canary(state) => {
            plan.batch_sizes.clear();
            reports.push(StepReport::BackToCanary);
        }
        Some(before) => {
            reports.extend(gone_batch(state, memory));
            plan.batch_sizes.push(before.slots.len());
        }
        None => {}
    }
    let fields = release(state, &next, &mut reports).map(|(fields, _)| fields);
    let why = format!("batch {}: begin it with {}", next.number, next.slots.join(" "));
    plan.last_batch = Some(next);
    Decision::write_plan(Purpose::BeginBatch, reports, state.hold_with(plan), fields, state.workload(), why)
}

/// Decides after the last batch: waits for the final soak, then restores the original fields. The controller of a
/// Deployment can complete the update only afterwards, and
/// [`await_completion`](super::reconcile::await_completion) waits for it; of any other kind it is awaited before.
fn finish_plan(state: &State<'_>, memory: &Memory) -> Decision {
    if state.is_moving() {
        let failure = state.plan().last_batch.as_ref().map(|last| decide_failure(state, memory, last));
        return match failure {
            Some(Some(failure)) => failure,
            None if state.required().any(|slot| !slot.is_ready() && !comes_up(state, memory, slot)) => {
                let missing = state.required().filter(|slot| !slot.is_ready());
                let pods = reasons(missing, state);
                let reason = StopReason::Unhealthy { pods, allowed: state.allowed() };
                Decision::finish(StepOutcome::Stopped(reason), "a released pod stays unavailable: stop")
            }
            _ => Decision::new(Action::Wait, "every pod is released, and one is not ready: wait"),
        };
    }
    if memory.batch.check.is_running() {
        return Decision::new(Action::Wait, "every batch is done, and the check runs: wait");
    }
    if let Some(decision) = check_final_soak(state, memory) {
        return decision;
    }
    if !memory.soak_left(state).is_zero() {
        let soak = go_duration::write(memory.soak_length(state));
        return Decision::new(Action::Wait, format!("every batch is done, and all soak for {soak}: wait"));
    }
    if state.slots.iter().any(|slot| slot.is_not_selected() || slot.is_outdated()) {
        return Decision::finish(
            only_skipped_left(state, memory.batch.is_finished_here),
            "all that is left is skipped: end",
        );
    }
    let is_completed_later = state.workload().is_completion_blocked_by_hold();
    if is_completed_later || is_complete(state) {
        let why = "every pod is updated: restore the original strategy";
        let reports = gone_batch(state, memory).into_iter().collect();
        let outcome = own_partition_reached(state).map_or(StepOutcome::Complete, StepOutcome::Stopped);
        let limit = state.pace().batch_timeout;
        let purpose =
            if is_completed_later { Purpose::CompletePlan { limit } } else { Purpose::EndPlan(outcome) };
        return Decision::end_plan(purpose, state.hold, state.workload(), reports, why);
    }
    match state.ignored_nodes() {
        nodes if nodes.is_empty() => Decision::wait_for("the controller to report the update as complete"),
        nodes => {
            let why = "the controller waits for pods on ignored nodes: stop";
            Decision::finish(StepOutcome::Stopped(StopReason::OnUnreadyNodes(nodes)), why)
        }
    }
}

/// Decides on the check during the final soak, for a check that watches. Then the last batch fails.
fn check_final_soak(state: &State<'_>, memory: &Memory) -> Option<Decision> {
    let pace = state.pace();
    let watches =
        pace.check.as_ref().is_some_and(|check| check.watch.is_some()) && !pace.final_soak.is_zero();
    let last = state.plan().last_batch.as_ref().filter(|_| watches)?;
    decide_check(state, memory, last.number)
}

/// Reports a batch as done whose nodes all left the cluster. No write records that.
fn gone_batch(state: &State<'_>, memory: &Memory) -> Option<StepReport> {
    let gone = state.plan().batch_in_progress()?;
    Some(StepReport::Batch(finished_batch(state, memory, gone)))
}
