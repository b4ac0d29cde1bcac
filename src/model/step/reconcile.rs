//! The heart of `step`: decides what to do next from the plan, an observation and the timers.

use std::time::Duration;

use super::acquire::acquire;
use super::action::{Action, Command, Decision, Purpose, Situation};
use super::batches::{self, Next};
use super::causes::{GRACE, reasons};
use super::kind::Release;
use super::outcome::{BatchFailure, RollbackOutcome, StepOutcome, StopReason};
use super::preview::finished_batch;
use super::report::StepReport;
use super::rollback::{continue_rollback, roll_back};
use super::slot::PodSlot;
use super::state::PlanState;
use super::task::CheckResult;
use super::timers::{CheckState, Leaving, Timers};
use crate::model::change::hold::{BatchRecord, OnFailure, PlanRecord, RENEW_EVERY, Reach};
use crate::model::follow::PodRef;
use crate::model::status::cause::CauseId;
use crate::model::text::go_duration;

/// How long a wave waits to become larger, so that the number of reads grows with the waves and not with the pods.
pub(super) const WAVE_PAUSE: Duration = Duration::from_secs(10);

/// Decides what to do next. The first rule that applies wins:
///
/// 1. The command has its outcome: release the lease.
/// 2. This process never acquired the lease: [acquire] it, wait for it, or end.
/// 3. Another client changed the template, the strategy or the annotation: stop.
/// 4. The plan is rolling back: [continue](continue_rollback) that.
/// 5. A batch failed: hold, or [roll back](roll_back).
/// 6. The pods cannot be read: wait.
/// 7. The batch has a fatal cause, or is past its timeout: it fails.
/// 8. The controller has not observed the last change: wait.
/// 9. The controller waits for a broken pod that it does not replace (design rule 14): delete it.
/// 10. A batch is under way: [continue](in_batch) it.
/// 11. Otherwise: [end, or begin the next batch](between_batches).
///
/// Every patch renews the lease. While there is none to write, [`renewal`] does.
pub(super) fn reconcile(command: &Command, situation: &Situation<'_>, timers: &Timers) -> Decision {
    let holder = &command.identity.holder;
    if let Some(leaving) = &timers.leaving {
        return release_lease(situation, holder, leaving);
    }
    if !timers.ownership.has_acquired() {
        return acquire(command, situation, timers);
    }
    if let Some(reason) = timers.ownership.external_change(situation.observed, holder) {
        return stop(situation, timers, reason);
    }
    let (Some(record), Some(state)) = (situation.record, situation.state(timers)) else {
        return Decision::wait_for("the plan to be readable");
    };
    if record.plan.is_rolling_back() {
        return continue_rollback(&state);
    }
    if let Some(failure) = &timers.failure {
        return after_failure(&state, failure);
    }
    if situation.observed.pods.is_none() {
        return Decision::wait_for("the pods to be readable again");
    }
    if let Some(batch) = state.batch()
        && let Some(decision) = failed(&state, batch)
    {
        return decision;
    }
    if !situation.is_observed() {
        return Decision::wait_for("the controller to observe the change");
    }
    if let Some(pod) = timers.healing.next(situation.observed) {
        let why = format!("{} is broken, and the controller waits for it: delete it", pod.name);
        return Decision::new(Action::DeleteStuckPod(PodRef::of(pod)), why);
    }
    match state.batch() {
        Some(batch) => in_batch(&state, batch),
        None => between_batches(&state),
    }
}

/// Renews the lease if it is due, and no other client changed what the plan relies on: a patch over an external change
/// would make it look like ours.
pub(super) fn renewal(command: &Command, situation: &Situation<'_>, timers: &Timers) -> Option<Decision> {
    let is_ours = timers.ownership.has_acquired() && timers.leaving.is_none();
    let is_due = timers.renewed.is_none_or(|renewed| situation.now.elapsed >= renewed + RENEW_EVERY);
    let record = situation.record.filter(|_| is_ours && is_due)?;
    if timers.ownership.external_change(situation.observed, &command.identity.holder).is_some() {
        return None;
    }
    let patch = record.renewed(situation.now.stamp()).patch(&situation.observed.workload, None);
    Some(Decision::write(Purpose::RenewLease, patch, Vec::new(), "the lease is due: renew it"))
}

