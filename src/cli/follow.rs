//! The goals and time limits of the verbs that follow rollouts.

use std::ffi::OsStr;
use std::time::Duration;

use clap::builder::{EnumValueParser, PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Args, Command, ValueEnum};

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
    ///
    /// available=N or available=N% is enough where a part of the pods can never be available, such as on a node
    /// that is down: so many pods of the current revision, at most as many as wanted. Per cent are of the
    /// wanted pods, rounded up.
    #[arg(long, value_name = "GOAL", value_parser = UntilParser)]
    until: Option<Goal>,

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

impl UntilArg {
    fn goal(self) -> Goal {
        match self {
            Self::Updated => Goal::Updated,
            Self::Available => Goal::Available,
            Self::Complete => Goal::Complete,
            Self::OldGone => Goal::OldGone,
        }
    }
}

/// How the goal of a share of the pods begins.
pub(super) const SHARE: &str = "available=";

/// Parses a goal: a word, or `available=` with a number of pods or a share of them.
#[derive(Clone, Debug)]
struct UntilParser;

impl TypedValueParser for UntilParser {
    type Value = Goal;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> std::result::Result<Goal, clap::Error> {
        if !value.as_encoded_bytes().starts_with(SHARE.as_bytes()) {
            return EnumValueParser::<UntilArg>::new().parse_ref(command, arg, value).map(UntilArg::goal);
        }
        let share = |word: String| word.strip_prefix(SHARE).unwrap_or_default().parse();
        let parser = StringValueParser::new().try_map(share);
        parser.parse_ref(command, arg, value).map(Goal::AvailableShare)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let values: Vec<_> =
            UntilArg::value_variants().iter().filter_map(ValueEnum::to_possible_value).collect();
        Some(Box::new(values.into_iter()))
    }
}

impl FollowArgs {
    pub(super) fn lower(self) -> Result<FollowOptions> {
        Ok(FollowOptions {
            goal: self.until.unwrap_or_default(),
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
