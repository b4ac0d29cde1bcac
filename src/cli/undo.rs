//! The arguments of `undo`, and their lowering.

use std::io::Read;

use clap::Args;

use super::values::start_time;
use super::write::{WaitArgs, WriteArgs};
use crate::command::Access;
use crate::command::undo::Request;
use crate::command::writing_verb::ChangeOptions;
use crate::error::Result;
use crate::model::change::undo::{TargetRevision, UndoOptions};
use crate::model::diff::SecretValues;
use crate::model::follow::Goal;
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
pub(super) struct UndoArgs {
    #[command(flatten)]
    write: WriteArgs,

    /// Roll back to this revision
    ///
    /// A revision is a number, current, previous (the one that undo goes back to), -N (N - 1 before that), stable (the one that
    /// served before the rollout began), the name of its ReplicaSet or ControllerRevision, hash:HASH, or a
    /// prefix of its digest.
    #[arg(long, visible_alias = "to", value_name = "REVISION", allow_hyphen_values = true)]
    to_revision: Option<String>,

    /// Show the changes without a terminal too
    #[arg(long)]
    diff: bool,

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
    replace_stuck_pods: bool,

    /// Write nothing if new pods cannot start: something that the template names is missing, or a quota or a
    /// limit refuses them
    ///
    /// Also if that cannot be read. Without this flag, it is a warning.
    #[arg(long, hide_short_help = true)]
    strict: bool,

    /// Apply the rollback even if another client changed the workload meanwhile
    #[arg(long)]
    force: bool,

    /// Ask nothing on a terminal
    ///
    /// Without this flag, undo asks on a terminal before it rolls back several workloads, to a revision without
    /// a ready pod or whose pods cannot start, to what was undone just before, or past the stable revision.
    /// Without a terminal it never asks: it warns, and refuses a type without names, -l or --failed, a
    /// revision of --failed that nothing proves to work, and --to previous or -N for what was undone just before.
    #[arg(short, long, conflicts_with = "interactive")]
    yes: bool,

    /// Roll back only what failed or is stuck, to the revision that served before
    ///
    /// Where every pod runs the failed revision, it is the one before. Nothing proves that it works, so that
    /// this needs --yes without a terminal. A rollback is never taken back. Without a TARGET, it looks at all
    /// workloads of the namespace, and with -A of all namespaces; a script needs --yes then.
    #[arg(long, conflicts_with = "to_revision")]
    failed: bool,

    /// With --failed: only what changed since a time: 30m, 14:10 (UTC), or an RFC 3339 time
    ///
    /// The template decides, as in list --since. What is left out is listed.
    #[arg(long, value_name = "TIME", requires = "failed", value_parser = start_time, hide_short_help = true)]
    since: Option<StartTime>,

    /// Set the change-cause [default: the revision's]
    #[arg(long, value_name = "TEXT")]
    cause: Option<String>,

    /// Update the last-applied annotation of kubectl apply to the revision
    #[arg(long, hide_short_help = true)]
    sync_last_applied: bool,

    #[command(flatten)]
    wait: WaitArgs,
}

const EXAMPLES: &str = "\
Examples:
  kubectl rollout2 undo deployment/web
  kubectl rollout2 undo deployment/web --wait --timeout 10m --fail-fast
  kubectl rollout2 undo deployment/web --to-revision 3 --cause 'OPS-42: 5 leaks'
  kubectl rollout2 undo statefulset/db --to stable --dry-run
  kubectl rollout2 undo deploy -l app=web -i
  kubectl rollout2 undo --failed --since 1h -n shop
  kubectl rollout2 undo cloneset/web --dry-run
  kubectl rollout2 undo deployment/web --dry-run -o patch  # for kubectl patch";

impl UndoArgs {
    pub(super) fn lower(self, access: &Access, stdin: &mut dyn Read) -> Result<Request> {
        let word = self.to_revision.as_deref().filter(|word| *word != "stable");
        let word = word.map(RevisionWord::read).transpose()?;
        let counts_back = matches!(word, Some(RevisionWord::Back(_)));
        let to_revision = match word {
            // In kubectl 0 is the default.
            Some(RevisionWord::Number(0)) => TargetRevision::Default,
            Some(word) => TargetRevision::Named(word),
            None if self.to_revision.is_some() => TargetRevision::Stable,
            None if self.failed => TargetRevision::StableOrPrevious,
            None => TargetRevision::Default,
        };
        let mut write = self.write;
        if self.failed {
            write.default_to_all();
            write.may_select_all_namespaces = true;
        }
        let (scope, options) = write.lower(access, stdin)?;
        let mut options = self.wait.lower(options, self.replace_stuck_pods)?;
        if let Some(wait) = &mut options.wait {
            wait.goal = Goal::RolledBack;
        }
        Ok(Request {
            scope,
            to_revision,
            counts_back,
            undo_options: UndoOptions {
                resume: self.resume,
                keep_hold: self.keep_hold,
                sync_last_applied: self.sync_last_applied,
                change_cause: self.cause,
            },
            options: ChangeOptions { strict: self.strict, ..options },
            diff: self.diff,
            secrets: if self.show_values { SecretValues::Shown } else { SecretValues::Masked },
            force: self.force,
            yes: self.yes,
            failed: self.failed,
            since: self.since,
        })
    }
}
