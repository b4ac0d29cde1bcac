//! What to wait for, and when to give up: the flags of every verb that follows rollouts.

use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::error::{Error, Result};
use crate::model::cause::CauseId;
use crate::model::follow::{Goal, Options};
use crate::model::go_duration;

/// How long a cause may last when nothing else is said.
const GRACE: &str = "30s";

/// What to wait for, and when to give up.
#[derive(Debug, Args)]
#[command(next_help_heading = "What to wait for, and when to give up")]
pub(super) struct FollowArgs {
    /// Wait until this is reached
    #[arg(long, value_enum, value_name = "GOAL")]
    until: Option<Until>,

    /// Wait until it has stayed reached so long
    ///
    /// A container without a readiness probe is available the instant it starts, even if it crashes the
    /// next.
    #[arg(long, value_name = "DURATION")]
    stable: Option<String>,

    /// Go on waiting while a hold keeps the rollout back
    #[arg(long)]
    wait_held: bool,

    #[command(flatten)]
    patience: PatienceArgs,

    /// Fail also once this cause has lasted so long (30s if not said); may be given several times
    #[arg(long, value_name = "CAUSE[=GRACE]")]
    fail_on: Vec<String>,

    /// Fail once nothing moved for so long, where the controller has no deadline of its own
    #[arg(long, value_name = "DURATION")]
    deadline: Option<String>,
}

/// When to give up.
#[derive(Debug, Args)]
pub(super) struct PatienceArgs {
    /// How long to follow, such as 90s or 1h30m; 0 is for ever
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    timeout: Option<String>,

    /// Fail once a cause that only a person can mend has lasted so long
    ///
    /// The causes are: image not found or refused, invalid image name, missing ConfigMap, Secret or key,
    /// command not found, a crash from the second restart on, and pods refused by a quota or by admission
    /// while nothing moves and no pod is on its way out.
    #[arg(long, value_name = "GRACE", num_args = 0..=1, require_equals = true, default_missing_value = GRACE)]
    fail_fast: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Until {
    /// As many pods as wanted are of the new revision
    Updated,
    /// They are available too
    Available,
    /// And no pod of an old revision is counted any more; a partition that keeps some is a hold
    Complete,
    /// And none of them is there any more, not even on its way out
    OldGone,
}

impl FollowArgs {
    pub(super) fn lower(self) -> Result<Options> {
        let patience = self.patience.lower()?;
        let goal = match self.until {
            None => Goal::Success,
            Some(Until::Updated) => Goal::Updated,
            Some(Until::Available) => Goal::Available,
            Some(Until::Complete) => Goal::Complete,
            Some(Until::OldGone) => Goal::OldGone,
        };
        let deadline = self.deadline.as_deref().map(duration).transpose()?;
        Ok(Options {
            goal,
            stable: self.stable.as_deref().map(duration).transpose()?.unwrap_or_default(),
            wait_held: self.wait_held,
            fail_on: self.fail_on.iter().map(|word| cause_and_grace(word)).collect::<Result<_>>()?,
            deadline: deadline.filter(|deadline| !deadline.is_zero()),
            ..patience
        })
    }
}

impl PatienceArgs {
    pub(super) fn lower(&self) -> Result<Options> {
        Ok(Options {
            timeout: self.timeout.as_deref().map(read_timeout).transpose()?.flatten(),
            fail_fast: self.fail_fast.as_deref().map(duration).transpose()?,
            ..Options::default()
        })
    }
}

/// How long to follow; none for ever. Less than no time is for ever in kubectl, and is here.
pub(super) fn read_timeout(word: &str) -> Result<Option<Duration>> {
    let magnitude = word.strip_prefix('-').unwrap_or(word);
    match go_duration::parse(magnitude) {
        Some(_) if word.starts_with('-') => Ok(None),
        Some(timeout) => Ok(Some(timeout).filter(|timeout| !timeout.is_zero())),
        None => Err(no_duration(word)),
    }
}

fn no_duration(word: &str) -> Error {
    Error::usage(format!("{word:?} is no duration"))
        .hint("write it with a unit, such as 90s or 1h30m")
        .in_compat(format!(
            "invalid argument {word:?} for \"--timeout\" flag: time: {} {word:?}\n\
             See 'kubectl rollout status --help' for usage.",
            if is_number(word) { "missing unit in duration" } else { "invalid duration" }
        ))
}

fn is_number(word: &str) -> bool {
    word.parse::<f64>().is_ok()
}

/// A duration as Go's flags take it.
pub(super) fn duration(word: &str) -> Result<Duration> {
    go_duration::parse(word).ok_or_else(|| {
        Error::usage(format!("{word:?} is no duration")).hint("write it with a unit, such as 90s or 1h30m")
    })
}

fn cause_and_grace(word: &str) -> Result<(CauseId, Duration)> {
    let (name, grace) = word.split_once('=').unwrap_or((word, GRACE));
    let id = CauseId::read(name).ok_or_else(|| {
        let names: Vec<_> = CauseId::ALL.into_iter().map(CauseId::name).collect();
        Error::usage(format!("{name:?} is no cause")).hint(format!("the causes are {}", names.join(", ")))
    })?;
    Ok((id, duration(grace)?))
}
