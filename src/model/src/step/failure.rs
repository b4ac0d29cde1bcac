//! When a batch has failed, and the rollback of the released pods to the stable revision of the plan.
//!
//! The same code of a rollback serves `--on-failure undo` and `undo` of a plan. See
//! `src/model/src/hold/plan/rollback.rs` for the annotation during a rollback.

use super::memory::Memory;
use super::obstacle::reason_to_stop;
use super::outcome::{RollbackOutcome, StepOutcome};
use super::request::{Request, Step, Then};
use crate::api::patch::FieldPath;
use crate::cause::Cause;
use crate::change::undo::{Undo, UndoOptions, is_live, undo};
use crate::engine::PodRef;
use crate::hold::mechanism::State;
use crate::hold::plan::{BatchFailure, HOLD_ANNOTATION, OnFailure, Plan, PlannedBatch};
use crate::hold::slot::Slot;
use crate::kind::strategy;
use crate::observation::Observation;

/// Returns the decision if the last batch has failed or cannot go on: it has a fatal cause, or its timeout has passed.
pub(super) fn decide_failure(state: &State<'_>, memory: &Memory, batch: &PlannedBatch) -> Option<Step> {
    if !state.is_moving() {
        return None;
    }
    // A quota that refuses only other pods, such as those of a scale-up, is no fault of the batch.
    let has_waiting_pod = state.slots.iter().any(|slot| slot.batch.is_some() && !slot.state.is_healthy());
    let is_of_batch = |cause: &&Cause| has_waiting_pod || !cause.pods.is_empty();
    if let Some(cause) = fatal_causes(state, memory).find(is_of_batch) {
        return Some(fail(Some(batch.number), cause, cause.pods.clone()));
    }
    past_timeout(state, memory, batch.number)
}

/// Returns the decision if updated pods fail outside a batch, for a plan that rolls back then. Other plans begin no batch
/// while too many pods are unavailable.
pub(super) fn decide_late_failure(state: &State<'_>, memory: &Memory) -> Option<Step> {
    let is_updated = |name: &&String| {
        state.required().any(|slot| slot.state.is_updated() && slot.pod.is_some_and(|pod| pod.name == **name))
    };
    let mut fatal = fatal_causes(state, memory).filter(|_| state.pace().on_failure == OnFailure::Undo);
    fatal.find_map(|cause| {
        let pods: Vec<_> = cause.pods.iter().filter(is_updated).cloned().collect();
        (!pods.is_empty()).then(|| fail(None, cause, pods))
    })
}

fn fail(batch: Option<usize>, cause: &Cause, pods: Vec<String>) -> Step {
    Step::Fail(BatchFailure::Cause { batch, id: cause.id.name().to_owned(), pods })
}

/// Returns the fatal causes of required pods, and those without a pod, such as a quota.
pub(super) fn fatal_causes<'m>(state: &State<'_>, memory: &'m Memory) -> impl Iterator<Item = &'m Cause> {
    let is_required =
        move |name: &String| state.required().any(|slot| slot.pod.is_some_and(|pod| pod.name == *name));
    let fatal = memory.causes.expired(state.now.elapsed).map(|(cause, _)| cause);
    fatal.filter(move |cause| cause.pods.is_empty() || cause.pods.iter().any(is_required))
}

/// Decides when no pod became healthy for the timeout. The batch has failed if a pod of it that runs the new revision, or was
/// replaced for it, is not healthy. Otherwise the plan stops for other pods that are not healthy, or leave no room: they are no
/// fault of the new revision. Without such pods the controller or an eviction is too slow.
fn past_timeout(state: &State<'_>, memory: &Memory, batch: usize) -> Option<Step> {
    let after = state.batch_limit();
    if !memory.stall.is_over(after) {
        return None;
    }
    let awaited: Vec<_> = state.slots.iter().filter(|slot| state.is_awaited(slot)).collect();
    let fail = |slots: Vec<&Slot<'_>>| {
        let pods = slots.into_iter().map(Slot::label).collect();
        Some(Step::Fail(BatchFailure::TimedOut { batch, after, pods }))
    };
    let is_failed = |slot: &&Slot<'_>| slot.batch.is_some() && slot.is_replaced();
    let failed: Vec<_> = awaited.iter().copied().filter(is_failed).collect();
    if !failed.is_empty() {
        return fail(failed);
    }
    let has_no_room = state.budget_left() <= 0;
    let blocks = |slot: &&Slot<'_>| {
        let takes_room = has_no_room && slot.is_unavailable(state.pace());
        let is_released_by_batch = slot.batch.is_some() && !slot.state.is_held();
        !is_released_by_batch && (takes_room || state.is_required(slot) && !slot.state.is_healthy())
    };
    let others: Vec<_> = state.slots.iter().filter(blocks).collect();
    if others.is_empty() {
        return fail(awaited);
    }
    Some(Step::stop(reason_to_stop(state, others)))
}

const ON_DELETE: &str = "the original strategy is OnDelete, so each pod is rolled back when it is deleted";

