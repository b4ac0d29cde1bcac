//! The arguments of `restart`.

use clap::Args;

use super::common::CommonArgs;
use super::status::UndoOnFailureArgs;
use super::write::{WaitArgs, WriteArgs};
use crate::error::Result;
use crate::model::follow::FollowOptions;

/// Restart all pods of workloads with a rollout
///
/// Sets the annotation kubectl.kubernetes.io/restartedAt in the pod template, which creates a new revision.
/// Prints a warning when the update strategy does not replace pods.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("all_namespaces", |arg| arg.hide(true)))]
#[command(mut_arg("undo_on_failure", |arg| arg.requires("wait")))]
pub struct RestartArgs {
    /// The workloads, and how to write.
    #[command(flatten)]
    pub write: WriteArgs,

    /// Delete the pods that block a StatefulSet, lowest ordinal first, each after the replacement of the one before is ready
    ///
    /// Implies --wait, with a --timeout of 10m.
    #[arg(long)]
    pub replace_stuck_pods: bool,

    /// Restart only workloads of which pods have earlier values of a ConfigMap or Secret
    ///
    /// It changed after their containers started that read it as environment or with subPath. Exits with 0 if there is none.
    #[arg(long)]
    pub stale_config: bool,

    /// Write nothing if new pods cannot start: something that the template names is missing, or a quota or a
    /// limit refuses them
    ///
    /// Also if that cannot be read. Without this flag, it is a warning.
    #[arg(long)]
    pub strict: bool,

    /// Set the change-cause
    #[arg(long, value_name = "TEXT")]
    pub cause: Option<String>,

    /// Whether to wait for the rollout.
    #[command(flatten)]
    pub wait: WaitArgs,

    #[command(flatten)]
    undo: UndoOnFailureArgs,
}

const EXAMPLES: &str = "\
Examples:
  kubectl rollout2 restart deployment/web
  kubectl rollout2 restart deployment/web --wait --timeout 10m --fail-fast
  kubectl rollout2 restart deployment/web --wait --undo-on-failure
  kubectl rollout2 restart sts,ds -l app=db --dry-run
  kubectl rollout2 restart deployments,statefulsets --stale-config
  kubectl rollout2 restart ads/agent --dry-run";

impl RestartArgs {
    /// Checks the arguments.
    ///
    /// # Errors
    /// Usage errors.
    pub(super) fn validate(&self, common: &CommonArgs) -> Result<()> {
        self.write.validate(common, false)?;
        self.wait.validate(&self.write, self.replace_stuck_pods, common)
    }

    /// Returns how to follow the rollout after the write; `None` without `--wait`, and without a flag that implies it.
    #[must_use]
    pub fn follow_options(&self, common: &CommonArgs) -> Option<FollowOptions> {
        let options = self.wait.options(&self.write, self.replace_stuck_pods, common)?;
        Some(self.undo.added_to(options))
    }
}
