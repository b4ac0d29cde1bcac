//! What a [`Stepper`](super::Stepper) asks its driver to do, and the events that come back.

use super::outcome::CheckResult;
use super::report::StepReport;
use super::view::Batch;
use crate::error::Error;
use crate::model::api::node::Node;
use crate::model::change::conflict::Conflict;
use crate::model::change::patch::Patch;
use crate::model::follow::{LogRef, PodRef, StopSignal, TargetEvent};
use crate::model::workload::Workload;

/// Something to do. At most one refresh, write or wave of deletions is in flight; a check may run beside it,
/// because the lease has to be renewed meanwhile.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// Read the nodes, the workload, its revisions and its pods. Answer with [`StepEvent::Nodes`], then
    /// [`TargetEvent::Refreshed`].
    Refresh,
    /// Send one patch of the workload. Answer with [`StepEvent::Written`].
    Write(Box<Patch>),
    /// Delete a wave of pods, each with its uid as precondition, if the workload is [unchanged] right before.
    /// Answer with [`StepEvent::Deleted`].
    ///
    /// [unchanged]: crate::model::change::hold::PlanRecord::is_unchanged
    DeletePods {
        /// The pods.
        pods: Vec<PodRef>,
        /// Whether they are evicted, so that PodDisruptionBudgets apply.
        evict: bool,
    },
    /// Run the check of a batch. Answer with [`StepEvent::Checked`].
    RunCheck(Batch),
    /// Read the last lines of a container. Answer with [`TargetEvent::Log`].
    ReadLog(LogRef),
}

/// What comes of an event, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Something to report.
    Report(StepReport),
    /// Something to do.
    Perform(Task),
}

/// One thing that happened.
#[derive(Clone, Debug)]
pub enum StepEvent {
    /// A watch event, a refresh, or a log.
    Target(TargetEvent),
    /// The nodes; none when they may not be read.
    Nodes(Option<Vec<Node>>),
    /// The answer to a patch.
    Written(WriteResult),
    /// The answers to a wave of deletions.
    Deleted(Vec<(PodRef, DeletionResult)>),
    /// The result of the check.
    Checked(CheckResult),
    /// A signal.
    Stopped(StopSignal),
    /// A timer.
    Tick,
}

/// The answer to a patch.
#[derive(Clone, Debug)]
pub enum WriteResult {
    /// It is stored; this is the workload now.
    Stored(Box<Workload>),
    /// A precondition failed, and nothing is stored.
    Conflict(Conflict),
    /// The server refused it, or it could not be sent: nothing is stored.
    Refused(Error),
    /// There was no answer, so it may be stored.
    Unknown(Error),
}

/// The answer to a deletion.
#[derive(Clone, Debug)]
pub enum DeletionResult {
    /// The pod terminates, is gone, or another pod has its name.
    Deleted,
    /// A PodDisruptionBudget does not allow it now; the server's message.
    Disallowed(String),
    /// The server refused it, or it could not be sent.
    Refused(Error),
    /// There was no answer.
    Unknown(Error),
    /// It was not sent, because another client changed the workload.
    Superseded,
}

impl DeletionResult {
    /// Returns why the pod certainly stays; none when it goes, or may go.
    #[must_use]
    pub fn refusal(&self) -> Option<String> {
        match self {
            Self::Deleted | Self::Unknown(_) => None,
            Self::Disallowed(message) => Some(message.clone()),
            Self::Refused(error) => Some(error.sentence()),
            Self::Superseded => Some("another client changed the workload meanwhile".to_owned()),
        }
    }
}
