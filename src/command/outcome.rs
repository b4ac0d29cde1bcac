//! The outcome of a command, and the errors that only withhold optional data.

use crate::error::{Error, ErrorKind};
use crate::exit::Exit;

/// The outcome of a command.
#[derive(Debug)]
pub struct CommandOutcome {
    /// The worst exit code of the targets without an error.
    pub exit: Exit,
    /// The errors of the other targets, in order.
    pub errors: Vec<Error>,
}

impl CommandOutcome {
    /// Combines two outcomes: the worst exit code, and the errors of both.
    pub(super) fn and(mut self, other: Self) -> Self {
        self.exit = self.exit.worst(other.exit);
        self.errors.extend(other.errors);
        self
    }
}

impl From<Error> for CommandOutcome {
    fn from(error: Error) -> Self {
        Self { exit: Exit::Done, errors: vec![error] }
    }
}

/// Whether an error only withholds optional data: a forbidden list, or a type that the snapshot lacks.
pub(super) fn is_withheld(error: &Error) -> bool {
    error.kind() == ErrorKind::NotReadable
}
