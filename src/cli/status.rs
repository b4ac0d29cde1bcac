//! The arguments of `status`. Other verbs follow rollouts with some of them.

use std::time::Duration;

use clap::builder::TypedValueParser;
use clap::{ArgAction, Args};

use super::common::CommonArgs;
use super::scope::ScopeArgs;
use super::values::{
    DOCUMENTS, Words, WordsOr, count, duration, go_bool, output_form, positive_duration, selected,
    start_time, words,
};
use crate::error::{Error, Result};
use crate::model::cause::{AllowedRestarts, CauseId};
use crate::model::follow::{ExpectedImage, FollowOptions, Goal, UndoScope};
use crate::model::revision::RevisionWord;
use crate::model::text::go_duration::{self, StartTime};
use crate::render::output_form::OutputForm;

/// The heading of these arguments in help.
pub(super) const GOAL: &str = "Goal and time limits";

/// The help of `-A`.
const IN_ALL_NAMESPACES: &str = "Select workloads in all namespaces; without TARGET all of them";

/// Follow rollouts until they end, and show why they do not progress
///
/// Prints kubectl's line for each workload, and a line for each cause: on a terminal below it, otherwise on
/// standard error. A cause that needs a fix begins with !, one that may resolve without a fix with ~, and
/// a hold with -.
///
/// A Job is followed too, named or in a manifest: job/migrate. All does not mean Jobs.
///
/// All workloads are followed at once, until each is complete, failed or held. Exits with 0 when all rollouts
/// are complete, 1 when a workload was deleted or cannot be read, 3 when it timed out, or with --watch=false
/// when a rollout is not complete yet, 4 when a rollout failed, and 5 when one is held: paused, OnDelete, or a
/// partition that lets no pod update.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("all_namespaces", |arg| arg.help(IN_ALL_NAMESPACES)))]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct StatusArgs {
    /// The arguments that select workloads.
    #[command(flatten)]
    pub scope: ScopeArgs,

    /// Follow the rollouts until they end
    ///
    /// Recorded objects (--from) do not change, so they are always evaluated once.
    #[arg(
        short, long, value_name = "BOOL", value_parser = go_bool, action = ArgAction::Set,
        num_args = 0..=1, require_equals = true, default_value = "true", default_missing_value = "true"
    )]
    pub watch: bool,

    /// Wait for workloads that do not exist yet, for this long at most; then exit with 1
    ///
    /// Each named workload must exist, and a selection must find at least one. For workloads that a controller
    /// creates some time after kubectl apply. --timeout begins afterwards.
    #[arg(long, value_name = "DURATION", value_parser = positive_duration, hide_short_help = true)]
    pub wait_for_creation: Option<Duration>,

    /// Fail unless the current revision is this one
    ///
    /// A revision is a number, current, previous (the one that undo rolls back to), -N (N - 1 before that), the name of its
    /// ReplicaSet or ControllerRevision, hash:HASH, or a prefix of its digest.
    #[arg(long, value_name = "REVISION", allow_hyphen_values = true, value_parser = RevisionWord::read)]
    revision: Option<RevisionWord>,

    /// Fail unless the live template names this image
    ///
    /// Without CONTAINER, any container may have it. IMAGE has a tag or a digest. The flag may be repeated. Each target must name each image. With --wait-for-creation, the command waits for the images as
    /// for the workloads: a controller may apply later. Another image fails the command with 4.
    #[arg(long = "image", value_name = "[CONTAINER=]IMAGE", value_parser = ExpectedImage::read, hide_short_help = true)]
    images: Vec<ExpectedImage>,

    /// Print a line on stderr after so much silence [default: 60s, and 0 on a terminal]
    ///
    /// It has the state, the counters and the first cause of each rollout. CI systems end a step that prints nothing. 0 turns it
    /// off.
    #[arg(long, value_name = "DURATION", value_parser = duration, hide_short_help = true)]
    heartbeat: Option<Duration>,

    /// Print kubectl's lines on a terminal too, instead of a live display
    ///
    /// Lines are also printed when TERM is dumb or CI is set.
    #[arg(long)]
    pub plain: bool,

    /// Show each pod: its node, state and restarts
    #[arg(long, conflicts_with = "output")]
    pub pods: bool,

    /// Which last log lines to print: those of containers that failed, or none
    ///
    /// Containers that crashed, and those that run and are not ready, after 10s or at the end. Secrets are masked.
    #[arg(
        long, value_name = "WHEN", value_parser = words(LOGS), action = ArgAction::Set, default_value = "failed",
        hide_short_help = true
    )]
    logs: bool,

    /// The output format: json is one document per line for each change, then one with the verdict
    ///
    /// With yaml the documents are the same. With --watch=false, jsonpath=TEMPLATE, jsonpath-as-json=TEMPLATE and
    /// custom-columns=SPEC print them in kubectl's dialect of JSONPath.
    #[arg(short, long, value_name = "FORM", ignore_case = true, value_parser = output_form(DOCUMENTS), default_value = "", hide_default_value = true)]
    pub output: OutputForm,

    /// The goal to wait for
    ///
    /// available=N or available=N% is enough where a part of the pods can never be available, such as on a node
    /// that is down: so many pods of the current revision, at most as many as wanted. Per cent are of the
    /// wanted pods, rounded up. available=ready-nodes needs the pods of a DaemonSet on all nodes that answer.
    #[arg(long, value_name = "GOAL", value_parser = goal(), help_heading = GOAL)]
    until: Option<Goal>,

    /// Wait until the goal has been reached for this long without interruption
    ///
    /// A container without a readiness probe counts as available as soon as it starts, even if it crashes
    /// right afterwards. So with --fail-fast, --fail-on and --undo-on-failure the updated pods must have been
    /// ready for 10s, or for this long if it is longer; 0s turns that off.
    #[arg(long, value_name = "DURATION", value_parser = duration, help_heading = GOAL)]
    stable: Option<Duration>,

    /// Continue to wait while the rollout is held
    #[arg(long, help_heading = GOAL)]
    wait_held: bool,

    #[command(flatten)]
    timeouts: TimeoutArgs,

    /// Fail once this cause has lasted for GRACE [default: 30s]; may be repeated
    #[arg(long, value_name = "CAUSE[=GRACE]", value_parser = cause_and_grace, long_help = fail_on_help(), help_heading = GOAL)]
    fail_on: Vec<(CauseId, Duration)>,

    /// Fail once nothing moved for this long
    ///
    /// Of a workload with progressDeadlineSeconds the shorter of the two decides.
    #[arg(long, value_name = "DURATION", value_parser = duration, help_heading = GOAL)]
    deadline: Option<Duration>,

    #[command(flatten)]
    undo: UndoOnFailureArgs,

    /// Roll back after --timeout too, and exit with 3
    ///
    /// The rollback may take as long again.
    #[arg(long, requires = "undo_on_failure", requires = "timeout", hide_short_help = true, help_heading = GOAL)]
    undo_on_timeout: bool,

    /// Roll back to this revision [default: the one that served before]
    #[arg(long, value_name = "REVISION", requires = "undo_on_failure", allow_hyphen_values = true, hide_short_help = true, help_heading = GOAL, value_parser = RevisionWord::read)]
    undo_to: Option<RevisionWord>,

    /// Roll back a rollout that was complete before the command only if it began after TIME [default: 10m]
    ///
    /// TIME is 30m, 14:10 (UTC), or an RFC 3339 time. Then every pod runs the failed revision, and the rollback is to the
    /// revision before it. What has served for longer is no release that this command follows.
    #[arg(long, value_name = "TIME", requires = "undo_on_failure", value_parser = start_time, hide_short_help = true, help_heading = GOAL)]
    since: Option<StartTime>,

    /// Delete the pods that block the rollback of a StatefulSet, one at a time
    #[arg(long, requires = "undo_on_failure", help_heading = GOAL)]
    replace_stuck_pods: bool,
}

