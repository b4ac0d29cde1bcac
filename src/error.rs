//! What went wrong, in words a person can act on.

use crate::exit::Exit;

/// The result of anything that can fail in front of a user.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of failure this is; it decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The words on the command line make no sense; nothing was read.
    Usage,
    /// A file named on the command line cannot be read or is not what it should be.
    File,
    /// An object, a revision or a kind of object is not there.
    NotFound,
    /// Something beside the workload may not be read, or is not in the snapshot; a command that can
    /// do without it says so and goes on.
    Withheld,
    /// What the cluster keeps cannot be used: a selector, a revision's data.
    Malformed,
    /// A program that the environment names could not do its work.
    Program,
    /// The cluster could not be reached, or did not answer as an API server does.
    Unreachable,
    /// The cluster answered, and the answer was no.
    Refused,
    /// Someone else changed what we were about to change.
    Conflict,
    /// All was read and understood, and the rollout failed.
    Failed,
}

/// One failure: one lowercase sentence, its cause, and the command that leads on.
///
/// `kubectl` says some of these things differently, and scripts match its words; under `--compat`
/// the text given with [`Error::in_compat`] is printed instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    cause: Option<String>,
    hint: Option<String>,
    compat: Option<String>,
}

impl Error {
    /// A failure of a kind, told in one lowercase sentence.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), cause: None, hint: None, compat: None }
    }

    /// A mistake on the command line.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Adds what lies beneath: the words of the system, the server or a parser.
    #[must_use]
    pub fn caused_by(mut self, cause: impl std::fmt::Display) -> Self {
        self.cause = Some(cause.to_string());
        self
    }

    /// Adds the next step: a command to type.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds kubectl's own words for the same failure.
    #[must_use]
    pub fn in_compat(mut self, text: impl Into<String>) -> Self {
        self.compat = Some(text.into());
        self
    }

    /// What kind of failure this is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The sentence and its cause, without `error: `.
    #[must_use]
    pub fn sentence(&self) -> String {
        match &self.cause {
            Some(cause) => format!("{}: {cause}", self.message),
            None => self.message.clone(),
        }
    }

    /// The command that leads on, when there is one.
    #[must_use]
    pub fn next_step(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// kubectl's words for this failure, our own where kubectl has none.
    #[must_use]
    pub fn compat_sentence(&self) -> String {
        self.compat.clone().unwrap_or_else(|| self.sentence())
    }

    /// The exit code this failure stands for.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self.kind {
            ErrorKind::Usage | ErrorKind::File => Exit::Usage,
            ErrorKind::Failed => Exit::Failed,
            _ => Exit::Error,
        }
    }
}
