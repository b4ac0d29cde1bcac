//! The outcome of a command.

use crate::error::Error;
use crate::exit::Exit;
use crate::render::job_summary::Row;

/// The outcome of a command.
#[derive(Debug)]
pub struct CommandOutcome {
    /// The worst exit code of the targets without an error.
    pub exit: Exit,
    /// The errors of the other targets, in order.
    pub errors: Vec<Error>,
    /// The error of a search that found nothing. kubectl's line for it is printed already.
    pub nothing_found: Option<Error>,
    /// The changes that were made, to report where their own lines cannot be printed.
    pub changes: Vec<String>,
    /// The rows of the job summary.
    pub summary: Vec<Row>,
}

impl CommandOutcome {
    /// Returns all errors, also those that are printed already.
    pub(super) fn all_errors(&self) -> impl Iterator<Item = &Error> {
        self.nothing_found.iter().chain(&self.errors)
    }

    /// Returns the worst exit code, also of the targets with an error.
    pub(super) fn worst_exit(&self) -> Exit {
        self.all_errors().map(Error::exit).fold(self.exit, Exit::worst)
    }

    /// Combines two outcomes: the worst exit code, and the errors, changes and rows of both.
    pub(super) fn and(mut self, other: Self) -> Self {
        self.exit = self.exit.worst(other.exit);
        self.errors.extend(other.errors);
        self.nothing_found = self.nothing_found.or(other.nothing_found);
        self.changes.extend(other.changes);
        self.summary.extend(other.summary);
        self
    }

    /// Leaves out repetitions of an error: the server fails the list of each type, or of each target, in the same way.
    pub(super) fn name_errors_once(&mut self) {
        let mut named = Vec::new();
        self.errors.retain(|error| {
            let is_new = !named.contains(error);
            named.extend(is_new.then(|| error.clone()));
            is_new
        });
    }
}

impl From<Error> for CommandOutcome {
    fn from(error: Error) -> Self {
        Self { errors: vec![error], ..Self::from(Exit::Done) }
    }
}

impl Default for CommandOutcome {
    fn default() -> Self {
        Self::from(Exit::Done)
    }
}

impl From<Exit> for CommandOutcome {
    fn from(exit: Exit) -> Self {
        Self { exit, errors: Vec::new(), nothing_found: None, changes: Vec::new(), summary: Vec::new() }
    }
}
