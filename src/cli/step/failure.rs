//! The flags of `step` for the failure of a batch.

use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::cli::duration::positive_duration;
use crate::cli::help::ADVANCED;
use crate::model::hold::plan::OnFailure;
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
    pub(super) fn check(&self) -> Option<CheckOverride> {
        self.check.as_ref().map(|command| match command.trim() {
            "" => CheckOverride::Skip,
            _ => CheckOverride::Run(Digest::of_text(command).hex()),
        })
    }

    pub(super) fn into_command(self) -> Option<String> {
        self.check.filter(|command| !command.trim().is_empty())
    }
}
