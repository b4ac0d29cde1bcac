//! The arguments of `pause` and `resume`.

use clap::Args;

use super::write::WriteArgs;

/// Hold rollouts in their present state
///
/// A Deployment is paused, as with kubectl, and so are the kinds of OpenKruise. A StatefulSet is held with its
/// partition. A DaemonSet is held with OnDelete, which holds running pods only: a replaced pod or a new node gets
/// the current revision. For these two the annotation kubectl-rollout2/held stores the update strategy until resume.
#[derive(Debug, Args)]
#[command(after_help = PAUSE_EXAMPLES, mut_arg("all_namespaces", |arg| arg.hide(true)))]
pub struct PauseArgs {
    /// The workloads, and how to write.
    #[command(flatten)]
    pub write: WriteArgs,
}

/// Resume held rollouts
///
/// Restores the update strategy exactly as pause found it. A rollout with a plan of step stays under its
/// plan; with --release-all the plan ends and the controller updates all pods.
#[derive(Debug, Args)]
#[command(after_help = RESUME_EXAMPLES, mut_arg("all_namespaces", |arg| arg.hide(true)))]
pub struct ResumeArgs {
    /// The workloads, and how to write.
    #[command(flatten)]
    pub write: WriteArgs,

    /// End a plan of step too, and let the controller update all pods
    #[arg(long)]
    pub release_all: bool,
}

const PAUSE_EXAMPLES: &str = "\
Examples:
  kubectl rollout2 pause deployment/web
  kubectl rollout2 pause statefulset/db
  kubectl rollout2 pause cloneset/web";

const RESUME_EXAMPLES: &str = "\
Examples:
  kubectl rollout2 resume deployment/web
  kubectl rollout2 resume statefulset/db --release-all
  kubectl rollout2 resume cloneset/web";
