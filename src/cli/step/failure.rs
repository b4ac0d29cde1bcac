//! When a batch has failed, and what then.

use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::cli::following::duration;
use crate::error::{Error, Result};
use crate::model::digest::Digest;
use crate::model::step::{CheckWish, OnFailure};

/// When a batch has failed, and what then.
#[derive(Debug, Args)]
#[command(next_help_heading = "When a batch has failed, and what then")]
pub(super) struct FailureArgs {
    /// Fail a batch once no further pod of it became available for so long [default: 10m]
    ///
    /// Soaking is not counted. It fails sooner when a pod of it has what only a person can mend: the causes of status
    /// --fail-fast, for 30s.
    #[arg(long, value_name = "DURATION")]
    batch_timeout: Option<String>,

    /// Run this with sh -c after each batch; exit 0 goes on, anything else fails
    ///
    /// What it prints is shown on standard error. The cluster keeps only its SHA-256, so going on needs
    /// the same command again, or --no-check.
    #[arg(long, value_name = "COMMAND", conflicts_with = "no_check")]
    check: Option<String>,

    /// Fail a check that takes longer, and end it [default: 1m]
    #[arg(long, value_name = "DURATION", requires = "check")]
    check_timeout: Option<String>,

    /// Take the check out of the plan
    #[arg(long)]
    no_check: bool,

    /// Then hold everything as it is, or undo what was released [default: hold]
    #[arg(long, value_enum, value_name = "WHAT")]
    on_failure: Option<What>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    Hold,
    Undo,
}

impl FailureArgs {
    pub(super) fn batch_timeout(&self) -> Result<Option<Duration>> {
        some_time("--batch-timeout", self.batch_timeout.as_deref())
    }

    pub(super) fn check_timeout(&self) -> Result<Option<Duration>> {
        some_time("--check-timeout", self.check_timeout.as_deref())
    }

    pub(super) fn on_failure(&self) -> Option<OnFailure> {
        self.on_failure.map(|what| match what {
            What::Hold => OnFailure::Hold,
            What::Undo => OnFailure::Undo,
        })
    }

    /// What the plan is told of the check: never the command itself.
    pub(super) fn check(&self) -> Result<Option<CheckWish>> {
        match &self.check {
            Some(command) if command.trim().is_empty() => Err(Error::usage("--check needs a command")),
            Some(command) => Ok(Some(CheckWish::Run(Digest::of_text(command).hex()))),
            None => Ok(self.no_check.then_some(CheckWish::Skip)),
        }
    }

    pub(super) fn into_command(self) -> Option<String> {
        self.check
    }
}

/// A time in which nothing can come true fails everything.
fn some_time(flag: &str, word: Option<&str>) -> Result<Option<Duration>> {
    let time = word.map(duration).transpose()?;
    match time {
        Some(Duration::ZERO) => Err(Error::usage(format!("{flag} must be more than 0"))),
        time => Ok(time),
    }
}
