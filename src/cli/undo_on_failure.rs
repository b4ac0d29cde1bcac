//! `--undo-on-failure`: the flag, and what it implies.

use std::time::Duration;

use clap::Args;

use crate::model::follow::Options;

/// How long a cause may last when nothing else is said.
const GRACE: Duration = Duration::from_secs(30);

/// How long the kinds without a deadline of their own may stand still when nothing else is said. It is
/// the one that a Deployment has by default.
const DEADLINE: Duration = Duration::from_secs(600);

/// Whether what fails is undone.
#[derive(Debug, Args)]
pub(super) struct UndoOnFailureArgs {
    /// Roll back what failed to the revision that carried the service before, and wait for that
    ///
    /// Only a workload that failed is rolled back, and only while it still has the template that it had
    /// when following began: not what somebody else rolled out meanwhile. Where no other revision carried
    /// the service then, nothing is written. It ends with 4 either way. A timeout is no failure.
    /// Implies --fail-fast, and --deadline 10m for StatefulSets and DaemonSets.
    #[arg(long, help_heading = "What to wait for, and when to give up")]
    undo_on_failure: bool,
}

/// Whether pods are deleted on the way back.
#[derive(Debug, Args)]
pub(super) struct ReplaceStuckPodsArgs {
    /// Delete the pods that a StatefulSet on its way back waits for and does not replace, one at a time
    #[arg(long, requires = "undo_on_failure", help_heading = "What to wait for, and when to give up")]
    replace_stuck_pods: bool,
}

impl ReplaceStuckPodsArgs {
    pub(super) fn lower(&self, options: Options) -> Options {
        Options { replace_stuck_pods: self.replace_stuck_pods, ..options }
    }
}

impl UndoOnFailureArgs {
    pub(super) fn is_set(&self) -> bool {
        self.undo_on_failure
    }

    /// The options with it and all that it implies.
    pub(super) fn lower(&self, options: Options) -> Options {
        if !self.undo_on_failure {
            return options;
        }
        Options {
            undo_on_failure: true,
            fail_fast: options.fail_fast.or(Some(GRACE)),
            deadline_of_sets: Some(DEADLINE),
            ..options
        }
    }
}
