//! The arguments of `restart`, and their lowering.

use std::io::Read;

use clap::Args;

use super::status::UndoOnFailureArgs;
use super::write::{WaitArgs, WriteArgs};
use crate::command::Access;
use crate::command::restart::Request;
use crate::command::writing_verb::ChangeOptions;
use crate::error::Result;

/// Restart all pods of workloads with a rollout
///
/// Sets the annotation kubectl.kubernetes.io/restartedAt in the pod template, which creates a new revision.
/// Prints a warning when the update strategy does not replace pods.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("all_namespaces", |arg| arg.hide(true)))]
#[command(mut_arg("undo_on_failure", |arg| arg.requires("wait")))]
pub(super) struct RestartArgs {
    #[command(flatten)]
    write: WriteArgs,

    /// Delete the pods that block a StatefulSet, lowest ordinal first, each after the replacement of the one before is ready
    ///
    /// Implies --wait, with a --timeout of 10m.
    #[arg(long)]
    replace_stuck_pods: bool,

    /// Write nothing if new pods cannot start: something that the template names is missing, or a quota or a
    /// limit refuses them
    ///
    /// Also if that cannot be read. Without this flag, it is a warning.
    #[arg(long)]
    strict: bool,

    /// Set the change-cause
    #[arg(long, value_name = "TEXT")]
    cause: Option<String>,

    #[command(flatten)]
    wait: WaitArgs,

    #[command(flatten)]
    undo: UndoOnFailureArgs,
}

const EXAMPLES: &str = "\
Examples:
  kubectl rollout2 restart deployment/web
  kubectl rollout2 restart deployment/web --wait --timeout 10m --fail-fast
  kubectl rollout2 restart deployment/web --wait --undo-on-failure
  kubectl rollout2 restart sts,ds -l app=db --dry-run
  kubectl rollout2 restart ads/agent --dry-run";

impl RestartArgs {
    pub(super) fn lower(self, access: &Access, stdin: &mut dyn Read) -> Result<Request> {
        let (scope, options) = self.write.lower(access, stdin)?;
        let options = self.wait.lower(options, self.replace_stuck_pods)?;
        let wait = options.wait.map(|options| self.undo.lower(options));
        let options = ChangeOptions { wait, strict: self.strict, ..options };
        Ok(Request { scope, options, change_cause: self.cause })
    }
}
