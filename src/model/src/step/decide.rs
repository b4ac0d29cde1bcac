//! Decides what `step` does next, from the plan, an observation and the memory. A pure function.

use super::batch::{between_batches, continue_batch};
use super::failure::{continue_rollback, decide_failure, decide_late_failure, roll_back};
use super::mechanism_of;
use super::memory::Memory;
use super::outcome::{RollbackOutcome, StepOutcome, StopReason};
use super::ownership::LockState;
use super::request::{Request, Step, StepOptions, Then};
use super::start::acquire;
use super::world::World;
use crate::engine::{Now, PodRef};
use crate::error::{Error, ErrorKind};
use crate::hold::left_fields;
use crate::hold::mechanism::State;
use crate::hold::plan::{BatchFailure, Hold, OnFailure};
use crate::kind::Workload;
use crate::kind::verdict::RolloutState;
use crate::observation::Observation;
use crate::status::verdict;

/// Decides what to do next, on the plan in the annotation, if it is readable. A command that has its outcome releases its lock.
/// Otherwise the first rule that applies wins:
///
/// 1. The workload is being deleted: stop, because its controller replaces no pod any more.
/// 2. This process never acquired the lock: [acquire] it, or end.
/// 3. Another client changed the template, the strategy or the annotation: stop.
/// 4. The plan cannot be read: wait.
/// 5. The plan is rolling back: [continue](continue_rollback) that.
/// 6. A batch failed: hold, or [roll back](roll_back).
/// 7. The pods cannot be read: wait.
/// 8. The batch has a fatal cause, or is past its timeout: it fails, or stops for pods of no batch. With `--on-failure undo`
///    updated pods fail outside a batch too.
/// 9. The controller has not observed the last change: wait.
/// 10. The workload is scaled to 0 replicas: stop, and keep the hold.
/// 11. The controller waits for a broken pod that it does not replace: delete it, once nothing else moves.
/// 12. A batch is in progress: [continue](continue_batch) it.
/// 13. Otherwise: [end, or begin the next batch](between_batches).
pub(super) fn decide(
    cluster: &World,
    state: Option<&State<'_>>,
    memory: &Memory,
    options: &StepOptions,
    now: Now,
) -> Step {
    if let LockState::Releasing { outcome, .. } = &memory.ownership.lock {
        return unlock(cluster, outcome, memory);
    }
    let Some(observed) = cluster.observed() else { return Step::wait_for("the workload to be readable") };
    if let Some(error) = being_deleted(&observed.workload) {
        return Step::End(cut_short(memory, "it is being deleted".to_owned(), StepOutcome::Error(error)));
    }
    if !memory.ownership.is_stepping() {
        return acquire(options, cluster, observed, memory, now);
    }
    if let Some(reason) = memory.ownership.external_change(observed) {
        return stop_after_change(cluster, memory, reason);
    }
    let Some(state) = state else {
        return match mechanism_of(&observed.workload) {
            // Never: what this process stored is readable, and another annotation is an external change.
            Ok(_) => Step::wait_for("the plan to be readable"),
            // Another client scaled it beyond what `step` works with.
            Err(error) => Step::End(cut_short(memory, error.to_string(), StepOutcome::Error(error))),
        };
    };
    if state.plan.rolling_back {
        return continue_rollback(state, memory);
    }
    if let Some(failure) = &memory.rollback.failure {
        return after_failure(state, memory, failure);
    }
    if observed.pods.is_none() {
        return Step::wait_for("the pods to be readable again");
    }
    let failure = state
        .present_batch
        .map_or_else(|| decide_late_failure(state, memory), |batch| decide_failure(state, memory, batch));
    if let Some(step) = failure {
        return step;
    }
    if !state.is_change_observed() {
        return Step::wait_for("the controller to observe the change");
    }
    if state.has_no_replicas() {
        return Step::stop(StopReason::NoReplicas);
    }
    if let Some(pod) = memory.stuck_pods.next(observed, now.elapsed) {
        return Step::Ask(Request::DeleteStuck(PodRef::of(pod)));
    }
    if memory.stuck_pods.due().is_some() {
        return Step::Wait(None); // a stuck pod is deleted once nothing moves
    }
    match state.present_batch {
        Some(batch) => continue_batch(state, memory, batch),
        None => between_batches(state, memory),
    }
}

