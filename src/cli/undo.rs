//! `undo`: its arguments and their lowering.

use clap::Args;

use super::waiting::WaitArgs;
use super::writing::WritingArgs;
use crate::command::Common;
use crate::command::change::How;
use crate::command::undo::Request;
use crate::error::{Error, Result};
use crate::model::diff::Secrets;
use crate::model::revision::RevisionWord;
use crate::model::undo::{Goal, Wishes};

/// Go back to an earlier revision
///
/// Without --to-revision that is the one before the running one; of what pause or step holds, the one
/// that ran before it was held. On a terminal the changes and their effect on the pods are shown first.
/// The write is one patch that is made on exactly the state that was shown, or not at all. Annotations
/// of the workload stay; its change-cause becomes the revision's.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("all_namespaces", |arg| arg.hide(true)))]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that stands for itself")]
pub(super) struct UndoArgs {
    #[command(flatten)]
    writing: WritingArgs,

    /// Go back to this revision
    ///
    /// It is named by its number, current, previous, -N (N before the current one), the name of its
    /// ReplicaSet or ControllerRevision, hash:HASH, or the beginning of its digest.
    #[arg(long, value_name = "REVISION", allow_hyphen_values = true, conflicts_with = "to")]
    to_revision: Option<String>,

    /// Go back to stable: the revision that carries the service now, other than the one being rolled out
    #[arg(long, value_name = "stable")]
    to: Option<String>,

    /// Show what will change, also where no terminal is
    #[arg(long)]
    diff: bool,

    /// Show values that look secret
    #[arg(long)]
    show_values: bool,

    /// Resume a paused Deployment in the same patch
    #[arg(long)]
    resume: bool,

    /// Leave a pause or a plan of ours as it is
    #[arg(long)]
    keep_hold: bool,

    /// Delete the pods that a StatefulSet waits for and does not replace, lowest first, and wait for each
    #[arg(long)]
    replace_stuck_pods: bool,

    /// Go on over what somebody else changed meanwhile
    #[arg(long)]
    force: bool,

    /// Say why; otherwise the change-cause is the revision's own
    #[arg(long, value_name = "TEXT")]
    cause: Option<String>,

    /// Bring the memory of kubectl apply in line with the revision
    #[arg(long)]
    sync_last_applied: bool,

    #[command(flatten)]
    waiting: WaitArgs,
}

const EXAMPLES: &str = "\
Examples:
  kubectl rollout2 undo deployment/web
  kubectl rollout2 undo deployment/web --wait --timeout 10m --fail-fast
  kubectl rollout2 undo deployment/web --to-revision 3 --cause 'OPS-42: 5 leaks'
  kubectl rollout2 undo statefulset/db --to stable --dry-run
  kubectl rollout2 undo deploy -l app=web -i
  kubectl patch deployment/web --type=json -p \"$(kubectl rollout2 undo deployment/web --dry-run -o patch)\"";

impl UndoArgs {
    pub(super) fn lower(self, common: &Common) -> Result<Request> {
        let goal = match (self.to_revision.as_deref(), self.to.as_deref()) {
            (None, None) => Goal::Previous,
            (Some(word), _) if common.compat => compat_goal(word)?,
            (Some("stable"), _) | (None, Some("stable")) => Goal::Stable,
            (Some(word), _) | (None, Some(word)) => Goal::Named(RevisionWord::read(word)?),
        };
        let (scope, how) = self.writing.lower(common)?;
        let how = self.waiting.lower(how, "undo", common)?;
        Ok(Request {
            scope,
            goal,
            wishes: Wishes {
                resume: self.resume,
                keep_hold: self.keep_hold,
                sync_last_applied: self.sync_last_applied,
                cause: self.cause,
            },
            how: How { replace_stuck_pods: self.replace_stuck_pods, ..how },
            diff: self.diff,
            secrets: if self.show_values { Secrets::Shown } else { Secrets::Masked },
            force: self.force,
        })
    }
}

/// kubectl takes any whole number, and 0 for the one before.
fn compat_goal(word: &str) -> Result<Goal> {
    match word.parse::<i64>() {
        Ok(0) => Ok(Goal::Previous),
        Ok(number) => Ok(Goal::Named(RevisionWord::Number(number))),
        Err(_) => Err(Error::usage(format!(
            "invalid argument {word:?} for \"--to-revision\" flag: strconv.ParseInt: parsing {word:?}: invalid syntax\n\
             See 'kubectl rollout undo --help' for usage."
        ))),
    }
}
