//! A finding: what a result, a warning, a refusal or a note says to the user. The rule that finds it makes it, and `render` lays it out.

use serde::Serialize;

use crate::error::{Error, ErrorKind};

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// What happened. Its line has no word for the severity.
    Info,
    /// A fact that the user may not expect.
    Note,
    /// A fact that can do harm.
    Warning,
    /// Outdated pods are kept from updating, and the command stops.
    Held,
    /// The command failed, or the rollout that it follows.
    Error,
}

impl Severity {
    /// Returns the word for it, in lines and in documents.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Held => "held",
            Self::Error => "error",
        }
    }
}

/// Why a finding exists. Code decides by it, and never by the text. Its word is in documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Something could not be read, and the command continues without it.
    Incomplete,
    /// A request failed, and is repeated.
    Retrying,
    /// The command waits for another party.
    Waiting,
    /// A request, as `-v 6` logs it.
    Request,
    /// The API server sent a warning, or a credential plugin wrote to its standard error.
    Passed,
    /// A workload or an object is left as it is.
    Skipped,
    /// A change that the command would like to make besides its own is not made.
    NotWritten,
    /// A change was made although its answer was lost, or its line could not be printed.
    Written,
    /// What had failed works again, or has completed meanwhile.
    Recovered,
    /// Another client changed the workload, or an object that it reads.
    Changed,
    /// The workload is being deleted.
    BeingDeleted,
    /// The search found nothing.
    NotFound,
    /// A time limit has passed.
    TimedOut,
    /// A signal ended the command.
    Interrupted,
    /// A value has no effect.
    Ignored,
    /// No credentials are sent over plain HTTP.
    NoCredentials,
    /// The API server will refuse every eviction.
    EvictionsRefused,
    /// No pod is outdated, so there is nothing to step.
    NothingOutdated,
    /// The goal is reached, and the workload is held.
    Reached,
    /// Every pod is updated.
    Complete,
    /// A pause holds the workload.
    Paused,
    /// Another process holds the lock.
    Locked,
    /// The lock of this process was not released.
    LockKept,
    /// Another process took the plan over.
    TakenOver,
    /// A plan holds the workload, and releases no more pods.
    Held,
    /// As many pods are unavailable as may be.
    Unhealthy,
    /// The workload is scaled to 0 replicas.
    NoReplicas,
    /// The workload's own partition or node selector keeps the outdated pods.
    PartitionReached,
    /// No selected node has an outdated pod.
    NotSelected,
    /// The next pods are on nodes that are not ready.
    NodeNotReady,
    /// A batch, a check or a rollout failed.
    Failed,
    /// A rollback begins, or is what a failure would begin.
    RollingBack,
    /// A rollback is complete.
    RolledBack,
    /// A rollback is not complete.
    RollbackUnfinished,
    /// A rollback did not start.
    RollbackNotStarted,
    /// What is applied ends a hold.
    EndsHold,
    /// What is applied replaces the strategy of a plan, whose other fields still hold the workload.
    ReplacesHeldStrategy,
    /// What is applied leaves fields of a plan.
    LeavesFields,
    /// An owner of the manifest may revert a change.
    Owner,
    /// The workload keeps no revision to roll back to.
    KeepsNoHistory,
    /// Revisions are removed.
    RemovesRevisions,
    /// The tag of an image is not fixed.
    MovingTag,
    /// What is applied rolls a revision out again that was rolled back.
    BringsBack,
    /// Pods block their StatefulSet.
    StuckPods,
    /// New pods cannot start.
    PodsCannotStart,
    /// Something is used that does not exist.
    Missing,
    /// A rollback leaves a later change as it is.
    NotRolledBack,
    /// The workload was deleted.
    Deleted,
    /// The workload was deleted, and created again.
    Recreated,
    /// An error of this kind.
    #[serde(untagged)]
    Error(ErrorKind),
}

/// One thing that the user reads: a result, a warning, a refusal or a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// Why it exists.
    pub reason: Reason,
    /// What it is about: a workload, a context or an address. `None` if the text names it.
    pub subject: Option<String>,
    /// One sentence without its severity and its subject.
    pub text: String,
    /// A command that helps.
    pub hint: Option<String>,
}

impl Finding {
    /// Creates a finding without a subject and a hint.
    pub fn new(severity: Severity, reason: Reason, text: impl Into<String>) -> Self {
        Self { severity, reason, subject: None, text: text.into(), hint: None }
    }

    /// Creates a finding whose line has no word for the severity.
    pub fn info(reason: Reason, text: impl Into<String>) -> Self {
        Self::new(Severity::Info, reason, text)
    }

    /// Creates a note.
    pub fn note(reason: Reason, text: impl Into<String>) -> Self {
        Self::new(Severity::Note, reason, text)
    }

    /// Creates a warning.
    pub fn warning(reason: Reason, text: impl Into<String>) -> Self {
        Self::new(Severity::Warning, reason, text)
    }

    /// Creates an error.
    pub fn error(reason: Reason, text: impl Into<String>) -> Self {
        Self::new(Severity::Error, reason, text)
    }

    /// Sets what it is about.
    #[must_use]
    pub fn about(self, subject: impl Into<String>) -> Self {
        Self { subject: Some(subject.into()), ..self }
    }

    /// Adds a command that helps.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

/// The finding of an error.
impl From<&Error> for Finding {
    fn from(error: &Error) -> Self {
        let finding = Self::error(Reason::Error(error.kind()), error.to_string());
        Self { hint: error.hint_text().map(str::to_owned), ..finding }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_reason_of_an_error_is_its_kind() {
        let finding = Finding::from(&Error::usage("no flag").hint("kubectl rollout2 --help"));
        assert_eq!(json!(finding.reason), json!("usage"));
        assert_eq!(finding.hint.as_deref(), Some("kubectl rollout2 --help"));
        assert_eq!(json!(Reason::BeingDeleted), json!("being-deleted"));
    }
}
