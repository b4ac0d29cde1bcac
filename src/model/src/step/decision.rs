//! What `step` decided: to wait, to send a request, or to end.

use super::event::{Request, Then, Write};
use super::outcome::{StepOutcome, StopReason};
use crate::api::patch::Patch;
use crate::hold::plan::{BatchFailure, Hold};
use crate::kind::Workload;
use crate::kind::fields::HoldFields;
use crate::text::plural::plural;

/// What to do next.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    /// Wait for an event. If the wait lasts, its condition is reported, if there is one: `the pods that are starting`.
    Wait(Option<String>),
    /// Send a request, and decide again on its reply.
    Ask(Request),
    /// Remember that the batch failed, and decide again.
    Fail(BatchFailure),
    /// End the command with this outcome. If this process may have acquired the lock, release it before.
    End(StepOutcome),
}

impl Step {
    /// Creates the step to wait for a condition.
    pub(super) fn wait_for(what: impl Into<String>) -> Self {
        Self::Wait(Some(what.into()))
    }

    /// Creates the step to send a patch. The hold is that of the plan that it stores; none if it ends the plan.
    pub(super) fn write(then: Then, patch: Patch, hold: Option<Hold>) -> Self {
        Self::Ask(Request::Patch(Box::new(Write { then, patch, hold })))
    }

    /// Creates the step to stop.
    pub(super) fn stop(reason: StopReason) -> Self {
        Self::End(StepOutcome::Stopped(reason))
    }

    /// Creates the step to store a plan. The fields are new values of the fields of the hold, such as those that release
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

    /// Creates the step to end the plan of a workload, and to restore the original fields.
    pub(super) fn end_plan(outcome: StepOutcome, hold: &Hold, workload: &Workload) -> Self {
        Self::write(Then::EndPlan(outcome), hold.ending(workload), None)
    }

    /// Returns it for `-v 4`, as an imperative.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Wait(None) => "wait".to_owned(),
            Self::Wait(Some(what)) => format!("wait for {what}"),
            Self::Ask(Request::Refresh) => "read everything again".to_owned(),
            Self::Ask(Request::Patch(write)) => write.then.words().to_owned(),
            Self::Ask(Request::Delete { pods, .. }) => format!("delete {}", plural(pods.len(), "pod")),
            Self::Ask(Request::DeleteStuck(pod)) => format!("delete the stuck pod {}", pod.name),
            Self::Ask(Request::ReadLog(_)) => "read a log".to_owned(),
            Self::Ask(Request::Check(_)) => "run the check".to_owned(),
            Self::Fail(failure) => format!("fail: {}", failure.words()),
            Self::End(outcome) => format!("end: {}", outcome.word()),
        }
    }

    /// Whether it sends a patch or deletes pods.
    pub(super) fn is_write(&self) -> bool {
        matches!(self, Self::Ask(Request::Patch(_) | Request::Delete { .. } | Request::DeleteStuck(_)))
    }
}
