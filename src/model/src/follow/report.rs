//! What the follower returns: reports for the user, tasks for its driver, and in the end the result of each target with its
//! exit code.

use std::time::Duration;

use serde::Serialize;

use super::start_state::NoRollback;
use crate::cause::container_logs::{LogLines, LogRef};
use crate::cause::{Cause, CauseId};
use crate::engine::{PodRef, StopSignal};
use crate::error::Error;
use crate::exit::Exit;
use crate::kind::verdict::Verdict;

/// One report about a target.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// The verdict, its line or the counters changed.
    Status {
        /// The verdict.
        verdict: Verdict,
        /// Whether to print the line now: it is another one, and is not withheld.
        prints_line: bool,
    },
    /// A cause appeared, changed or disappeared.
    Cause {
        /// The cause; for one that is gone, as it was last reported.
        cause: Cause,
        /// What happened to it.
        change: CauseChange,
    },
    /// The last log lines of a container that a cause is about.
    Log(LogLines),
    /// What the follower waits for besides kubectl's line, as a fragment: `the controller to number revision 6`.
    Waiting(String),
    /// What a failure would be rolled back to, with `--undo-on-failure`: the label of the stable revision and its images, or
    /// why there is none. Once, unless the first evaluation ends the target.
    RollbackTarget(Result<(String, Vec<String>), NoRollback>),
    /// A stuck pod that blocks the rollback is deleted.
    ReplacesStuckPod(PodRef),
    /// The target has this result.
    Ended(TargetResult),
}

/// What happened to a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CauseChange {
    /// It is new.
    Appeared,
    /// Its pods or its wording changed.
    Changed,
    /// It is gone.
    Gone,
}

/// What the follower asks its driver to do for a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FollowRequest {
    /// Read the workload, its revisions and pods again and apply
    /// [`TargetEvent::Refreshed`](crate::engine::TargetEvent::Refreshed). An older
    /// observation must not decide the outcome, see `FollowedTarget::needs_refresh`.
    Refresh,
    /// Start to watch warning events. Most rollouts complete without one, so that they are not watched from the start.
    WatchWarnings,
    /// Read the last log lines of a container and apply
    /// [`TargetEvent::Log`](crate::engine::TargetEvent::Log). If they cannot be read, it has no lines; if that is
    /// forbidden, nothing is applied.
    ReadLog(LogRef),
    /// Delete a pod with a uid precondition. The result arrives as ordinary events.
    DeletePod(PodRef),
}

/// The result of following one target.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetResult {
    /// The outcome.
    pub outcome: Outcome,
    /// The last line in kubectl's words; empty if there was none.
    pub line: String,
    /// How long the target was followed.
    pub elapsed: Duration,
    /// How long before its end the server last answered a read, if it does not answer.
    pub since_answer: Option<Duration>,
    /// Why a failure is not rolled back, with `--undo-on-failure`.
    pub no_rollback: Option<NoRollback>,
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
    /// Another target failed, with its reference, so that this one is to be rolled back too.
    OtherTargetFailed(String),
}

/// Why a rollout failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RolloutFailure {
    /// The controller reports that `spec.progressDeadlineSeconds` passed without progress. The
    /// value is in seconds.
    ProgressDeadline(Option<i64>),
    /// The controller reports by a condition that it has given up, as that of a Job does. The line of the verdict says why.
    Condition,
    /// The given deadline passed without progress.
    Deadline(Duration),
    /// A fatal cause outlasted its grace period.
    Cause {
        /// The cause.
        id: CauseId,
        /// Its grace period.
        grace: Duration,
    },
    /// Another revision replaced the expected one; kubectl's message, or ours after a write.
    Replaced(String),
}

impl TargetResult {
    /// Returns the exit code.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match &self.outcome {
            Outcome::Reached => Exit::Done,
            Outcome::Held => Exit::Held,
            Outcome::Deleted | Outcome::Recreated => Exit::Error,
            Outcome::Failed(_) | Outcome::OtherTargetFailed(_) => Exit::Failed,
            Outcome::Unreadable(error) => error.exit(),
            Outcome::Unfinished | Outcome::TimedOut(_) => Exit::Unfinished,
            Outcome::Interrupted(signal) => signal.exit(),
        }
    }
}

impl Outcome {
    /// Whether the rollout failed that was found. Another revision that replaced it goes its own way.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        match self {
            Self::Failed(failure) => !matches!(failure, RolloutFailure::Replaced(_)),
            Self::OtherTargetFailed(_) => true,
            _ => false,
        }
    }

    /// Whether the rollout goes on, or waits for the end of a hold.
    #[must_use]
    pub fn is_unfinished(&self) -> bool {
        matches!(self, Self::Unfinished | Self::TimedOut(_) | Self::Held | Self::Interrupted(_))
    }

    /// Returns the name for JSON.
    #[must_use]
    pub fn json_name(&self) -> &'static str {
        match self {
            Self::Reached => "reached",
            Self::Held => "held",
            Self::Failed(_) => "failed",
            Self::Deleted => "deleted",
            Self::Recreated => "recreated",
            Self::Unfinished => "unfinished",
            Self::TimedOut(_) => "timed-out",
            Self::Unreadable(_) => "unreadable",
            Self::Interrupted(stop) => stop.json_name(),
            Self::OtherTargetFailed(_) => "other-target-failed",
        }
    }
}

impl RolloutFailure {
    /// Returns the name for JSON; for a cause, the id of the cause.
    #[must_use]
    pub fn json_name(&self) -> &'static str {
        match self {
            Self::ProgressDeadline(_) => "progress-deadline",
            Self::Condition => "condition",
            Self::Deadline(_) => "deadline",
            Self::Cause { id, .. } => id.name(),
            Self::Replaced(_) => "taken-over",
        }
    }
}
