//! The flags of `step` for the failure of a batch.

use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::cli::duration::positive_duration;
use crate::error::{Error, Result};
use crate::model::change::plan::OnFailure;
use crate::model::step::CheckOverride;
use crate::model::text::digest::Digest;

/// When a batch fails, and the reaction.
#[derive(Debug, Args)]
#[command(next_help_heading = "Batch failure")]
pub(super) struct FailureArgs {
    /// Fail a batch once none of its pods became available for this long [default: 10m]
    ///
    /// The soak is not counted. A batch fails earlier when one of its pods has a cause that needs a fix for
    /// 30s: the causes of status --fail-fast.
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    pub(super) batch_timeout: Option<Duration>,

    /// Run this command with sh -c after each batch; the batch fails unless it exits with 0
    ///
    /// Its output goes to standard error. The plan stores only the SHA-256 of the command, so continuing the
    /// plan needs the same command again, or --no-check.
    #[arg(long, value_name = "COMMAND", conflicts_with = "no_check")]
    check: Option<String>,

    /// The time limit of a check, after which it is killed and fails [default: 1m]
    #[arg(long, value_name = "DURATION", value_parser = positive_duration, requires = "check")]
    pub(super) check_timeout: Option<Duration>,

    /// Remove the check from the plan
    #[arg(long)]
    no_check: bool,

    /// The reaction to a failed batch: hold the rollout, or roll it back [default: hold]
    #[arg(long, value_enum, value_name = "REACTION")]
    on_failure: Option<OnFailureArg>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OnFailureArg {
    Hold,
    Undo,
}

impl FailureArgs {
    pub(super) fn on_failure(&self) -> Option<OnFailure> {
        self.on_failure.map(|what| match what {
            OnFailureArg::Hold => OnFailure::Hold,
            OnFailureArg::Undo => OnFailure::Undo,
        })
    }

    /// Returns the SHA-256 of the check's command for the plan, which never stores the command.
    pub(super) fn check(&self) -> Result<Option<CheckOverride>> {
        match &self.check {
            Some(command) if command.trim().is_empty() => Err(Error::usage("--check needs a command")),
            Some(command) => Ok(Some(CheckOverride::Run(Digest::of_text(command).hex()))),
            None => Ok(self.no_check.then_some(CheckOverride::Skip)),
        }
    }

    pub(super) fn into_command(self) -> Option<String> {
        self.check
    }
}