const EXAMPLES: &str = "\
Examples:
  kubectl rollout2 status deployment/web --timeout 10m
  kubectl rollout2 status deploy,sts -l app=web --fail-fast --stable 30s
  kubectl rollout2 status statefulset/db --until complete --deadline 5m
  kubectl rollout2 status cloneset/web --undo-on-failure
  kubectl rollout2 status deployment/web --contexts 'prod-*' --timeout 10m
  kubectl rollout2 status deployment/web --watch=false
  kubectl rollout2 status deploy,sts,ds -l app=web --watch=false -o json
  kubectl rollout2 status deployment/web --revision 5 --watch=false
  kubectl rollout2 status all --from snapshot.yaml";

impl StatusArgs {
    /// Checks the arguments. With `-A`, a command without targets is about all workloads.
    ///
    /// # Errors
    /// Usage errors.
    pub(super) fn validate(&mut self, common: &CommonArgs) -> Result<()> {
        if self.scope.all_namespaces {
            self.scope.default_to_all();
        }
        let follows = self.watch && !common.is_recorded();
        if self.output.is_template() && follows {
            return Err(
                Error::usage("a template needs the documents of one evaluation").hint("add --watch=false")
            );
        }
        if self.wait_for_creation.is_some() && common.is_recorded() {
            return Err(Error::usage("--wait-for-creation needs a cluster: recorded objects do not change")
                .hint("remove --from, or --wait-for-creation"));
        }
        let is_split = self.watch && self.scope.has_target("false");
        self.scope.validate(common).map_err(|error| {
            if is_split { error.hint("to read once: --watch=false, in one word") } else { error }
        })?;
        if follows {
            check_limits(&self.options())?;
        }
        if self.undo.undo_on_failure.is_none() {
            return Ok(());
        }
        if self.scope.all_namespaces {
            return Err(Error::usage("--undo-on-failure writes, and -A is allowed only for reads")
                .hint("select a namespace with -n"));
        }
        if !follows {
            return Err(Error::usage(
                "--undo-on-failure must follow the rollout: remove --watch=false and --from",
            ));
        }
        Ok(())
    }