/// Returns the error for a workload that is being deleted.
fn being_deleted(workload: &Workload) -> Option<Error> {
    let sentence = workload.deletion_sentence()? + "; no more pods are released";
    Some(Error::new(ErrorKind::Refused, sentence))
}

/// Stops the plan after an external change.
fn stop_after_change(cluster: &World, memory: &Memory, reason: StopReason) -> Step {
    let workload = cluster.workload();
    let why = match &reason {
        StopReason::Paused => "the plan was paused meanwhile".to_owned(),
        StopReason::TakenOver { by } => {
            format!("{} took it over", by.as_deref().unwrap_or("another process"))
        }
        _ if cluster.hold().is_some_and(|hold| !hold.is_for_live_template(workload)) => {
            "another client changed the template meanwhile".to_owned()
        }
        _ => "another client changed the strategy or the annotation meanwhile".to_owned(),
    };
    Step::End(cut_short(memory, why, StepOutcome::Stopped(reason)))
}

/// Returns the outcome of a command that must stop: that of its rollback, if a batch failed before.
pub(super) fn cut_short(memory: &Memory, why: String, outcome: StepOutcome) -> StepOutcome {
    match (memory.rollback.revision.clone(), memory.rollback.failure.clone()) {
        (Some(revision), failure) => {
            StepOutcome::Failed { failure, rollback: Some(RollbackOutcome::Unfinished { revision, why }) }
        }
        (None, Some(failure)) => {
            StepOutcome::Failed { failure: Some(failure), rollback: Some(RollbackOutcome::NotStarted(why)) }
        }
        (None, None) => outcome,
    }
}

/// Decides after a failed batch: hold, or roll back.
fn after_failure(state: &State<'_>, memory: &Memory, failure: &BatchFailure) -> Step {
    match state.pace().on_failure {
        OnFailure::Undo => roll_back(state, memory, failure),
        OnFailure::Hold => Step::End(StepOutcome::Failed { failure: Some(failure.clone()), rollback: None }),
    }
}

