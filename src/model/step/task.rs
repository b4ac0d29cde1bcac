//! The tasks that a [`Stepper`](super::Stepper) gives its driver, and the events that it receives.

use super::outcome::CheckResult;
use super::view::Batch;
use crate::error::Error;
use crate::model::api::node::Node;
use crate::model::api::patch::Patch;
use crate::model::change::conflict::Conflict;
use crate::model::follow::{LogRef, PodRef, StopSignal, TargetEvent};
use crate::model::kind::Workload;

/// A task for the driver. At most one refresh, write or wave of deletions is in flight; a check may run beside it,
/// so that an external change is noticed meanwhile.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// Read the nodes, the workload, its revisions and its pods. Then apply [`StepEvent::Nodes`],
    /// [`StepEvent::EndedHolder`] and [`TargetEvent::Refreshed`].
    Refresh,
    /// Send one patch of the workload, and apply [`StepEvent::Written`].
    Write(Box<Patch>),
    /// Read the workload again. If it is [unchanged], delete a wave of pods, each with a uid precondition. Then apply
    /// [`StepEvent::Deleted`].
    ///
    /// [unchanged]: crate::model::hold::plan::PlanRecord::is_unchanged
    DeletePods {
        /// The pods.
        pods: Vec<PodRef>,
        /// Whether to evict them, so that PodDisruptionBudgets apply.
        evict: bool,
    },
    /// Run the check of a batch, and apply [`StepEvent::Checked`].
    RunCheck(Batch),
    /// Read the last log lines of a container, and apply [`TargetEvent::Log`].
    ReadLog(LogRef),
}

/// One thing that happened.
#[derive(Clone, Debug)]
pub enum StepEvent {
    /// A watch event, a refresh, or a log.
    Target(TargetEvent),
    /// The nodes; none when listing nodes is forbidden.
    Nodes(Option<Vec<Node>>),
    /// The holder of the lock that was read, if its process has ended on this host.
    EndedHolder(Option<String>),
    /// The result of a patch.
    Written(WriteResult),
    /// The results of a wave of deletions.
    Deleted(Vec<(PodRef, DeletionResult)>),
    /// The result of the check.
    Checked(CheckResult),
    /// A signal.
    Stopped(StopSignal),
    /// A timer.
    Tick,
}

/// The result of a patch.
#[derive(Clone, Debug)]
pub enum WriteResult {
    /// It is stored. Holds the workload that the server returned.
    Stored(Box<Workload>),
    /// A precondition failed, so nothing is stored.
    Conflict(Conflict),
    /// The server refused it or it could not be sent, so nothing is stored.
    Refused(Error),
    /// No response arrived, so it may be stored.
    Unknown(Error),
}

/// The result of a deletion.
#[derive(Clone, Debug)]
pub enum DeletionResult {
    /// The pod terminates, is gone, or another pod has its name.
    Deleted,
    /// A PodDisruptionBudget does not allow it now. Holds the server's message.
    Disallowed(String),
    /// The server refused it, or it could not be sent.
    Refused(Error),
    /// No response arrived.
    Unknown(Error),
    /// It was not sent: another client changed the workload, or the command ends.
    NotSent,
}

impl DeletionResult {
    /// Returns the reason if the pod was certainly not deleted.
    #[must_use]
    pub fn refusal(&self) -> Option<String> {
        match self {
            Self::Deleted | Self::Unknown(_) => None,
            Self::Disallowed(message) => Some(message.clone()),
            Self::Refused(error) => Some(error.sentence()),
            Self::NotSent => Some("another client changed the workload meanwhile".to_owned()),
        }
    }
}
