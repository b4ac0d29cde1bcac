//! The outcome of a target.

use super::event::StopSignal;
use std::time::Duration;

use crate::error::Error;
use crate::model::change::stuck_pods::StuckPodDeletions;
use crate::model::status::cause::CauseId;

/// The result of following one target.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetResult {
    /// The outcome.
    pub outcome: Outcome,
    /// The last line in kubectl's words; empty if there was none.
    pub line: String,
    /// How long the target was followed.
    pub elapsed: Duration,
    /// The result of the rollback, if the target failed and a rollback was requested.
    pub rollback: Option<RollbackResult>,
}

/// The result of a requested rollback.
#[derive(Clone, Debug, PartialEq)]
pub enum RollbackResult {
    /// Nothing was written; the reason, as a sentence.
    NotStarted(String),
    /// The target was rolled back to another revision.
    RolledBack {
        /// The label of that revision before the rollback. The rollback gives it a new number.
        revision: String,
        /// The outcome of the rollback.
        outcome: Outcome,
    },
}

/// How following a target ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The goal is reached.
    Reached,
    /// A hold keeps outdated pods, and everything it allows is done.
    Held,
    /// The rollout failed.
    Failed(RolloutFailure),
    /// The workload was deleted.
    Deleted,
    /// The workload was deleted and created again under the same name.
    Recreated,
    /// The time limit for all targets passed.
    TimedOut(Duration),
    /// The state of the rollout cannot be determined.
    Unreadable(Error),
    /// A signal asked the process to stop.
    Interrupted(StopSignal),
}

/// Why a rollout failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RolloutFailure {
    /// The controller reports that `spec.progressDeadlineSeconds` passed without progress. The
    /// value is in seconds.
    ProgressDeadline(Option<i64>),
    /// The given deadline passed without progress.
    Deadline(Duration),
    /// A fatal cause outlasted its grace period.
    Cause {
        /// The cause.
        id: CauseId,
        /// Its grace period.
        grace: Duration,
    },
    /// Another revision replaced the expected one; kubectl's message.
    TakenOver(String),
    /// kubectl ends with this error.
    Kubectl(String),
}

impl Outcome {
    /// Returns the name for JSON.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Reached => "reached",
            Self::Held => "held",
            Self::Failed(_) => "failed",
            Self::Deleted => "deleted",
            Self::Recreated => "recreated",
            Self::TimedOut(_) => "timed-out",
            Self::Unreadable(_) => "unreadable",
            Self::Interrupted(stop) => stop.word(),
        }
    }
}

impl RolloutFailure {
    /// Returns the name for JSON; for a cause, the id of the cause.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::ProgressDeadline(_) => "progress-deadline",
            Self::Deadline(_) => "deadline",
            Self::Cause { id, .. } => id.name(),
            Self::TakenOver(_) => "taken-over",
            Self::Kubectl(_) => "kubectl",
        }
    }
}

/// The rollback of a failed target.
#[derive(Clone, Debug, PartialEq)]
pub struct Rollback {
    /// How the target failed.
    pub failed: TargetResult,
    /// The label of the target revision when the rollout failed.
    pub revision: String,
    /// Whether the rollback was written. Until then every event may be older than the write and is
    /// not evaluated.
    pub(super) is_written: bool,
    /// Whether `--replace-stuck-pods` deletes stuck pods.
    pub replaces_stuck_pods: bool,
    /// The stuck pods that were deleted during the rollback.
    pub(super) stuck_pod_deletions: StuckPodDeletions,
}

impl Rollback {
    /// Returns the result: the failure, and the outcome of the rollback.
    pub(super) fn end(self, outcome: Outcome, elapsed: Duration) -> TargetResult {
        let rollback = RollbackResult::RolledBack { revision: self.revision, outcome };
        TargetResult { elapsed, rollback: Some(rollback), ..self.failed }
    }
}
