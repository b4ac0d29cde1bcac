//! Rolls the released pods back to the stable revision of the plan.
//!
//! The same code serves `--on-failure undo`, `undo` of a plan, and pods below the original partition. See
//! [`PartitionRollback`](crate::model::change::plan::PartitionRollback) for the annotation during a rollback.

use super::action::{Action, Decision, Purpose};
use super::outcome::{BatchFailure, RollbackOutcome, StepOutcome};
use super::report::StepReport;
use super::slot::PlanContext;
use super::state::PlanState;
use crate::model::api::pod::Pod;
use crate::model::change::patch::FieldPath;
use crate::model::change::plan::HOLD_ANNOTATION;
use crate::model::change::undo::{Undo, UndoOptions, is_live, undo};
use crate::model::follow::PodRef;
use crate::model::revision::Revision;
use crate::model::status::observation::Observation;
use crate::model::workload::strategy;

const ON_DELETE: &str = "the original strategy is OnDelete, so each pod is rolled back when it is deleted";

/// Writes the template of the stable revision. The same patch restores the original strategy, unless pods below the
/// original partition must be rolled back too.
pub(super) fn roll_back(state: &PlanState<'_>, failure: &BatchFailure) -> Decision {
    let not_started = |why: String| {
        let rollback = Some(RollbackOutcome::NotStarted(why));
        Decision::finish(
            StepOutcome::Failed { failure: failure.clone(), rollback },
            "the rollback cannot begin",
        )
    };
    if let Some(why) = &state.timers.rollback.blocked {
        return not_started(why.clone());
    }
    let context = state.context();
    let (observed, workload) = (context.observed, context.workload());
    let record = context.record.renewed(context.now.stamp());
    let Some(from) = &record.plan.from else {
        return not_started("it is not known which revision served when the plan began".to_owned());
    };
    let before = observed.revisions.iter().find(|one| one.name == *from);
    let Some(before) = before.filter(|before| !is_live(observed, before)) else {
        return not_started("the stable revision is not stored any more".to_owned());
    };
    let held = record.rolling_back_held(workload, &before.digest);
    let options = UndoOptions { keep_hold: held.is_some(), ..UndoOptions::default() };
    let mut patch = match undo(observed, before, &options) {
        Ok(Undo { patch, .. }) => patch,
        Err(error) => return not_started(error.sentence()),
    };
    let reports = vec![StepReport::RollingBack { revision: before.label() }];
    let why = format!("the batch failed: roll back to revision {}", before.label());
    let is_on_delete = record.hold.original().is_some_and(strategy::is_on_delete_strategy);
    if is_on_delete && held.is_none() {
        let rollback = RollbackOutcome::Unfinished { revision: before.label(), why: ON_DELETE.to_owned() };
        let outcome = StepOutcome::Failed { failure: failure.clone(), rollback: Some(rollback) };
        return Decision::write(Purpose::EndPlan(outcome), patch, reports, why);
    }
    if let Some(held) = held.as_ref().filter(|held| held.hold.set() != record.hold.set()) {
        held.hold.hold_by(workload, &mut patch);
    }
    let record = held.unwrap_or_else(|| record.rolling_back_freely(&before.digest));
    patch.set(FieldPath::annotation(HOLD_ANNOTATION), record.to_hold().annotation().into());
    Decision::write(Purpose::RollBack, patch, reports, why)
}

/// Waits until all pods are rolled back, deletes stuck pods, and ends the plan.
pub(super) fn continue_rollback(state: &PlanState<'_>) -> Decision {
    let (context, timers) = (state.context(), state.timers);
    let (observed, workload) = (context.observed, context.workload());
    // The controller gives the revision a new number, but the rollback was reported with this label.
    let reported = timers.rollback.revision.clone();
    let revision = reported.or(context.current().map(Revision::label)).unwrap_or_default();
    let failure = timers.failure.clone().unwrap_or(BatchFailure::Earlier);
    let outcome = |rollback| StepOutcome::Failed { failure: failure.clone(), rollback: Some(rollback) };
    let unfinished = |why: &str| {
        let rollback = RollbackOutcome::Unfinished { revision: revision.clone(), why: why.to_owned() };
        Decision::finish(outcome(rollback), format!("the rollback is not complete: {why}"))
    };
    if let Some(why) = &timers.rollback.blocked {
        return unfinished(why);
    }
    if strategy::is_on_delete(workload) {
        return unfinished(ON_DELETE);
    }
    let returned = Returned::of(context);
    let is_complete = returned.is_all && observed.is_observed();
    let is_held = context.record.hold.is_in_force(workload);
    if is_complete && (!is_held || is_settled(observed)) {
        let outcome = outcome(RollbackOutcome::Done { revision: revision.clone() });
        let mut record = context.record.clone();
        if is_held {
            // A rollback without a hold was not paused either, since the controller moved its pods.
            record.hold = record.hold.without_pause(workload);
        }
        let patch = record.ending(workload);
        return Decision::write(
            Purpose::EndPlan(outcome),
            patch,
            Vec::new(),
            "every pod is back: end the plan",
        );
    }
    let limit = state.pace().batch_timeout;
    if timers.rollback.since.is_some_and(|since| context.now.elapsed >= since.saturating_add(limit)) {
        let not_current = "the controller does not report the revision as the current one";
        return unfinished(if is_complete { not_current } else { "its pods are not back in time" });
    }
    let why = format!("rolling back to revision {revision}: {} pods are back", returned.count);
    match timers.stuck_pods.next(observed) {
        Some(pod) => Decision::new(Action::DeleteStuckPod(PodRef::of(pod)), why),
        None => Decision::new(Action::Wait, format!("{why}: wait")),
    }
}

/// The released pods that run the live template again and are available.
pub(super) struct Returned {
    pub(super) count: usize,
    is_all: bool,
}

impl Returned {
    pub(super) fn of(context: &PlanContext<'_>) -> Self {
        let observed = context.observed;
        let workload = &observed.workload;
        let is_back = |pod: &&Pod| context.is_updated(pod) && context.is_available(pod);
        let partition = strategy::partition(workload);
        let is_released = |pod: &&Pod| {
            strategy::partition_index(workload, &pod.name).is_none_or(|index| index >= partition)
        };
        let pods = observed.own_pods().filter(|pod| !pod.has_ended());
        let (back, others): (Vec<&Pod>, Vec<&Pod>) = pods.filter(is_released).partition(is_back);
        let wanted = workload.wanted() - partition.min(workload.wanted());
        let is_enough = i64::try_from(back.len()).is_ok_and(|back| back >= wanted);
        Self { count: back.len(), is_all: others.is_empty() && is_enough }
    }
}

/// Whether the controller reports the revision as the current one. The plan may have made the failed revision current,
/// and below a partition the controller creates pods from the current revision.
fn is_settled(observed: &Observation) -> bool {
    let workload = &observed.workload;
    let Some(live) = observed.revisions.current() else { return false };
    let is_whole = observed.own_pods().all(|pod| workload.runs(pod, live));
    !is_whole || workload.is_update_reported_stable()
}
