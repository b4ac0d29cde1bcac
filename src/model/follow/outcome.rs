//! How following a target ended, how its rollback ended, and the exit code.

use std::time::Duration;

use crate::error::Error;
use crate::exit::Exit;
use crate::model::cause::CauseId;
use crate::model::engine::StopSignal;

/// The result of following one target.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetResult {
    /// The outcome.
    pub outcome: Outcome,
    /// The last line in kubectl's words; empty if there was none.
    pub line: String,
    /// How long the target was followed.
    pub elapsed: Duration,
    /// How long before its end the server last answered, if it did not answer the last read.
    pub unanswered: Option<Duration>,
    /// The result of the rollback, if the target failed and a rollback was requested.
    pub rollback: Option<RollbackResult>,
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
    /// Neither reached, held nor failed at its only evaluation.
    Unfinished,
    /// The time limit for all targets passed.
    TimedOut(Duration),
    /// The state of the rollout cannot be determined.
    Unreadable(Error),
    /// A signal asked the process to stop.
    Interrupted(StopSignal),
    /// Another target failed, with its reference, and this one is rolled back too.
    OtherTargetFailed(String),
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
    Superseded(String),
}

impl TargetResult {
    /// Returns the exit code. A failed rollout stays failed after a successful rollback; an interrupted rollback counts as
    /// interrupted.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match &self.rollback {
            Some(RollbackResult::RolledBack { outcome: back @ Outcome::Interrupted(_), .. }) => {
                self.outcome.exit().worst(back.exit())
            }
            _ => self.outcome.exit(),
        }
    }
}

impl Outcome {
    fn exit(&self) -> Exit {
        match self {
            Self::Reached => Exit::Done,
            Self::Held => Exit::Held,
            Self::Deleted | Self::Recreated => Exit::Error,
            Self::Failed(_) | Self::OtherTargetFailed(_) => Exit::Failed,
            Self::Unreadable(error) => error.exit(),
            Self::Unfinished | Self::TimedOut(_) => Exit::Unfinished,
            Self::Interrupted(signal) => signal.exit(),
        }
    }

    /// Returns the name for JSON.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Reached => "reached",
            Self::Held => "held",
            Self::Failed(_) => "failed",
            Self::Deleted => "deleted",
            Self::Recreated => "recreated",
            Self::Unfinished => "unfinished",
            Self::TimedOut(_) => "timed-out",
            Self::Unreadable(_) => "unreadable",
            Self::Interrupted(stop) => stop.word(),
            Self::OtherTargetFailed(_) => "other-target-failed",
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
            Self::Superseded(_) => "taken-over",
        }
    }
}
