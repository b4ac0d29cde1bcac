//! What a verb gets, and what it returns.

use serde_json::Value;

use super::inputs::Inputs;
use super::stop_signals::StopSignals;
use crate::cli::common::CommonArgs;
use crate::cluster::source::{ContextSource, Source};
use crate::error::{Error, ErrorKind};
use crate::exit::Exit;
use crate::model::diff::SecretValues;
use crate::model::hold::plan::{LONGEST_TEXT, Lock};
use crate::model::text::plural::plural;
use crate::render::job_summary::ResultRow;
use crate::render::ui::Ui;
use crate::world::process::Processes;
use crate::world::{Environment, World, random};

/// The access to the cluster, and the process that every command needs.
pub struct Context<'a> {
    /// Where objects are read and written.
    pub source: &'a Source,
    /// The contexts that the command names, each with its source.
    pub contexts: &'a [ContextSource],
    /// The flags of every verb.
    pub common: &'a CommonArgs,
    /// What the arguments name outside of the command line.
    pub(super) inputs: &'a Inputs,
    /// Whether printed objects have their secret-looking values.
    pub secret_values: SecretValues,
    /// The environment variables, the signals that stop the command, and the processes of the host.
    pub world: &'a World,
}

impl Context<'_> {
    /// Returns the signals that arrive from now on. From then on they do not end the process.
    pub(super) fn stop_signals(&self) -> StopSignals {
        StopSignals::new(self.world.signals.clone())
    }

    /// Returns the user and the host: `ada@laptop`.
    pub(super) fn user(&self) -> Option<String> {
        user_at_host(&self.world.environment, self.world.host.as_deref())
    }

    /// Returns the error of the warnings that the server sent, with `--warnings-as-errors`.
    pub(super) fn warnings_error(&self) -> Option<Error> {
        let named = self.contexts.iter().filter_map(|context| context.source.as_ref().ok());
        let others = named.filter(|source| !std::ptr::eq(*source, self.source)).map(Source::warnings);
        let warnings = self.source.warnings() + others.sum::<usize>();
        let is_error = self.inputs.access.overrides.warnings_as_errors && warnings > 0;
        is_error.then(|| Error::new(ErrorKind::Refused, format!("{} received", plural(warnings, "warning"))))
    }

    /// Returns the exit code of a command whose outcome has this one: warnings of the server can make it worse.
    pub(super) fn exit(&self, exit: Exit) -> Exit {
        self.warnings_error().map_or(exit, |error| exit.worst(error.exit()))
    }
}

/// Returns the lock of one run, with a unique holder.
pub(super) fn new_lock(by: Option<&str>, processes: &Processes) -> Lock {
    let holder = format!("{:016x}{:016x}", random(), random());
    let (host, process) = processes.this().map(|this| (this.host, this.id)).unzip();
    Lock { holder, by: by.map(str::to_owned), host, process, written: None }
}

/// Returns whether printed objects have their secret-looking values: not if `ROLLOUT2_REDACT` is set, and not `0` or `false`.
pub(super) fn secret_values(environment: &Environment) -> SecretValues {
    match environment.get("ROLLOUT2_REDACT") {
        Some(value) if value != "0" && value != "false" => SecretValues::Masked,
        _ => SecretValues::Shown,
    }
}

/// Returns `USER@HOST` from the environment: `ada@laptop`. One of the two may be missing. It is no longer than what an
/// annotation may store.
fn user_at_host(environment: &Environment, host: Option<&str>) -> Option<String> {
    let user = environment.text("USER").or(environment.text("LOGNAME")).or(environment.text("USERNAME"));
    let host = environment.text("HOSTNAME").or(host);
    let name = match (user, host) {
        (Some(user), Some(host)) => Some(format!("{user}@{host}")),
        (user, host) => user.or(host).map(str::to_owned),
    };
    name.map(|name| name.chars().take(LONGEST_TEXT).collect())
}

/// The outcome of a command.
#[derive(Debug, Default)]
pub struct CommandOutcome {
    /// The worst exit code of the targets without an error.
    pub exit: Exit,
    /// The errors of the other targets, in order.
    pub errors: Vec<Error>,
    /// The errors that are printed already: before a wait, or as kubectl's line of a search that found nothing.
    pub printed: Vec<Error>,
    /// The document that the command prints, to which its errors are added; `None` for a stream of documents.
    pub document: Option<Value>,
    /// The changes that were made, to report where their own lines cannot be printed.
    pub changes: Vec<String>,
    /// The rows of the job summary.
    pub summary: Vec<ResultRow>,
}

impl CommandOutcome {
    /// Returns all errors, also those that are printed already.
    pub(super) fn all_errors(&self) -> impl Iterator<Item = &Error> {
        self.printed.iter().chain(&self.errors)
    }

    /// Returns the worst exit code, also of the targets with an error.
    pub(super) fn worst_exit(&self) -> Exit {
        self.all_errors().map(Error::exit).fold(self.exit, Exit::worst)
    }

    /// Combines two outcomes: the worst exit code, the errors, changes and rows of both, and the document of one of them.
    pub(super) fn and(mut self, other: Self) -> Self {
        self.document = self.document.or(other.document);
        self.exit = self.exit.worst(other.exit);
        self.errors.extend(other.errors);
        self.printed.extend(other.printed);
        self.changes.extend(other.changes);
        self.summary.extend(other.summary);
        self
    }

    /// Prints the errors that are not printed yet. The server fails the list of each type, or of each target, in the same way.
    pub(super) fn print_errors(&mut self, ui: &mut Ui) {
        for error in std::mem::take(&mut self.errors) {
            if !self.printed.contains(&error) {
                ui.messages.error(&error);
                self.printed.push(error);
            }
        }
    }
}

impl From<Error> for CommandOutcome {
    fn from(error: Error) -> Self {
        Self { errors: vec![error], ..Self::default() }
    }
}

impl From<Exit> for CommandOutcome {
    fn from(exit: Exit) -> Self {
        Self { exit, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_runs_have_the_same_holder() {
        let (one, other) = (new_lock(None, &Processes::Unknown), new_lock(None, &Processes::Unknown));
        assert_ne!(one.holder, other.holder);
        assert_eq!(one.holder.len(), 32);
    }

    /// An annotation with a longer text could not be read again.
    #[test]
    fn a_user_is_no_longer_than_what_is_stored() {
        let user = "x".repeat(2000);
        let environment: Environment = [("USER", user.as_str())].into_iter().collect();
        assert_eq!(user_at_host(&environment, None).unwrap().len(), LONGEST_TEXT);
    }

    #[test]
    fn a_missing_user_or_host_is_left_out() {
        for (variables, host, name) in [
            (&[("USER", "ada"), ("HOSTNAME", "laptop")][..], None, Some("ada@laptop")),
            (&[("USER", "ada")], Some("box"), Some("ada@box")),
            (&[("LOGNAME", "ada")], None, Some("ada")),
            (&[], Some("pod-7"), Some("pod-7")),
            (&[], None, None),
        ] {
            let environment: Environment = variables.iter().copied().collect();
            assert_eq!(user_at_host(&environment, host).as_deref(), name);
        }
    }
}