    /// Returns the goal, the expected revision, the deadlines and the timeout.
    #[must_use]
    pub fn options(&self) -> FollowOptions {
        self.undo.added_to(FollowOptions {
            goal: self.until.unwrap_or_default(),
            revision: selected(self.revision.as_ref()).cloned(),
            images: self.images.clone(),
            stable: self.stable,
            wait_held: self.wait_held,
            fail_on: self.fail_on.clone(),
            deadline: self.deadline.filter(|deadline| !deadline.is_zero()),
            undo_to: selected(self.undo_to.as_ref()).cloned(),
            release_since: self.since,
            undo_on_timeout: self.undo_on_timeout,
            replace_stuck_pods: self.replace_stuck_pods,
            without_logs: !self.logs,
            ..self.timeouts.options()
        })
    }
}

const LOGS: &Words<bool> = &[
    ("failed", "Of containers that crashed, or that run and are not ready", true),
    ("never", "None", false),
];

impl StatusArgs {
    /// Returns after how much silence a line says what is awaited; `None` for never. `on_terminal` says that stdout is one.
    #[must_use]
    pub fn heartbeat(&self, on_terminal: bool) -> Option<Duration> {
        let default = if on_terminal { Duration::ZERO } else { HEARTBEAT };
        Some(self.heartbeat.unwrap_or(default)).filter(|interval| !interval.is_zero())
    }
}

/// The default of `--heartbeat` without a terminal.
const HEARTBEAT: Duration = Duration::from_secs(60);

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
    let share = |word: &str| {
        let share = word.strip_prefix(SHARE)?;
        let on_ready_nodes = (share == "ready-nodes").then_some(Ok(Goal::AvailableOnReadyNodes));
        on_ready_nodes.or_else(|| Some(share.parse().map(Goal::AvailableShare)))
    };
    WordsOr { words: words(GOALS), other: share }
}

/// Returns the help of `--fail-on`, which lists the causes.
fn fail_on_help() -> String {
    let names = CauseId::ALL.map(CauseId::name).join(", ");
    format!(
        "Fail once this cause has lasted for GRACE [default: 30s]; may be repeated\n\nThe causes are: {names}. What each means: kubectl rollout2 explain"
    )
}

/// Parses `CAUSE[=GRACE]`.
fn cause_and_grace(word: &str) -> Result<(CauseId, Duration), String> {
    let (name, grace) = word.split_once('=').unwrap_or((word, GRACE));
    Ok((cause(name)?, duration(grace)?))
}

