//! The goals and time limits of the verbs that follow rollouts.

use std::time::Duration;

use clap::{Args, ValueEnum};

use super::duration::duration;
use super::timeout::{GRACE, TimeoutArgs};
use crate::error::Result;
use crate::model::cause::CauseId;
use crate::model::follow::{FollowOptions, Goal};

/// The goal, the time limits and the fatal causes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Goal and time limits")]
pub(super) struct FollowArgs {
    /// The goal to wait for
    #[arg(long, value_enum, value_name = "GOAL")]
    until: Option<UntilArg>,

    /// Wait until the goal has been reached for this long without interruption
    ///
    /// A container without a readiness probe counts as available as soon as it starts, even if it crashes
    /// right afterwards. So with --fail-fast, --fail-on and --undo-on-failure the updated pods must have been
    /// ready for 10s, or for this long if it is longer; 0s turns that off.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    stable: Option<Duration>,

    /// Continue to wait while the rollout is held
    #[arg(long)]
    wait_held: bool,

    #[command(flatten)]
    timeouts: TimeoutArgs,

    /// Fail once this cause has lasted for GRACE [default: 30s]; may be repeated
    #[arg(long, value_name = "CAUSE[=GRACE]", value_parser = cause_and_grace, long_help = fail_on_help())]
    fail_on: Vec<(CauseId, Duration)>,

    /// Fail once nothing moved for this long, for workloads without a progress deadline
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    deadline: Option<Duration>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum UntilArg {
    /// The desired number of pods run the current revision
    Updated,
    /// These pods are available
    Available,
    /// The controller counts no outdated pod; a partition that keeps some is a hold
    Complete,
    /// No outdated pod exists, not even a terminating one
    OldGone,
}

impl FollowArgs {
    pub(super) fn lower(self) -> Result<FollowOptions> {
        let goal = match self.until {
            None => Goal::Success,
            Some(UntilArg::Updated) => Goal::Updated,
            Some(UntilArg::Available) => Goal::Available,
            Some(UntilArg::Complete) => Goal::Complete,
            Some(UntilArg::OldGone) => Goal::OldGone,
        };
        Ok(FollowOptions {
            goal,
            stable: self.stable,
            wait_held: self.wait_held,
            fail_on: self.fail_on,
            deadline: self.deadline.filter(|deadline| !deadline.is_zero()),
            ..self.timeouts.lower()?
        })
    }
}

/// Returns the help of `--fail-on`, which lists the causes.
fn fail_on_help() -> String {
    let names = CauseId::ALL.map(CauseId::name).join(", ");
    format!(
        "Fail once this cause has lasted for GRACE [default: 30s]; may be repeated\n\nThe causes are: {names}."
    )
}

/// Parses `CAUSE[=GRACE]`.
fn cause_and_grace(word: &str) -> std::result::Result<(CauseId, Duration), String> {
    let (name, grace) = word.split_once('=').unwrap_or((word, GRACE));
    let cause = CauseId::read(name).ok_or_else(|| {
        let near = similar::get_close_matches(name, &CauseId::ALL.map(CauseId::name), 3, 0.0);
        format!("{name:?} is not a cause; near ones are {}; --help lists all", near.join(", "))
    })?;
    Ok((cause, duration(grace)?))
}
