//! What `reconcile` returns: the next action, or how the command ends.

use super::event::{Request, Then, Write};
use super::outcome::{StepOutcome, StopReason};
use crate::api::patch::Patch;
use crate::hold::plan::{BatchFailure, Hold};
use crate::kind::Workload;
use crate::kind::fields::HoldFields;
use crate::text::plural::plural;

/// What to do next.
#[derive(Debug, PartialEq)]
pub(super) enum Action {
    /// Wait for an event.
    Wait,
    /// Send a request, and decide again on its reply.
    Ask(Request),
    /// Wait for this condition. If the wait lasts, the text is reported: `the pods that are starting`.
    WaitFor(String),
    /// Run the check of the batch.
    RunCheck,
    /// Remember that the batch failed.
    Fail(BatchFailure),
    /// End the command with this outcome. If this process may have acquired the lock, release it before.
    End(StepOutcome),
    /// End the command now: it has no lock to release.
    EndNow(StepOutcome),
}

impl Action {
    /// Creates the action to wait for a condition.
    pub(super) fn wait_for(what: impl Into<String>) -> Self {
        Self::WaitFor(what.into())
    }

    /// Creates the action to send a patch. The hold is that of the plan that it stores; none if it ends the plan.
    pub(super) fn write(then: Then, patch: Patch, hold: Option<Hold>) -> Self {
        Self::Ask(Request::Patch(Box::new(Write { then, patch, hold })))
    }

    /// Creates the action to stop.
    pub(super) fn stop(reason: StopReason) -> Self {
        Self::End(StepOutcome::Stopped(reason))
    }

    /// Creates the action to store a plan. The fields are new values of the fields of the hold, such as those that release
    /// pods.
    pub(super) fn write_plan(
        then: Then,
        hold: Hold,
        hold_fields: Option<HoldFields>,
        workload: &Workload,
    ) -> Self {
        match hold.into_patch(workload, hold_fields) {
            Ok((hold, patch)) => Self::write(then, patch, Some(hold)),
            Err(error) => Self::End(StepOutcome::Error(error)),
        }
    }

    /// Creates the action to end the plan of a workload, and to restore the original fields.
    pub(super) fn end_plan(outcome: StepOutcome, hold: &Hold, workload: &Workload) -> Self {
        Self::write(Then::EndPlan(outcome), hold.ending(workload), None)
    }

    /// Returns the action for `-v 4`, as an imperative.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Wait => "wait".to_owned(),
            Self::Ask(Request::Refresh) => "read everything again".to_owned(),
            Self::Ask(Request::Patch(write)) => write.then.words().to_owned(),
            Self::Ask(Request::Delete { pods, .. }) => format!("delete {}", plural(pods.len(), "pod")),
            Self::Ask(Request::DeleteStuck(pod)) => format!("delete the stuck pod {}", pod.name),
            Self::Ask(Request::ReadLog(_)) => "read a log".to_owned(),
            Self::RunCheck | Self::Ask(Request::Check(_)) => "run the check".to_owned(),
            Self::WaitFor(what) => format!("wait for {what}"),
            Self::Fail(failure) => format!("fail: {}", failure.words()),
            Self::End(outcome) | Self::EndNow(outcome) => format!("end: {}", outcome.word()),
        }
    }

    /// Whether the decision needs a fresh observation. A check does not: its result counts only if every pod was ready
    /// since, and what follows from it needs one. The release of the lock tests the annotation, and has little time.
    pub(super) fn needs_refresh(&self) -> bool {
        match self {
            Self::Wait
            | Self::WaitFor(_)
            | Self::RunCheck
            | Self::Ask(Request::Check(_))
            | Self::EndNow(_) => false,
            Self::Ask(Request::Patch(write)) => write.then != Then::Unlock,
            _ => true,
        }
    }

    /// Whether it sends a patch or deletes pods.
    pub(super) fn is_request(&self) -> bool {
        matches!(self, Self::Ask(Request::Patch(_) | Request::Delete { .. } | Request::DeleteStuck(_)))
    }
}