/// Writes the template of the stable revision. The same patch restores the original strategy, unless that would keep
/// released pods.
pub(super) fn roll_back(state: &State<'_>, memory: &Memory, failure: &BatchFailure) -> Step {
    let not_started = |why: String| {
        let rollback = Some(RollbackOutcome::NotStarted(why));
        Step::End(StepOutcome::Failed { failure: Some(failure.clone()), rollback })
    };
    if let Some(why) = &memory.rollback.blocked {
        return not_started(why.clone());
    }
    let (observed, workload) = (state.observed, state.workload());
    let Some(from) = &state.plan.from else {
        return not_started("it is not known which revision served when the plan began".to_owned());
    };
    let Some(before) = observed.revisions.iter().find(|one| one.name == *from) else {
        return not_started("the stable revision is not stored any more".to_owned());
    };
    if is_live(observed, before) {
        return not_started("the revision that the plan began from is the live one".to_owned());
    }
    let (mut patch, stays_held) = match undo(observed, before, &UndoOptions::default()) {
        Ok(Undo { patch, stays_held, .. }) => (patch, stays_held),
        Err(error) => return not_started(error.to_string()),
    };
    let is_on_delete = state.hold.original_strategy(workload).is_some_and(strategy::is_on_delete_strategy);
    if is_on_delete && stays_held.is_none() {
        let rollback = RollbackOutcome::Unfinished { revision: before.label(), why: ON_DELETE.to_owned() };
        let outcome = StepOutcome::Failed { failure: Some(failure.clone()), rollback: Some(rollback) };
        return Step::write(Then::EndPlan(outcome), patch, None);
    }
    let plan = Plan { failure: failure.stored(), ..state.plan.clone() };
    let fields = stays_held.map(|hold| hold.set).unwrap_or_default();
    let hold = state.hold_with(plan).rolling_back(&before.digest, fields);
    patch.set(FieldPath::annotation(HOLD_ANNOTATION), hold.annotation(workload).into());
    Step::write(Then::RollBack, patch, Some(hold))
}

/// Waits until all pods are rolled back, deletes stuck pods, and ends the plan.
pub(super) fn continue_rollback(state: &State<'_>, memory: &Memory) -> Step {
    let (observed, workload) = (state.observed, state.workload());
    let revision = memory.rollback.revision.clone().unwrap_or_default();
    let known = memory.rollback.failure.as_ref().or(state.plan.failure.as_ref());
    let outcome = |rollback| StepOutcome::Failed { failure: known.cloned(), rollback: Some(rollback) };
    let unfinished = |why: &str| {
        let rollback = RollbackOutcome::Unfinished { revision: revision.clone(), why: why.to_owned() };
        Step::End(outcome(rollback))
    };
    if let Some(why) = &memory.rollback.blocked {
        return unfinished(why);
    }
    if strategy::is_on_delete(workload) {
        return unfinished(ON_DELETE);
    }
    let is_complete = state.returned_pods().1 && observed.is_observed();
    let is_held = state.hold.is_in_force(workload);
    if is_complete && (!is_held || is_current_in_status(observed)) {
        let outcome = outcome(RollbackOutcome::Done { revision: revision.clone() });
        return Step::end_plan(outcome, state.hold, workload);
    }
    if memory.stall.is_over(state.batch_limit()) {
        let not_current = "the controller does not report the revision as the current one";
        return unfinished(if is_complete { not_current } else { "its pods are not back in time" });
    }
    match memory.stuck_pods.next(observed, state.now.elapsed) {
        Some(pod) => Step::Ask(Request::DeleteStuck(PodRef::of(pod))),
        None => Step::Wait(None),
    }
}

/// Whether the controller reports the revision as the current one. The plan may have made the failed revision current,
/// and below a partition the controller creates pods from the current revision.
fn is_current_in_status(observed: &Observation) -> bool {
    let workload = &observed.workload;
    let Some(live) = observed.revisions.current() else { return false };
    let is_whole = observed.own_pods().filter(|pod| pod.is_active()).all(|pod| workload.runs(pod, live));
    !is_whole || workload.is_update_reported_stable()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::api::object::Object;
    use crate::hold::slot::tests::NOW;
    use crate::kind::Workload;
    use crate::revision::Revisions;
    use crate::step::StepOptions;
    use crate::step::start::{fields_to_write, prepare_plan};
    use crate::step::state_of;

    fn template(number: i64) -> Value {
        json!({"spec": {"containers": [{"name": "app", "image": format!("app:{number}")}]}})
    }

    /// The patch of the rollback ends the hold of a Deployment, so that no hold is left to end by hand.
    #[test]
    fn the_annotation_of_a_rollback_has_no_command_for_a_hold_that_is_over() {
        let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "uid": "u"}, "spec": {"replicas": 2, "template": template(2)}});
        let workload = Workload::of_json(&deployment).unwrap();
        let replica_sets = (1..=2).map(|number| {
            let replica_set = json!({"kind": "ReplicaSet", "spec": {"template": template(number)},
                "metadata": {"name": format!("web-{number}"), "ownerReferences": [{"controller": true, "uid": "u"}]}});
            Object::read(replica_set).unwrap()
        });
        let revisions = Revisions::of(&workload, replica_sets);
        let mut observed = Observation { workload, revisions, pods: Some(Vec::new()), events: None };
        let (mut hold, _) = prepare_plan(&StepOptions::default(), &observed).unwrap();
        hold.plan.as_mut().unwrap().from = Some("web-1".to_owned());
        let fields = fields_to_write(&hold, &observed.workload);
        let (_, patch) = hold.into_patch(&observed.workload, fields).unwrap();
        observed.workload = Workload::of_json(patch.after()).unwrap();
        assert!(observed.workload.object().annotation(HOLD_ANNOTATION).unwrap().contains("endByHand"));

        let hold = observed.workload.held().stored().unwrap();
        let state = state_of(&observed, None, hold, NOW).unwrap();
        let failure = BatchFailure::Cause { batch: Some(1), id: "crash-loop".to_owned(), pods: Vec::new() };
        let Step::Ask(Request::Patch(write)) = roll_back(&state, &Memory::default(), &failure) else {
            panic!("no rollback")
        };
        let annotation: Value = serde_json::from_str(write.annotation().unwrap()).unwrap();
        assert_eq!(annotation["plan"]["rollingBack"], true);
        assert_eq!(annotation.get("endByHand"), None);
    }
}
