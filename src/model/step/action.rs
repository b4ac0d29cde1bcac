//! What `reconcile` decides on.

use serde_json::Value;

use super::outcome::{BatchFailure, StepOutcome};
use super::report::StepReport;
use crate::model::change::patch::Patch;
use crate::model::change::plan::Lease;
use crate::model::follow::PodRef;

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
    /// Wait for this condition. If the wait lasts, the text is reported: `the pods that are starting`.
    WaitFor(String),
    /// Wait until another process releases this lease, or until the lease expires.
    AwaitLease(Lease),
    /// Send a patch.
    Write(Box<Write>),
    /// Delete a wave of pods: each slot with its pod.
    DeleteWave(Vec<(String, PodRef)>),
    /// Delete a stuck pod: its controller waits for it and does not replace it.
    DeleteStuckPod(PodRef),
    /// Run the check of the batch.
    RunCheck,
    /// Ignore these unavailable slots when the next batch begins.
    Excuse(Vec<String>),
    /// Record that the batch failed.
    Fail(BatchFailure),
    /// Release the lease, then end the command.
    Finish(StepOutcome),
    /// End the command now.
    End(StepOutcome),
}

/// A way to release the next slots of a batch.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Release {
    /// Write another update strategy.
    Strategy {
        /// The strategy.
        set: Value,
        /// The slots that it releases.
        slots: Vec<String>,
    },
    /// Delete one wave of pods: each slot with its pod.
    Wave(Vec<(String, PodRef)>),
}

/// A patch of the workload.
#[derive(Clone, Debug)]
pub(super) struct Write {
    pub(super) purpose: Purpose,
    pub(super) patch: Patch,
    /// The reports to print once the patch is stored.
    pub(super) reports: Vec<StepReport>,
}

/// The purpose of a patch.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Purpose {
    /// To acquire the lease, with a new plan or the existing one.
    AcquireLease,
    /// To renew the lease, and nothing else.
    RenewLease,
    /// To begin a batch.
    BeginBatch,
    /// To release more slots of a batch.
    ReleaseSlots,
    /// To record that the batch is done.
    FinishBatch,
    /// To write the template of the revision before.
    RollBack,
    /// To restore the original fields, before the controller completes the update.
    RestoreFields,
    /// To end the plan with this outcome.
    EndPlan(StepOutcome),
    /// To release the lease.
    ReleaseLease,
}

impl Decision {
    pub(super) fn new(action: Action, why: impl Into<String>) -> Self {
        Self { action, why: why.into() }
    }

    /// Creates the decision to wait. If the wait lasts, its reason is reported.
    pub(super) fn wait_for(what: impl Into<String>) -> Self {
        let what = what.into();
        Self { why: format!("wait for {what}"), action: Action::WaitFor(what) }
    }

    pub(super) fn finish(outcome: StepOutcome, why: impl Into<String>) -> Self {
        Self::new(Action::Finish(outcome), why)
    }

    pub(super) fn write(
        purpose: Purpose,
        patch: Patch,
        reports: Vec<StepReport>,
        why: impl Into<String>,
    ) -> Self {
        Self::new(Action::Write(Box::new(Write { purpose, patch, reports })), why)
    }
}

impl Action {
    /// Whether the decision needs a fresh observation. Only a renewal of the lease does not: its patch tests every
    /// field that it relies on, and changes nothing else.
    pub(super) fn needs_refresh(&self) -> bool {
        match self {
            Self::Wait | Self::WaitFor(_) | Self::AwaitLease(_) | Self::End(_) => false,
            Self::Write(write) => write.purpose != Purpose::RenewLease,
            _ => true,
        }
    }

    pub(super) fn is_wait(&self) -> bool {
        matches!(self, Self::Wait | Self::WaitFor(_))
    }
}
