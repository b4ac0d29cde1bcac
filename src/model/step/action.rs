//! What `reconcile` decides on, and with what.

use super::kind::step_kind;
use super::outcome::{BatchFailure, StepOutcome};
use super::report::StepReport;
use super::request::{Identity, Request};
use super::slot::PlanContext;
use super::state::{PlanState, Slots};
use super::timers::Timers;
use crate::error::Result;
use crate::model::api::node::Node;
use crate::model::change::hold::{Lease, PlanRecord};
use crate::model::change::patch::Patch;
use crate::model::follow::{Now, PodRef};
use crate::model::status::observation::Observation;

/// What one command is asked to do, and by which process.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) request: Request,
    pub(super) identity: Identity,
}

/// Everything that was observed at one moment.
pub(super) struct Situation<'a> {
    pub(super) observed: &'a Observation,
    /// The nodes; none when they may not be read.
    pub(super) nodes: Option<&'a [Node]>,
    /// The plan in the annotation, if there is one that is readable.
    pub(super) record: Option<&'a PlanRecord>,
    /// The slots of that plan.
    pub(super) slots: Option<Slots<'a>>,
    pub(super) now: Now,
}

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

impl Situation<'_> {
    /// Returns what an observation is for a plan that is not stored yet.
    pub(super) fn with<'b>(&'b self, record: &'b PlanRecord) -> PlanContext<'b> {
        PlanContext { observed: self.observed, nodes: self.nodes, record, now: self.now }
    }

    /// Returns the slots of a plan that is not stored yet.
    pub(super) fn slots_of<'b>(&'b self, record: &'b PlanRecord) -> Result<Slots<'b>> {
        Ok(Slots::of(step_kind(&self.observed.workload)?, self.with(record)))
    }

    /// Whether the controller has seen the workload as it is now. It stores no revision of a template while the
    /// workload is paused.
    pub(super) fn is_observed(&self) -> bool {
        let workload = &self.observed.workload;
        let is_paused = workload.is_paused() && self.observed.revisions.current().is_none();
        self.observed.is_observed() || is_paused && workload.is_observed()
    }

    /// Returns the state of the plan in the annotation.
    pub(super) fn state<'b>(&'b self, timers: &'b Timers) -> Option<PlanState<'b>> {
        Some(PlanState { slots: self.slots.as_ref()?, timers })
    }
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
