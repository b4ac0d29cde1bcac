//! Final verdicts.

use std::time::Duration;

use crate::error::Error;
use crate::model::cause::CauseId;

/// How a target ended.
#[derive(Clone, Debug, PartialEq)]
pub struct End {
    /// What came of it.
    pub outcome: Outcome,
    /// The last of kubectl's lines about it; empty when there was none.
    pub line: String,
    /// How long it was followed.
    pub after: Duration,
    /// What became of the wish to undo it, if it failed and was to be undone.
    pub undone: Option<Undone>,
}

/// What became of the wish to undo what failed.
#[derive(Clone, Debug, PartialEq)]
pub enum Undone {
    /// Nothing was written, and why, as a sentence.
    Not(String),
    /// It went back to another revision.
    To {
        /// How that revision was called then. Going back gives it a new number.
        revision: String,
        /// How the way back ended.
        outcome: Outcome,
    },
}

/// What came of a target.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// What was waited for is reached.
    Reached,
    /// All that a hold allows is done, and outdated pods remain.
    Held,
    /// It failed.
    Failed(Failure),
    /// The object was deleted.
    Deleted,
    /// The object was deleted, and another one of its name came.
    Recreated,
    /// The time given for all targets is up.
    TimedOut(Duration),
    /// It cannot be judged.
    Unreadable(Error),
    /// SIGINT.
    Interrupted,
    /// SIGTERM.
    Terminated,
}

/// Why a rollout counts as failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The controller says that nothing moved for the workload's own deadline
    /// (`spec.progressDeadlineSeconds`).
    ProgressDeadline(Option<i64>),
    /// Nothing moved for the deadline that we were given.
    Deadline(Duration),
    /// A cause that fails a rollout lasted its grace period.
    Cause {
        /// Which one.
        id: CauseId,
        /// How long it may last.
        grace: Duration,
    },
    /// Another revision took over the one that was asked for; in kubectl's words.
    TakenOver(String),
    /// kubectl ends with an error; in its words.
    Kubectl(String),
}

impl Outcome {
    /// Its name in JSON.
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
            Self::Interrupted => "interrupted",
            Self::Terminated => "terminated",
        }
    }
}

impl Failure {
    /// Its name in JSON; for a cause the cause's own.
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
