//! Decides what `step` does next, from the plan, an observation and the timers. A pure function.

use super::acquire::acquire;
use super::action::{Action, Decision};
use super::batch_in_progress::{failed, in_batch};
use super::between_batches::between_batches;
use super::completing::continue_completing;
use super::lease_upkeep::release_lease;
use super::outcome::{BatchFailure, RollbackOutcome, StepOutcome, StopReason};
use super::rollback::{continue_rollback, roll_back};
use super::situation::{Situation, StepCommand};
use super::state::PlanState;
use super::timers::Timers;
use crate::error::{Error, ErrorKind};
use crate::model::change::plan::OnFailure;
use crate::model::follow::PodRef;
use crate::model::workload::Workload;

/// Decides what to do next. The first rule that applies wins:
///
/// 1. The command has its outcome: release the lease.
/// 2. The workload is being deleted: stop, because its controller replaces no pod any more.
/// 3. This process never acquired the lease: [acquire] it, wait for it, or end.
/// 4. Another client changed the template, the strategy or the annotation: stop.
/// 5. The plan cannot be read: wait.
/// 6. The last batch is done and the user's strategy is back: [wait](continue_completing) until the rollout is complete.
/// 7. The plan is rolling back: [continue](continue_rollback) that.
/// 8. A batch failed: hold, or [roll back](roll_back).
/// 9. The pods cannot be read: wait.
/// 10. The batch has a fatal cause, or is past its timeout: it fails.
/// 11. The controller has not observed the last change: wait.
/// 12. The controller waits for a broken pod that it does not replace: delete it.
/// 13. A batch is in progress: [continue](in_batch) it.
/// 14. Otherwise: [end, or begin the next batch](between_batches).
///
/// Every patch renews the lease. When there is nothing else to write, [`renewal`](super::lease_upkeep::renewal) renews it.
pub(super) fn reconcile(command: &StepCommand, situation: &Situation<'_>, timers: &Timers) -> Decision {
    let holder = &command.identity.holder;
    if let Some(leaving) = &timers.leaving {
        // Its release of the lease failed, because another client ended the hold meanwhile.
        if matches!(leaving.outcome, StepOutcome::Reached { .. })
            && let Some(reason @ StopReason::Changed { .. }) =
                timers.ownership.external_change(situation.observed, holder)
        {
            return stop(situation, timers, reason);
        }
        return release_lease(situation, holder, leaving);
    }
    if let Some(error) = being_deleted(&situation.observed.workload) {
        let outcome = cut_short(timers, "it is being deleted".to_owned(), StepOutcome::Error(error));
        return Decision::finish(outcome, "the workload is being deleted: stop");
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
    if record.plan.is_completing() {
        return continue_completing(&state);
    }
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
    if let Some(pod) = timers.stuck_pods.next(situation.observed) {
        let why = format!("{} is broken, and the controller waits for it: delete it", pod.name);
        return Decision::new(Action::DeleteStuckPod(PodRef::of(pod)), why);
    }
    match state.batch() {
        Some(batch) => in_batch(&state, batch),
        None => between_batches(&state),
    }
}

/// Returns the error for a workload that is being deleted.
fn being_deleted(workload: &Workload) -> Option<Error> {
    let sentence = workload.deletion_sentence()? + "; no more pods are released";
    Some(Error::new(ErrorKind::Refused, sentence))
}

/// Stops the plan after an external change.
fn stop(situation: &Situation<'_>, timers: &Timers, reason: StopReason) -> Decision {
    let workload = &situation.observed.workload;
    let why = match &reason {
        StopReason::Paused => "the plan was paused meanwhile".to_owned(),
        StopReason::LeaseLost { by } => {
            format!("{} took it over", by.as_deref().unwrap_or("another process"))
        }
        _ if situation.record.is_some_and(|record| !record.plan.is_for_live_template(workload)) => {
            "another client changed the template meanwhile".to_owned()
        }
        _ => "another client changed the strategy or the annotation meanwhile".to_owned(),
    };
    let outcome = cut_short(timers, why, StepOutcome::Stopped(reason));
    Decision::finish(outcome, "another client changed the workload: stop")
}

/// Returns the outcome of a command that must stop: that of its rollback, if a batch failed before.
fn cut_short(timers: &Timers, why: String, outcome: StepOutcome) -> StepOutcome {
    match (timers.rollback.revision.clone(), timers.failure.clone()) {
        (Some(revision), failure) => StepOutcome::Failed {
            failure: failure.unwrap_or(BatchFailure::Earlier),
            rollback: Some(RollbackOutcome::Unfinished { revision, why }),
        },
        (None, Some(failure)) => {
            StepOutcome::Failed { failure, rollback: Some(RollbackOutcome::NotStarted(why)) }
        }
        (None, None) => outcome,
    }
}

/// Decides after a failed batch: hold, or roll back.
fn after_failure(state: &PlanState<'_>, failure: &BatchFailure) -> Decision {
    match state.pace().on_failure {
        OnFailure::Undo => roll_back(state, failure),
        OnFailure::Hold => {
            let outcome = StepOutcome::Failed { failure: failure.clone(), rollback: None };
            Decision::finish(outcome, "the batch failed: hold")
        }
    }
}
