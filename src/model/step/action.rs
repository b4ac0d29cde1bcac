//! What `reconcile` decides on.

use super::outcome::{BatchFailure, StepOutcome};
use super::report::StepReport;
use crate::model::change::hold::Lease;
use crate::model::change::patch::Patch;
use crate::model::follow::PodRef;

/// An action, and why it was chosen.
#[derive(Debug)]
pub(super) struct Decision {
    pub(super) action: Action,
    pub(super) why: String,
}

/// What to do next.
#[derive(Debug)]
pub(super) enum Action {
    /// Nothing, until an event.
    Wait,
    /// Nothing, until this is there: a noun phrase that is reported if it lasts.
    WaitFor(String),
    /// Nothing, until another process releases this lease, or lets it expire.
    AwaitLease(Lease),
    /// Send a patch.
    Write(Box<Write>),
    /// Delete a wave of pods: each slot with its pod.
    DeleteWave(Vec<(String, PodRef)>),
    /// Delete a pod that its controller waits for and does not replace.
    DeleteStuckPod(PodRef),
    /// Run the check of the batch.
    RunCheck,
    /// Begin the batch although these slots are unavailable.
    Excuse(Vec<String>),
    /// Record that the batch failed.
    Fail(BatchFailure),
    /// End the command, once the lease is released.
    Finish(StepOutcome),
    /// End the command now.
    End(StepOutcome),
}

/// A patch of the workload.
#[derive(Clone, Debug)]
pub(super) struct Write {
    pub(super) purpose: Purpose,
    pub(super) patch: Patch,
    /// What to report once it is stored.
    pub(super) reports: Vec<StepReport>,
}

/// What a patch is for.
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
    /// To end the plan with this outcome.
    EndPlan(StepOutcome),
    /// To release the lease.
    ReleaseLease,
}

impl Decision {
    pub(super) fn new(action: Action, why: impl Into<String>) -> Self {
        Self { action, why: why.into() }
    }

    /// Waits, and reports why if it lasts.
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
    /// Whether it has to be decided on a fresh observation. The patch that renews the lease tests all that it
    /// relies on and changes nothing else.
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