/// Releases the lock at the end of a command. After the end of the plan, waits until the controller has observed that, so
/// that the next command does not read counters from before, and has completed the update: that of a Deployment removes
/// the last outdated pods only then.
fn unlock(cluster: &World, outcome: &StepOutcome, memory: &Memory) -> Step {
    // The goal is reached, but another client ended the hold before the lock was released.
    if matches!(outcome, StepOutcome::Reached { .. })
        && let Some(reason @ StopReason::Changed { .. }) =
            cluster.observed().and_then(|observed| memory.ownership.external_change(observed))
    {
        return stop_after_change(cluster, memory, reason);
    }
    let is_ours = |hold: &&Hold| hold.lock.as_ref().is_some_and(|lock| memory.ownership.is_own(lock));
    let Some(hold) = cluster.hold().filter(is_ours) else {
        let has_ended_plan = !memory.ownership.may_hold_lock();
        let is_done = |observed: &Observation| {
            let is_progressing = || verdict(observed).state == RolloutState::Progressing;
            observed.is_observed() && !(*outcome == StepOutcome::Complete && is_progressing())
        };
        return match cluster.observed() {
            Some(observed) if has_ended_plan && !is_done(observed) => {
                Step::wait_for("the controller to complete the update")
            }
            _ => Step::End(outcome.clone()),
        };
    };
    // Another client ended the hold, and the annotation still has the originals of the fields that it did not write.
    if left_fields(cluster.workload()).is_some() {
        return Step::write(Then::Unlock, hold.ending(cluster.workload()), None);
    }
    let mut hold = hold.clone();
    hold.lock = None;
    if let Some(plan) = &mut hold.plan {
        plan.reach = plan.reach.filter(|_| !matches!(outcome, StepOutcome::Reached { .. }));
        if let Some(failure) = &memory.rollback.failure {
            plan.failure = failure.stored(); // also after a signal
        }
    }
    Step::write_plan(Then::Unlock, hold, None, cluster.workload())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::api::object::Object;
    use crate::hold::mechanism::hold_budget::HoldBudget;
    use crate::hold::plan::{Lock, Pace, Plan, Reach};
    use crate::revision::Revisions;
    use crate::step::ownership::Ownership;

    /// Another client applied a manifest with `minReadySeconds` and without a strategy. The process still has the lock, and
    /// later rollouts must not take down as many pods as the plan had updated.
    #[test]
    fn the_last_write_restores_what_another_client_left_of_an_ended_hold() {
        let own =
            json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}});
        let object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "uid": "u"},
            "spec": {"replicas": 10, "progressDeadlineSeconds": 600, "strategy": own, "template": {}}});
        let workload = Workload::of_json(&object).unwrap();
        let fields = HoldBudget::ONE_SURGE_POD.raised(9, 1, 0, 10).unwrap().running_fields();
        let plan = Plan::new(&workload.template_digest(), None, Pace::default(), Reach::All);
        let lock = Lock { holder: "one".to_owned(), ..Lock::default() };
        let mut planned = Hold::new(&workload, fields.clone()).with_plan(plan);
        planned.lock = Some(lock.clone());
        let held = planned.into_patch(&workload, Some(fields)).unwrap().1.after().clone();
        let last_write = |min_ready_seconds: Value| {
            let mut object = held.clone();
            object["spec"]["minReadySeconds"] = min_ready_seconds;
            let mut cluster = World::new(workload.clone());
            cluster.apply(Observation::of_alone(Workload::of_json(&object).unwrap()));
            let memory = Memory { ownership: Ownership::new(lock.clone()), ..Memory::default() };
            match unlock(&cluster, &StepOutcome::Stopped(StopReason::Paused), &memory) {
                Step::Ask(Request::Patch(write)) => write,
                other => panic!("{other:?}"),
            }
        };
        let write = last_write(held["spec"]["minReadySeconds"].clone());
        assert_eq!((&write.patch.after()["spec"], write.annotation().is_some()), (&held["spec"], true));
        let write = last_write(10.into());
        let spec = json!({"replicas": 10, "progressDeadlineSeconds": 600, "strategy": own, "template": {}, "minReadySeconds": 10});
        assert_eq!((&write.patch.after()["spec"], write.annotation()), (&spec, None));
    }

    /// The controller of a Deployment removes the last outdated pods only after the end of the plan.
    #[test]
    fn a_complete_plan_ends_once_its_controller_has_completed_the_update() {
        let stopped = StepOutcome::Stopped(StopReason::NoReplicas);
        for (replicas, outcome, ends) in
            [(4, StepOutcome::Complete, false), (3, StepOutcome::Complete, true), (4, stopped, true)]
        {
            let template = json!({"spec": {"containers": [{"name": "c", "image": "x:2"}]}});
            let status = json!({"observedGeneration": 2, "replicas": replicas, "updatedReplicas": 3,
                "availableReplicas": 3});
            let object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "status": status,
                "metadata": {"name": "web", "uid": "u", "generation": 2},
                "spec": {"replicas": 3, "template": template}});
            let workload = Workload::of_json(&object).unwrap();
            let replica_set = json!({"kind": "ReplicaSet", "spec": {"template": template},
                "metadata": {"name": "web-1", "ownerReferences": [{"controller": true, "uid": "u"}]}});
            let revisions = Revisions::of(&workload, Object::read(replica_set));
            let mut cluster = World::new(workload.clone());
            cluster.apply(Observation { workload, revisions, pods: Some(Vec::new()), events: None });
            let step = unlock(&cluster, &outcome, &Memory::default());
            assert_eq!(matches!(step, Step::End(_)), ends, "{replicas} {outcome:?}");
        }
    }
}