/// Releases the lease, so that the next process need not wait for it to expire.
fn release_lease(situation: &Situation<'_>, holder: &str, leaving: &Leaving) -> Decision {
    let is_ours = |record: &&PlanRecord| record.lease.as_ref().is_some_and(|lease| lease.holder == holder);
    let Some(record) = situation.record.filter(is_ours) else {
        return Decision::new(Action::End(leaving.outcome.clone()), "the lease is released: end");
    };
    let mut record = record.clone();
    record.lease = None;
    if matches!(leaving.outcome, StepOutcome::Reached { .. }) {
        record.plan.reach = None;
    }
    let patch = record.patch(&situation.observed.workload, None);
    Decision::write(Purpose::ReleaseLease, patch, Vec::new(), "the command ends: release the lease")
}

/// Another client changed what the plan relies on.
fn stop(situation: &Situation<'_>, timers: &Timers, reason: StopReason) -> Decision {
    let workload = &situation.observed.workload;
    let why = match &reason {
        StopReason::Paused => "the plan was paused meanwhile".to_owned(),
        StopReason::LeaseLost { by } => {
            format!("{} took it over", by.as_deref().unwrap_or("another process"))
        }
        _ if situation.record.is_some_and(|record| !record.is_for(workload)) => {
            "another client changed the template meanwhile".to_owned()
        }
        _ => "another client changed the strategy or the annotation meanwhile".to_owned(),
    };
    let outcome = match (timers.rollback.revision.clone(), timers.failure.clone()) {
        (Some(revision), failure) => StepOutcome::Failed {
            failure: failure.unwrap_or(BatchFailure::Earlier),
            rollback: Some(RollbackOutcome::Unfinished { revision, why }),
        },
        (None, Some(failure)) => {
            StepOutcome::Failed { failure, rollback: Some(RollbackOutcome::NotStarted(why)) }
        }
        (None, None) => StepOutcome::Stopped(reason),
    };
    Decision::finish(outcome, "another client changed the workload: stop")
}

/// A batch failed: hold everything as it is, or roll back.
fn after_failure(state: &PlanState<'_>, failure: &BatchFailure) -> Decision {
    match state.pace().on_failure {
        OnFailure::Undo => roll_back(state, failure),
        OnFailure::Hold => {
            let outcome = StepOutcome::Failed { failure: failure.clone(), rollback: None };
            Decision::finish(outcome, "the batch failed: hold")
        }
    }
}

/// Whether the batch that began last has failed: it has a fatal cause, or is past its timeout.
fn failed(state: &PlanState<'_>, batch: &BatchRecord) -> Option<Decision> {
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

/// A fatal cause of a pod that is required, or of no pod, such as a quota.
fn fatal_cause(state: &PlanState<'_>) -> Option<(CauseId, Vec<String>)> {
    let is_required =
        |name: &String| state.required().any(|slot| slot.pod.is_some_and(|pod| pod.name == *name));
    let mut fatal = state.timers.causes.fatal(state.observation().now.elapsed);
    fatal.find(|(_, pods)| pods.is_empty() || pods.iter().any(is_required))
}

/// A batch is past its timeout. Only a pod that was replaced can have failed it. As long as none was, other
/// unavailable pods may leave no room for it, which says nothing about the new revision.
fn past_timeout(state: &PlanState<'_>, batch: usize) -> Decision {
    let after = state.pace().batch_timeout;
    let names =
        |slots: Vec<&PodSlot<'_>>| slots.into_iter().map(PodSlot::label).collect::<Vec<_>>();
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
        let pods = reasons(others, state.observation());
        let outcome = StepOutcome::Stopped(StopReason::Unhealthy { pods, allowed: state.allowed() });
        return Decision::finish(outcome, format!("{why}, for pods of no batch: stop"));
    }
    let waiting = state.all().iter().filter(|slot| state.is_awaited(slot)).collect();
    Decision::new(Action::Fail(BatchFailure::NotReplaced { batch, after, pods: names(waiting) }), why)
}

