//! The arguments of `undo`.

use clap::Args;

use super::common::CommonArgs;
use super::values::start_time;
use super::write::{DryRun, WaitArgs, WriteArgs};
use crate::error::{Error, Result};
use crate::model::change::undo::{TargetRevision, UndoOptions};
use crate::model::diff::SecretValues;
use crate::model::follow::{FollowOptions, Goal};
use crate::model::revision::RevisionWord;
use crate::model::text::go_duration::StartTime;

/// Roll back to an earlier revision
///
/// Without --to-revision, this is the previous revision: the one before the current one, and for a workload that pause or
/// step holds, the one that ran before the hold. A rollback of step that is under way is completed. On a terminal the changes and their effect on the
/// pods are shown first. One patch applies the rollback, and fails if the workload changed since it was
/// read. The workload's annotations stay, except the change-cause, which is the revision's.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("all_namespaces", |arg| arg.hide_short_help(true)))]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent flag")]
pub struct UndoArgs {
    /// The workloads, and how to write.
    #[command(flatten)]
    pub write: WriteArgs,

    /// Roll back to this revision
    ///
    /// A revision is a number, current, previous (the one that undo rolls back to), -N (N - 1 before that), stable (the one that
    /// served before the rollout began), the name of its ReplicaSet or ControllerRevision, hash:HASH, or a
    /// prefix of its digest.
    #[arg(long, visible_alias = "to", value_name = "REVISION", allow_hyphen_values = true, value_parser = target_revision)]
    to_revision: Option<TargetRevision>,

    /// Show the changes without a terminal too
    #[arg(long)]
    pub diff: bool,

    /// Show values that look secret
    #[arg(long, hide_short_help = true)]
    show_values: bool,

    /// Resume a paused workload in the same patch
    #[arg(long)]
    resume: bool,

    /// Keep a hold of pause or step
    ///
    /// Refused for the plan of a Deployment, whose hold is for one template. spec.paused cannot be kept either: --resume
    /// ends it.
    #[arg(long)]
    keep_hold: bool,

    /// Delete the pods that block a StatefulSet, lowest ordinal first, each after the replacement of the one before is ready
    ///
    /// After an undo that they block, this completes it, and does not reverse it. Implies --wait, with a
    /// --timeout of 10m.
    #[arg(long)]
    pub replace_stuck_pods: bool,

    /// Write nothing if new pods cannot start: something that the template names is missing, or a quota or a
    /// limit refuses them
    ///
    /// Also if that cannot be read. Without this flag, it is a warning.
    #[arg(long, hide_short_help = true)]
    pub strict: bool,

    /// Apply the rollback even if another client changed the workload meanwhile
    #[arg(long)]
    pub force: bool,

    /// Ask nothing on a terminal
    ///
    /// Without this flag, undo asks on a terminal before it rolls back several workloads, to a revision without
    /// a ready pod or whose pods cannot start, to what was undone just before, or past the stable revision.
    /// Without a terminal it never asks: it warns, and refuses a type without names, -l or --failed, a
    /// revision of --failed that nothing proves to work, and --to previous or -N for what was undone just before.
    #[arg(short, long, conflicts_with = "interactive")]
    pub yes: bool,

    /// Roll back only what failed or is stuck, to the revision that served before
    ///
    /// Where every pod runs the failed revision, it is the one before. Nothing proves that it works, so that
    /// this needs --yes without a terminal. A rollback is never reversed. Without a TARGET, it looks at all
    /// workloads of the namespace, and with -A of all namespaces; a script needs --yes then.
    #[arg(long, conflicts_with = "to_revision")]
    pub failed: bool,

    /// With --failed: only what changed since a time: 30m, 14:10 (UTC), or an RFC 3339 time
    ///
    /// The template decides, as in list --since. What is left out is listed.
    #[arg(long, value_name = "TIME", requires = "failed", value_parser = start_time, hide_short_help = true)]
    pub since: Option<StartTime>,

    /// Set the change-cause [default: the revision's]
    #[arg(long, value_name = "TEXT")]
    pub cause: Option<String>,

    /// Update the last-applied annotation of kubectl apply to the revision
    #[arg(long, hide_short_help = true)]
    sync_last_applied: bool,

    /// Whether to wait for the rollout.
    #[command(flatten)]
    pub wait: WaitArgs,
}

const EXAMPLES: &str = "\
Examples:
  kubectl rollout2 undo deployment/web
  kubectl rollout2 undo deployment/web --wait --timeout 10m --fail-fast
  kubectl rollout2 undo deployment/web --to-revision 3 --cause 'OPS-42: 5 leaks'
  kubectl rollout2 undo statefulset/db --to stable --dry-run
  kubectl rollout2 undo --failed --since 1h -n shop
  kubectl rollout2 undo deployment/web --contexts 'prod-*'
  kubectl rollout2 undo cloneset/web --dry-run
  kubectl rollout2 undo deployment/web --dry-run -o patch  # for kubectl patch";

impl UndoArgs {
    /// Checks the arguments. With `--failed`, a command without targets is about all workloads.
    ///
    /// # Errors
    /// Usage errors.
    pub(super) fn validate(&mut self, common: &CommonArgs) -> Result<()> {
        if self.failed {
            self.write.scope.default_to_all();
        }
        self.write.validate(common, self.failed)?;
        let is_number = matches!(self.to_revision, Some(TargetRevision::Named(RevisionWord::Number(_))));
        if is_number && self.write.across_contexts(common) && !self.yes && self.write.dry_run == DryRun::None
        {
            return Err(Error::usage("a number is another revision in each cluster")
                .hint("use previous, stable, or the digest that diff prints; or add --yes"));
        }
        self.wait.validate(&self.write, self.replace_stuck_pods, common)
    }

    /// Returns the revision to roll back to.
    #[must_use]
    pub fn target(&self) -> TargetRevision {
        let default = if self.failed { TargetRevision::StableOrPrevious } else { TargetRevision::Default };
        self.to_revision.clone().unwrap_or(default)
    }

    /// Whether the user counted back to the revision: `previous`, `-N`.
    #[must_use]
    pub fn counts_back(&self) -> bool {
        matches!(self.to_revision, Some(TargetRevision::Named(RevisionWord::Back(_))))
    }

    /// Returns what the rollback changes besides the template.
    #[must_use]
    pub fn undo_options(&self) -> UndoOptions {
        UndoOptions {
            resume: self.resume,
            keep_hold: self.keep_hold,
            sync_last_applied: self.sync_last_applied,
            change_cause: self.cause.clone(),
        }
    }

    /// Returns whether values that look secret are shown.
    #[must_use]
    pub fn secrets(&self) -> SecretValues {
        if self.show_values { SecretValues::Shown } else { SecretValues::Masked }
    }

    /// Returns how to follow the rollout after the write; `None` without `--wait`, and without a flag that implies it.
    #[must_use]
    pub fn follow_options(&self, common: &CommonArgs) -> Option<FollowOptions> {
        let options = self.wait.options(&self.write, self.replace_stuck_pods, common)?;
        Some(FollowOptions { goal: Goal::RolledBack, ..options })
    }
}

/// Parses the revision to roll back to. In kubectl 0 is the default.
fn target_revision(word: &str) -> Result<TargetRevision> {
    if word == "stable" {
        return Ok(TargetRevision::Stable);
    }
    Ok(match RevisionWord::read(word)? {
        RevisionWord::Number(0) => TargetRevision::Default,
        word => TargetRevision::Named(word),
    })
}
