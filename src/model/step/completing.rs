//! Completing a plan whose controller has to finish after the original fields are restored.
//!
//! One patch restores the fields, and the annotation stays with the phase `completing`. A second patch removes it once the
//! controller reports the update as complete. A pause comes back with that patch: a paused Deployment is scaled in
//! proportion to its surge, which the first patch changes.

use super::action::{Action, Decision, Purpose};
use super::outcome::StepOutcome;
use super::state::PlanState;

/// Restores the original fields, except a pause.
pub(super) fn restore_fields(state: &PlanState<'_>) -> Decision {
    let context = state.context();
    let record = context.record.renewed(context.now.stamp());
    let patch = record.completing(context.workload());
    Decision::write(
        Purpose::RestoreFields,
        patch,
        Vec::new(),
        "every pod is updated: restore the original fields",
    )
}

/// Waits until the controller reports the update as complete, and ends the plan.
pub(super) fn continue_completing(state: &PlanState<'_>) -> Decision {
    let context = state.context();
    // `kubectl rollout undo` may have brought this annotation back while a later plan held the workload.
    let is_held = context.record.hold.is_in_force(context.workload());
    if is_held || state.slots.kind.is_settled(context) != Some(false) {
        let patch = context.record.ending(context.workload());
        let why = "the controller reports the update as complete: end the plan";
        return Decision::write(Purpose::EndPlan(StepOutcome::Complete), patch, Vec::new(), why);
    }
    let (since, limit) = (state.timers.rollback.since, state.pace().batch_timeout);
    if since.is_some_and(|since| context.now.elapsed >= since.saturating_add(limit)) {
        return Decision::finish(StepOutcome::TimedOut(limit), "the update is not complete in time: stop");
    }
    Decision::new(
        Action::WaitFor("the controller to report the update as complete".to_owned()),
        "the original fields are restored: wait for the controller",
    )
}