/// Parses the name of a cause.
pub(super) fn cause(name: &str) -> Result<CauseId, String> {
    CauseId::read(name).ok_or_else(|| {
        let near = similar::get_close_matches(name, &CauseId::ALL.map(CauseId::name), 3, 0.0);
        format!(
            "{name:?} is not a cause; near ones are {}; all of them: kubectl rollout2 explain",
            near.join(", ")
        )
    })
}

/// The default grace period of a fatal cause.
pub(super) const GRACE: &str = "30s";

/// The time limits of following.
#[derive(Debug, Args)]
#[command(next_help_heading = GOAL)]
pub struct TimeoutArgs {
    /// How long to follow, such as 90s or 1h30m; 0 is no limit
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = timeout)]
    pub(super) timeout: Option<Duration>,

    /// Fail once a cause that needs a fix has lasted for GRACE [default: 30s]
    ///
    /// These causes are: an image that is missing, forbidden or wrongly named, a missing ConfigMap, Secret, key or
    /// volume claim, a container that cannot start, from the second restart on a crash or a kill by a probe, pods that
    /// a quota or admission refuses, and new pods that wait for the room of old ones. Success waits until the updated pods have been ready for 10s.
    /// GRACE counts from when the command first sees the cause, or from the last progress.
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
    /// Returns these limits.
    pub(super) fn options(&self) -> FollowOptions {
        let timeout = self.timeout.filter(|limit| !limit.is_zero());
        let allowed_restarts = AllowedRestarts(self.allow_restarts);
        FollowOptions { timeout, fail_fast: self.fail_fast, allowed_restarts, ..FollowOptions::default() }
    }
}

/// Rejects a `--timeout` that ends before the goal can have lasted for `--stable`: such a command never succeeds.
fn check_limits(options: &FollowOptions) -> Result<()> {
    let (Some(timeout), Some(stable)) = (options.timeout, options.stable) else { return Ok(()) };
    if stable <= timeout {
        return Ok(());
    }
    let [timeout, stable] = [timeout, stable].map(go_duration::short);
    Err(Error::usage(format!(
        "--timeout {timeout} ends before the goal can have lasted for --stable {stable}"
    ))
    .hint("use a longer --timeout, or a shorter --stable"))
}

/// Parses the value of `--timeout`. In kubectl a negative one is no limit.
pub(super) fn timeout(word: &str) -> Result<Duration, &'static str> {
    let magnitude = duration(word.strip_prefix('-').unwrap_or(word))?;
    if word.starts_with('-') && !magnitude.is_zero() {
        return Err("it cannot be negative; for no limit: --timeout 0");
    }
    Ok(magnitude)
}

/// Whether to roll back a failed rollout.
#[derive(Debug, Args)]
pub struct UndoOnFailureArgs {
    /// Roll back a failed rollout to the revision that served before, and wait for it
    ///
    /// A workload is rolled back only while it still has the template that it had when following began.
    /// Nothing is written when no other revision served then, or before. The exit code is 4 in both cases. A timeout is
    /// not a failure; --deadline is one. Implies --fail-fast, and --deadline 10m for workloads without
    /// progressDeadlineSeconds. Without the right to roll back it ends at once with 1.
    #[arg(
        long, value_name = "TARGETS", num_args = 0..=1, require_equals = true,
        default_missing_value = "failed", value_parser = words(UNDO_SCOPES), help_heading = GOAL
    )]
    pub(super) undo_on_failure: Option<UndoScope>,
}

const UNDO_SCOPES: &Words<UndoScope> = &[
    ("failed", "The workload that failed", UndoScope::Failed),
    (
        "all",
        "Once one fails, each workload of the command whose rollout was under way when following began or began after --since",
        UndoScope::All,
    ),
];

impl UndoOnFailureArgs {
    /// Returns the options with the flag and its implied options.
    pub(super) fn added_to(&self, options: FollowOptions) -> FollowOptions {
        let Some(scope) = self.undo_on_failure else { return options };
        FollowOptions {
            undo_on_failure: Some(scope),
            fail_fast: options.fail_fast.or_else(|| go_duration::parse(GRACE)),
            ..options
        }
    }
}