/// Continues a batch: releases more of it, waits for its pods, lets them soak, checks them, and records that it
/// is done.
fn in_batch(state: &PlanState<'_>, batch: &BatchRecord) -> Decision {
    let observation = state.observation();
    let in_batch: Vec<_> = state.all().iter().filter(|slot| state.is_in_batch(slot)).collect();
    let status = format!(
        "batch {}: {} of {} pods available, {} of {} unavailable",
        batch.number,
        in_batch.iter().filter(|slot| slot.is_ready()).count(),
        in_batch.len(),
        state.unavailable(),
        state.allowed(),
    );
    match state.slots.kind.release(observation, state.all(), batch, state.free()) {
        Some(Release::Strategy { set, slots }) => {
            let record = observation.record.renewed(observation.now.stamp());
            let patch = record.patch(&observation.observed.workload, Some(set));
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

/// Whether a wave is large enough to be worth another read: half of what may be unavailable, or all that is left
/// of the batch. A smaller one waits for a moment.
fn is_wave_due(state: &PlanState<'_>, in_batch: &[&PodSlot<'_>], size: usize) -> bool {
    let left = in_batch.iter().filter(|slot| !slot.is_released && slot.unready_node.is_none()).count();
    let is_large = size >= left.min(state.allowed().div_ceil(2));
    let now = state.observation().now.elapsed;
    is_large || state.timers.last_wave.is_none_or(|last| now >= last + WAVE_PAUSE)
}

/// Records that the batch soaked and passed its check.
fn finish_batch(state: &PlanState<'_>, batch: &BatchRecord) -> Decision {
    let observation = state.observation();
    let mut record = observation.record.renewed(observation.now.stamp());
    if let Some(batch) = &mut record.plan.batch {
        batch.done = true;
    }
    if record.plan.reach == Some(Reach::Next) {
        record.plan.reach = None; // the command went as far as it was asked to
    }
    let patch = record.patch(&observation.observed.workload, None);
    let reports = vec![StepReport::Batch(finished_batch(state, batch))];
    Decision::write(Purpose::FinishBatch, patch, reports, format!("batch {}: done", batch.number))
}

/// Decides what to do while no batch is under way: end, wait, or begin the next batch.
pub(super) fn between_batches(state: &PlanState<'_>) -> Decision {
    let timers = state.timers;
    if matches!(timers.check, CheckState::Running(_)) {
        return Decision::new(Action::Wait, "the check of a batch that is gone still runs: wait");
    }
    let is_reached = batches::is_reached(state.plan().reach, state.all());
    let has_finished_batch = timers.has_finished_batch;
    let is_left = state.all().iter().any(PodSlot::awaits_release);
    if is_reached && is_left && (has_finished_batch || !state.is_moving()) {
        return Decision::finish(state.reached(), "as many pods are updated as the command asked for: end");
    }
    if state.is_final() {
        return finish_plan(state);
    }
    let next = match state.next() {
        Next::Batch(batch) => batch,
        Next::Blocked { pod, node } => {
            let why = format!("{pod} is next, and its node {node} is not ready: stop");
            return Decision::finish(StepOutcome::Stopped(StopReason::OnUnreadyNode { pod, node }), why);
        }
        Next::Nothing if is_reached => return Decision::finish(state.reached(), "nothing is left: end"),
        Next::Nothing => {
            return Decision::finish(state.only_skipped_left(), "all that is left is skipped: end");
        }
    };
    let comes_up = |slot: &PodSlot<'_>| !slot.is_ready() && comes_up(state, slot);
    let was_deleted = |slot: &PodSlot<'_>| !slot.is_available && timers.replaced.contains(&slot.name);
    if state.required().any(comes_up) || state.all().iter().any(|slot| was_deleted(slot) && comes_up(slot)) {
        return Decision::wait_for("the pods that are starting");
    }
    if !has_finished_batch && !state.is_moving() && !state.soak_left().is_zero() {
        let soak = go_duration::write(state.soak());
        return Decision::wait_for(format!("the released pods to be available for {soak}"));
    }
    match too_many_unavailable(state, &next) {
        Some(_) if timers.force => {
            let excused = state.unavailable_slots().map(|slot| slot.name.clone()).collect();
            Decision::new(Action::Excuse(excused), "too many pods are unavailable: excuse them (--force)")
        }
        Some(_) if state.unavailable_slots().any(|slot| is_starting(state, slot)) => {
            Decision::wait_for("the pods that are starting")
        }
        Some(reason) => Decision::finish(StepOutcome::Stopped(reason), "too many pods are unavailable: stop"),
        None => begin_batch(state, next),
    }
}

/// Returns why the next batch may not begin: its first pod would make too many unavailable.
pub(super) fn too_many_unavailable(state: &PlanState<'_>, next: &BatchRecord) -> Option<StopReason> {
    let first = state.all().iter().find(|slot| next.slots.contains(&slot.name))?;
    let can_release = state.slots.kind.can_release(state.observation(), state.all(), first, state.free());
    let allowed = state.allowed();
    (!can_release).then(|| {
        let pods = reasons(state.unavailable_slots(), state.observation());
        StopReason::Unhealthy { pods, allowed }
    })
}

/// Whether an unavailable pod was created a moment ago, or is within its grace period: another client may have changed the template of
/// a batch, and its pods are being replaced once more.
fn is_starting(state: &PlanState<'_>, slot: &PodSlot<'_>) -> bool {
    let now = state.observation().now.server_time;
    slot.pod.is_some_and(|pod| {
        let age = pod.created.map(|created| now.duration_since(created));
        let is_young = age.is_some_and(|age| age < GRACE.try_into().unwrap_or_default());
        !pod.terminating && is_young || pod.deletion_deadline.is_some_and(|deadline| now < deadline)
    })
}

/// Whether a released pod that is not ready becomes ready without help, as far as its age tells.
fn comes_up(state: &PlanState<'_>, slot: &PodSlot<'_>) -> bool {
    let patience = state.pace().batch_timeout;
    let is_young = slot.pod.is_none_or(|pod| {
        let age = pod.created.map(|created| state.observation().now.server_time.duration_since(created));
        pod.terminating || age.is_some_and(|age| age < patience.try_into().unwrap_or_default())
    });
    let is_hopeless = fatal_cause(state).is_some();
    (is_young || slot.awaits_deletion) && !is_hopeless && !state.timers.progress.is_over(patience)
}

/// Stores the next batch, and releases as many of its slots as may be in the same patch, where another strategy
/// releases them.
fn begin_batch(state: &PlanState<'_>, next: BatchRecord) -> Decision {
    let observation = state.observation();
    let mut record = observation.record.renewed(observation.now.stamp());
    let mut reports = Vec::new();
    match record.plan.batch.take() {
        Some(_) if state.is_back_to_canary() => {
            record.plan.batch_sizes.clear();
            reports.push(StepReport::BackToCanary);
        }
        Some(before) => record.plan.batch_sizes.push(before.slots.len()),
        None => {}
    }
    let set = match state.slots.kind.release(observation, state.all(), &next, state.free()) {
        Some(Release::Strategy { set, slots }) => {
            reports.extend(released(next.number, slots));
            Some(set)
        }
        _ => None,
    };
    let why = format!("batch {}: begin it with {}", next.number, next.slots.join(" "));
    record.plan.batch = Some(next);
    Decision::write(Purpose::BeginBatch, record.patch(&observation.observed.workload, set), reports, why)
}

/// Every slot is released and every batch is done: the final soak, the controller's word that the update is
/// complete, and the original strategy.
fn finish_plan(state: &PlanState<'_>) -> Decision {
    let observation = state.observation();
    if state.is_moving() {
        let failure = state.plan().batch.as_ref().map(|last| failed(state, last));
        return match failure {
            Some(Some(failure)) => failure,
            None if state.required().any(|slot| !slot.is_ready() && !comes_up(state, slot)) => {
                let missing = state.required().filter(|slot| !slot.is_ready());
                let pods = reasons(missing, observation);
                let reason = StopReason::Unhealthy { pods, allowed: state.allowed() };
                Decision::finish(StepOutcome::Stopped(reason), "a released pod stays unavailable: stop")
            }
            _ => Decision::new(Action::Wait, "every pod is released, and one is not ready: wait"),
        };
    }
    if !state.soak_left().is_zero() {
        let soak = go_duration::write(state.soak());
        return Decision::new(Action::Wait, format!("every batch is done, and all soak for {soak}: wait"));
    }
    if state.all().iter().any(|slot| slot.is_not_selected() || slot.is_outdated()) {
        return Decision::finish(state.only_skipped_left(), "all that is left is skipped: end");
    }
    if state.slots.kind.is_complete(observation) {
        let patch = observation.record.ending(&observation.observed.workload);
        let why = "the update is complete: restore the original strategy";
        return Decision::write(Purpose::EndPlan(StepOutcome::Complete), patch, Vec::new(), why);
    }
    match state.ignored_nodes() {
        nodes if nodes.is_empty() => Decision::wait_for("the controller to report the update as complete"),
        nodes => {
            let why = "the controller waits for pods on nodes that are ignored: stop";
            Decision::finish(StepOutcome::Stopped(StopReason::OnUnreadyNodes(nodes)), why)
        }
    }
}

fn released(batch: usize, slots: Vec<String>) -> Vec<StepReport> {
    slots.into_iter().map(|slot| StepReport::Released { batch, slot }).collect()
}
