//! The outcome of a command.

use crate::error::Error;
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

impl From<Exit> for CommandOutcome {
    fn from(exit: Exit) -> Self {
        Self { exit, errors: Vec::new() }
    }
}
