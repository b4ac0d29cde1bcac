//! The flags of following: the goal, the time limits, and what happens after a failure.

use std::time::Duration;

use clap::Args;
use clap::builder::TypedValueParser;

use super::values::{Words, WordsOr, count, duration, words};
use crate::model::cause::{AllowedRestarts, CauseId};
use crate::model::follow::{FollowOptions, Goal, UndoScope};
use crate::model::text::go_duration;

/// The goal, the time limits and the fatal causes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Goal and time limits")]
pub(super) struct FollowArgs {
    /// The goal to wait for
    ///
    /// available=N or available=N% is enough where a part of the pods can never be available, such as on a node
    /// that is down: so many pods of the current revision, at most as many as wanted. Per cent are of the
    /// wanted pods, rounded up.
    #[arg(long, value_name = "GOAL", value_parser = goal())]
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

const GOALS: &Words<Goal> = &[
    ("updated", "The desired number of pods run the current revision", Goal::Updated),
    ("available", "These pods are available", Goal::Available),
    (
        "complete",
        "The controller counts no outdated pod; a partition that keeps some is a hold",
        Goal::Complete,
    ),
    ("old-gone", "No outdated pod exists, not even a terminating one", Goal::OldGone),
];

/// How the goal of a share of the pods begins.
pub(super) const SHARE: &str = "available=";

/// Returns the parser of a goal: a word, or `available=` with a number of pods or a share of them.
fn goal() -> impl TypedValueParser<Value = Goal> {
    let share = |word: &str| Some(word.strip_prefix(SHARE)?.parse().map(Goal::AvailableShare));
    WordsOr { words: words(GOALS), other: share }
}

impl FollowArgs {
    pub(super) fn lower(self) -> FollowOptions {
        FollowOptions {
            goal: self.until.unwrap_or_default(),
            stable: self.stable,
            wait_held: self.wait_held,
            fail_on: self.fail_on,
            deadline: self.deadline.filter(|deadline| !deadline.is_zero()),
            ..self.timeouts.lower()
        }
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
fn cause_and_grace(word: &str) -> Result<(CauseId, Duration), String> {
    let (name, grace) = word.split_once('=').unwrap_or((word, GRACE));
    let cause = CauseId::read(name).ok_or_else(|| {
        let near = similar::get_close_matches(name, &CauseId::ALL.map(CauseId::name), 3, 0.0);
        format!("{name:?} is not a cause; near ones are {}; --help lists all", near.join(", "))
    })?;
    Ok((cause, duration(grace)?))
}

/// The default grace period of a fatal cause.
pub(super) const GRACE: &str = "30s";

/// The time limits of following.
#[derive(Debug, Args)]
pub(super) struct TimeoutArgs {
    /// How long to follow, such as 90s or 1h30m; 0 is no limit
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = timeout)]
    pub(super) timeout: Option<Duration>,

    /// Fail once a cause that needs a fix has lasted for GRACE [default: 30s]
    ///
    /// These causes are: an image that cannot be pulled, a missing ConfigMap, Secret or key, a pod that cannot
    /// start, from the second restart on a crash or a kill by a probe, and pods that a quota or admission
    /// refuses. Success waits until the updated pods have been ready for 10s.
    #[arg(long, value_name = "GRACE", num_args = 0..=1, require_equals = true, default_missing_value = GRACE, value_parser = duration)]
    pub(super) fail_fast: Option<Duration>,

    /// A container that runs again after at most N restarts is in no crash loop
    ///
    /// For containers that crash until what they need is there. Counted are the restarts since the pod was
    /// created. A crashed container that waits for its next run is shown, and fails nothing before restart
    /// N+1; without this flag, before the second.
    #[arg(long, value_name = "N", value_parser = count::<u32>, hide_short_help = true)]
    pub(super) allow_restarts: Option<u32>,
}

impl TimeoutArgs {
    pub(super) fn lower(&self) -> FollowOptions {
        let timeout = self.timeout.filter(|limit| !limit.is_zero());
        let allowed_restarts = AllowedRestarts(self.allow_restarts);
        FollowOptions { timeout, fail_fast: self.fail_fast, allowed_restarts, ..FollowOptions::default() }
    }
}

/// Parses the value of `--timeout`. In kubectl a negative one is no limit.
pub(super) fn timeout(word: &str) -> Result<Duration, &'static str> {
    let magnitude = duration(word.strip_prefix('-').unwrap_or(word))?;
    if word.starts_with('-') && !magnitude.is_zero() {
        return Err("it cannot be negative; for no limit: --timeout 0");
    }
    Ok(magnitude)
}

/// The `--deadline` that `--undo-on-failure` implies: the API server's default `progressDeadlineSeconds` of a Deployment.
const DEADLINE: Duration = Duration::from_secs(600);

/// Whether to roll back a failed rollout.
#[derive(Debug, Args)]
pub(super) struct UndoOnFailureArgs {
    /// Roll back a failed rollout to the revision that served before, and wait for it
    ///
    /// A workload is rolled back only while it still has the template that it had when following began.
    /// Nothing is written when no other revision served then. The exit code is 4 in both cases. A timeout is
    /// not a failure. Implies --fail-fast, and --deadline 10m for workloads without progressDeadlineSeconds.
    #[arg(
        long, value_name = "TARGETS", num_args = 0..=1, require_equals = true,
        default_missing_value = "failed", value_parser = words(UNDO_SCOPES), help_heading = "Goal and time limits"
    )]
    pub(super) undo_on_failure: Option<UndoScope>,
}

const UNDO_SCOPES: &Words<UndoScope> = &[
    ("failed", "The workload that failed", UndoScope::Failed),
    (
        "all",
        "Once one fails, each workload of the command whose rollout was under way when following began, complete or not",
        UndoScope::All,
    ),
];

impl UndoOnFailureArgs {
    /// Returns the options with the flag and its implied options.
    pub(super) fn lower(&self, options: FollowOptions) -> FollowOptions {
        let Some(scope) = self.undo_on_failure else { return options };
        FollowOptions {
            undo_on_failure: Some(scope),
            fail_fast: options.fail_fast.or_else(|| go_duration::parse(GRACE)),
            deadline: options.deadline.or(Some(DEADLINE)),
            ..options
        }
    }
}
