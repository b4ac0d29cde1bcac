//! The goals and time limits of the verbs that follow rollouts.

use std::time::Duration;

use clap::{Args, ValueEnum};

use super::duration::{Timeout, duration, timeout};
use crate::error::Result;
use crate::model::follow::{FollowOptions, Goal};
use crate::model::status::cause::CauseId;

/// The default grace period of a fatal cause.
pub(super) const GRACE: &str = "30s";

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
    /// right afterwards.
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

/// The time limits of following.
#[derive(Debug, Args)]
pub(super) struct TimeoutArgs {
    /// How long to follow, such as 90s or 1h30m; 0 is no limit
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = timeout)]
    timeout: Option<Timeout>,

    /// Fail once a cause that needs a fix has lasted for GRACE [default: 30s]
    ///
    /// These causes are: image not found or pull denied, invalid image name, missing ConfigMap, Secret or key, a
    /// configuration that the kubelet rejects, command not found, a pod that every node rejects; from the
    /// second restart on a crash, a failing postStart hook, and a kill by a liveness or startup probe; and pods
    /// rejected by a quota or by admission while nothing moves and no pod terminates.
    ///
    /// Success waits until no such cause was present for 10s, and until every restarted container has run for
    /// 10s longer than before it ended, but for no more than 1m.
    #[arg(long, value_name = "GRACE", num_args = 0..=1, require_equals = true, default_missing_value = GRACE, value_parser = duration)]
    fail_fast: Option<Duration>,
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
    pub(super) fn lower(self, compat: bool) -> Result<FollowOptions> {
        let goal = match self.until {
            None => Goal::Success,
            Some(UntilArg::Updated) => Goal::Updated,
            Some(UntilArg::Available) => Goal::Available,
            Some(UntilArg::Complete) => Goal::Complete,
            Some(UntilArg::OldGone) => Goal::OldGone,
        };
        Ok(FollowOptions {
            goal,
            stable: self.stable.unwrap_or_default(),
            wait_held: self.wait_held,
            fail_on: self.fail_on,
            deadline: self.deadline.filter(|deadline| !deadline.is_zero()),
            ..self.timeouts.lower(compat)?
        })
    }
}

impl TimeoutArgs {
    /// Whether any of them was given.
    pub(super) fn are_set(&self) -> bool {
        self.timeout.is_some() || self.fail_fast.is_some()
    }

    pub(super) fn lower(&self, compat: bool) -> Result<FollowOptions> {
        let timeout = self.timeout.map(|timeout| timeout.limit(compat)).transpose()?.flatten();
        Ok(FollowOptions { timeout, fail_fast: self.fail_fast, ..FollowOptions::default() })
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
    Ok((cause, duration(grace).map_err(|error| error.to_string())?))
}
