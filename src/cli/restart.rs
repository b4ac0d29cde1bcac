//! `restart`: its arguments and their lowering.

use clap::Args;

use super::undo_on_failure::UndoOnFailureArgs;
use super::waiting::WaitArgs;
use super::writing::WritingArgs;
use crate::command::Common;
use crate::command::change::How;
use crate::command::restart::Request;
use crate::error::Result;
use crate::model::follow::Options;

/// Make every pod anew
///
/// A new stamp in the template makes a new revision of it, which is rolled out like any other. Where
/// the update strategy leaves pods alone, that is said.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("all_namespaces", |arg| arg.hide(true)))]
#[command(mut_arg("undo_on_failure", |arg| arg.requires("wait")))]
pub(super) struct RestartArgs {
    #[command(flatten)]
    writing: WritingArgs,

    /// Delete the pods that a StatefulSet waits for and does not replace, lowest first, and wait for each
    #[arg(long)]
    replace_stuck_pods: bool,

    /// Say why, in the change-cause
    #[arg(long, value_name = "TEXT")]
    cause: Option<String>,

    #[command(flatten)]
    waiting: WaitArgs,

    #[command(flatten)]
    undo: UndoOnFailureArgs,
}

const EXAMPLES: &str = "\
Examples:
  kubectl rollout2 restart deployment/web
  kubectl rollout2 restart deployment/web --wait --timeout 10m --fail-fast
  kubectl rollout2 restart deployment/web --wait --undo-on-failure
  kubectl rollout2 restart sts,ds -l app=db --dry-run";

impl RestartArgs {
    pub(super) fn lower(self, common: &Common) -> Result<Request> {
        let (scope, how) = self.writing.lower(common)?;
        let how = How { replace_stuck_pods: self.replace_stuck_pods, ..how };
        let how = self.waiting.lower(how, "restart", common)?;
        let wait = how.wait.map(|options| {
            let options = Options { replace_stuck_pods: self.replace_stuck_pods, ..options };
            self.undo.lower(options)
        });
        let how = How { wait, ..how };
        Ok(Request { scope, how, cause: self.cause })
    }
}
