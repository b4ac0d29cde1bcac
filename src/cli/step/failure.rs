//! The flags of `step` for the failure of a batch.

use std::num::NonZeroU32;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::cli::help::ADVANCED;
use crate::cli::values::{duration, positive_count, positive_duration};
use crate::error::{Error, Result};
use crate::model::hold::plan::{LEAST_CHECK_INTERVAL, OnFailure};
use crate::model::step::CheckOverride;
use crate::model::text::digest::Digest;

/// When a batch fails, and the reaction.
#[derive(Debug, Args)]
pub(super) struct FailureArgs {
    /// Fail a batch once none of its pods became available for this long [default: 10m]
    ///
    /// The soak is not counted. A batch fails earlier when one of its pods has a cause that needs a fix for
    /// 30s: the causes of status --fail-fast.
    #[arg(long, value_name = "DURATION", value_parser = positive_duration, help_heading = ADVANCED, hide_short_help = true)]
    pub(super) batch_timeout: Option<Duration>,

    /// Run this command with sh -c after each batch; the batch fails unless it exits with 0
    ///
    /// Its output goes to standard error. The plan stores only the SHA-256 of the command, so continuing the
    /// plan needs the same command again. An empty command removes the check. A check is killed after 10m, and
    /// fails; for a shorter limit: --check 'timeout 60 ./smoke-test'.
    #[arg(long, value_name = "COMMAND")]
    check: Option<String>,

    /// Run the check during the soak too, at this interval, such as 30s, and once more after it
    ///
    /// The first run is one interval after the pods became available. A run that lasts longer than the interval
    /// delays the next one. A run that has begun when the soak ends is the last one. The final soak is watched too.
    #[arg(long, value_name = "DURATION", requires = "check", value_parser = check_interval, help_heading = ADVANCED, hide_short_help = true)]
    pub(super) check_every: Option<Duration>,

    /// With --check-every: fail the batch after this many failed runs in a row [default: 1]
    ///
    /// A run that passes starts the count again. A process that continues the plan counts from 0. At the end of
    /// the soak a failed run is repeated after the interval, until it passes or fails the batch.
    #[arg(long, value_name = "N", requires = "check_every", value_parser = positive_count, help_heading = ADVANCED, hide_short_help = true)]
    pub(super) check_failures: Option<NonZeroU32>,

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
        let Some(command) = &self.check else { return Ok(None) };
        match command.trim() {
            "" if self.check_every.is_some() => {
                Err(Error::usage("--check-every needs a check, and --check is empty"))
            }
            "" => Ok(Some(CheckOverride::Skip)),
            _ => Ok(Some(CheckOverride::Run(Digest::of_text(command).hex()))),
        }
    }

    pub(super) fn into_command(self) -> Option<String> {
        self.check.filter(|command| !command.trim().is_empty())
    }
}

/// Parses `--check-every`.
fn check_interval(word: &str) -> std::result::Result<Duration, &'static str> {
    duration(word)
        .and_then(|every| if every < LEAST_CHECK_INTERVAL { Err("must be at least 1s") } else { Ok(every) })
}
