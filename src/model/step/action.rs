//! What `reconcile` returns: the next action, and the reason for it.

use std::time::Duration;

use super::event::StepReport;
use super::outcome::StepOutcome;
use crate::model::api::patch::{FieldPath, Patch};
use crate::model::engine::PodRef;
use crate::model::hold::plan::{BatchFailure, HOLD_ANNOTATION, Hold};
use crate::model::kind::Workload;
use crate::model::kind::fields::HoldFields;

/// An action, and the reason for it.
#[derive(Debug)]
pub(super) struct Decision {
    pub(super) action: Action,
    pub(super) why: String,
}

/// What to do next.
#[derive(Debug)]
pub(super) enum Action {
    /// Wait for an event.
    Wait,
    /// Read everything again before another action is performed.
    Refresh,
    /// Wait for this condition. If the wait lasts, the text is reported: `the pods that are starting`.
    WaitFor(String),
    /// Send a patch.
    Write(Box<Write>),
    /// Delete a wave of pods: each slot with its pod.
    DeleteWave(Vec<(String, PodRef)>),
    /// Delete a stuck pod: its controller waits for it and does not replace it.
    DeleteStuckPod(PodRef),
    /// Run the check of the batch.
    RunCheck,
    /// Ignore these unavailable slots when the next batch begins.
    Tolerate(Vec<String>),
    /// Remember that the batch failed.
    Fail(BatchFailure),
    /// End the command with this outcome. If this process may have acquired the lock, release it before.
    Finish(StepOutcome),
    /// End the command now: it has no lock to release.
    End(StepOutcome),
}

/// A patch of the workload.
#[derive(Clone, Debug)]
pub(super) struct Write {
    pub(super) purpose: Purpose,
    pub(super) patch: Patch,
    /// The hold of the plan that it stores; none if it ends the plan.
    pub(super) hold: Option<Hold>,
    /// The label of the revision to which the plan rolls back from now on.
    pub(super) rolls_back_to: Option<String>,
    /// The reports to print once the patch is stored.
    pub(super) reports: Vec<StepReport>,
}

/// The purpose of a patch.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Purpose {
    /// To acquire the lock, with a new plan or the existing one, and the fields that hold the workload if it is not held.
    AcquireLock,
    /// To begin a batch, with the fields that release what can be released at once.
    BeginBatch,
    /// To release slots of the batch, or more of them.
    ReleaseSlots,
    /// To record that the batch is done.
    FinishBatch,
    /// To write the template of the revision before.
    RollBack,
    /// To end the plan with this outcome.
    EndPlan(StepOutcome),
    /// To end the plan, after which the controller completes the update.
    CompletePlan {
        /// How long it may take.
        limit: Duration,
    },
    /// To release the lock.
    Unlock,
}

impl Decision {
    pub(super) fn new(action: Action, why: impl Into<String>) -> Self {
        Self { action, why: why.into() }
    }

    /// Creates the decision to wait. If the wait lasts, it is reported what it waits for.
    pub(super) fn wait_for(what: impl Into<String>) -> Self {
        let what = what.into();
        Self { why: format!("wait for {what}"), action: Action::WaitFor(what) }
    }

    pub(super) fn finish(outcome: StepOutcome, why: impl Into<String>) -> Self {
        Self::new(Action::Finish(outcome), why)
    }

    pub(super) fn write(write: Write, why: impl Into<String>) -> Self {
        Self::new(Action::Write(Box::new(write)), why)
    }

    /// Creates the decision to store a plan. The fields are new values of the fields of the hold: pods up to the goal are
    /// released, and the others stay held.
    pub(super) fn write_plan(
        purpose: Purpose,
        reports: Vec<StepReport>,
        hold: Hold,
        hold_fields: Option<HoldFields>,
        workload: &Workload,
        why: impl Into<String>,
    ) -> Self {
        Self::write(Write::of_plan(purpose, reports, hold, hold_fields, workload), why)
    }

    /// Creates the decision to end the plan of a workload, and to restore the original fields.
    pub(super) fn end_plan(
        purpose: Purpose,
        hold: &Hold,
        workload: &Workload,
        reports: Vec<StepReport>,
        why: impl Into<String>,
    ) -> Self {
        let patch = hold.ending(workload);
        Self::write(Write { purpose, patch, hold: None, rolls_back_to: None, reports }, why)
    }
}

impl Write {
    /// Creates the write that stores a plan, and new values of the fields of its hold, if there are any.
    pub(super) fn of_plan(
        purpose: Purpose,
        reports: Vec<StepReport>,
        hold: Hold,
        hold_fields: Option<HoldFields>,
        workload: &Workload,
    ) -> Self {
        let (hold, patch) = hold.into_patch(workload, hold_fields);
        Self { purpose, patch, hold: Some(hold), rolls_back_to: None, reports }
    }

    /// Returns the value of the annotation that it stores.
    pub(super) fn annotation(&self) -> Option<&str> {
        FieldPath::annotation(HOLD_ANNOTATION).value_in(self.patch.after())?.as_str()
    }
}

impl Action {
    /// Whether the decision needs a fresh observation. A check does not: its result counts only if every pod was ready
    /// since, and what follows from it needs one.
    pub(super) fn needs_refresh(&self) -> bool {
        !matches!(self, Self::Wait | Self::WaitFor(_) | Self::RunCheck | Self::End(_))
    }

    pub(super) fn is_wait(&self) -> bool {
        matches!(self, Self::Wait | Self::WaitFor(_))
    }
}
