//! `pause` and `resume`: their arguments and their lowering.

use clap::Args;

use super::writing::WritingArgs;
use crate::command::Common;
use crate::command::hold::{Request, Verb};
use crate::error::Result;

/// Hold rollouts where they are
///
/// A Deployment is paused as kubectl does it. A StatefulSet is held by its partition, a DaemonSet by
/// OnDelete, which holds running pods only: a pod that dies and a new node get the new revision. What
/// was there before is remembered in the annotation kubectl-rollout2/held until resume.
#[derive(Debug, Args)]
#[command(after_help = PAUSE_EXAMPLES, mut_arg("all_namespaces", |arg| arg.hide(true)))]
pub(super) struct PauseArgs {
    #[command(flatten)]
    writing: WritingArgs,
}

/// Let rollouts go on
///
/// What pause found is put back to the letter. A rollout that is being stepped goes on by step; with
/// --release-all it goes on by itself.
#[derive(Debug, Args)]
#[command(after_help = RESUME_EXAMPLES, mut_arg("all_namespaces", |arg| arg.hide(true)))]
pub(super) struct ResumeArgs {
    #[command(flatten)]
    writing: WritingArgs,

    /// End a plan of step too, and let the controller go on at its own pace
    #[arg(long)]
    release_all: bool,
}

const PAUSE_EXAMPLES: &str = "\
Examples:
  kubectl rollout2 pause deployment/web
  kubectl rollout2 pause statefulset/db";

const RESUME_EXAMPLES: &str = "\
Examples:
  kubectl rollout2 resume deployment/web
  kubectl rollout2 resume statefulset/db --release-all";

impl PauseArgs {
    pub(super) fn lower(self, common: &Common) -> Result<Request> {
        let (scope, how) = self.writing.lower(common)?;
        Ok(Request { scope, how, verb: Verb::Pause })
    }
}

impl ResumeArgs {
    pub(super) fn lower(self, common: &Common) -> Result<Request> {
        let (scope, how) = self.writing.lower(common)?;
        Ok(Request { scope, how, verb: Verb::Resume { release_all: self.release_all } })
    }
}
