//! The output of the follower: reports for the user, and requests for its driver.

use super::container_logs::LogLines;
use super::event::TargetId;
use super::result::TargetResult;
use crate::model::api::pod::Pod;
use crate::model::status::cause::Cause;
use crate::model::workload::counts::Counts;
use crate::model::workload::verdict::Verdict;

/// One report, or one request.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// The verdict, its line or the counters changed.
    Status {
        /// The target.
        target: TargetId,
        /// The verdict.
        verdict: Verdict,
        /// The counters of the controller.
        counts: Counts,
        /// Whether the line changed; otherwise only the counters did.
        line_changed: bool,
        /// Whether the target is being rolled back.
        is_rollback: bool,
    },
    /// A cause appeared, changed or disappeared.
    Cause {
        /// The target.
        target: TargetId,
        /// The cause; for one that is gone, its last state.
        cause: Cause,
        /// What happened to it.
        change: CauseChange,
    },
    /// The last log lines of a container that a cause is about.
    Log {
        /// The target.
        target: TargetId,
        /// The lines.
        log: LogLines,
    },
    /// There is no verdict yet, for a reason that is not in the counters.
    Waiting {
        /// The target.
        target: TargetId,
        /// What the follower waits for, as a fragment: `the controller to number revision 6`.
        reason: String,
    },
    /// The target failed and is rolled back.
    RollbackStarted {
        /// The target.
        target: TargetId,
        /// How it failed.
        result: TargetResult,
        /// The label of the revision it is rolled back to.
        revision: String,
    },
    /// The target has an outcome.
    Ended {
        /// The target.
        target: TargetId,
        /// The result.
        result: TargetResult,
    },
    /// The driver must do something and apply the result.
    Request(FollowerRequest),
}

/// What happened to a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CauseChange {
    /// It is new.
    Appeared,
    /// Its pods or its wording changed.
    Changed,
    /// It is gone.
    Gone,
}

/// What the follower asks its driver to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FollowerRequest {
    /// Read the workload, its revisions, pods and events again and apply
    /// [`TargetEvent::Refreshed`](super::TargetEvent::Refreshed). Elapsed time or a hold is about
    /// to decide the outcome.
    Refresh(TargetId),
    /// Read the last log lines of a container and apply
    /// [`TargetEvent::Log`](super::TargetEvent::Log). If they cannot be read, it has no lines.
    ReadLog(TargetId, LogRef),
    /// Roll the target back to its stable revision if it still
    /// [matches](super::StartState::matches) its start state, and apply
    /// [`TargetEvent::RolledBack`](super::TargetEvent::RolledBack).
    RollBack(TargetId),
    /// Delete a pod with a uid precondition. The result arrives as ordinary events.
    DeletePod(TargetId, PodRef),
}

/// One pod, identified by name and uid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodRef {
    /// The name.
    pub name: String,
    /// The uid.
    pub uid: String,
}

impl PodRef {
    /// Returns the reference to a pod.
    #[must_use]
    pub fn of(pod: &Pod) -> Self {
        Self { name: pod.name.clone(), uid: pod.uid.clone() }
    }
}

/// One container log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRef {
    /// The name of the pod.
    pub pod: String,
    /// The name of the container.
    pub container: String,
    /// Whether to read the log of the previous instance, the one that crashed.
    pub previous: bool,
}
