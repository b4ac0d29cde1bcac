//! The flag `--undo-on-failure`, and the options that it implies.

use std::time::Duration;

use clap::Args;

use super::timeout::GRACE;
use crate::model::follow::FollowOptions;
use crate::model::text::go_duration;

/// The default progress deadline of StatefulSets and DaemonSets; a Deployment's default is the same.
const DEADLINE: Duration = Duration::from_secs(600);

/// Whether to roll back a failed rollout.
#[derive(Debug, Args)]
pub(super) struct UndoOnFailureArgs {
    /// Roll back a failed rollout to the revision that served before, and wait for it
    ///
    /// Only a failed workload is rolled back, and only while it still has the template that it had when
    /// following began. Nothing is written when no other revision served then. The exit code is 4 in both
    /// cases. A timeout is not a failure. Implies --fail-fast, and --deadline 10m for workloads without
    /// progressDeadlineSeconds.
    #[arg(long, help_heading = "Goal and time limits")]
    undo_on_failure: bool,
}

/// Whether a rollback deletes stuck pods.
#[derive(Debug, Args)]
pub(super) struct ReplaceStuckPodsArgs {
    /// Delete the pods that block the rollback of a StatefulSet, one at a time
    #[arg(long, requires = "undo_on_failure", help_heading = "Goal and time limits")]
    replace_stuck_pods: bool,
}

impl ReplaceStuckPodsArgs {
    pub(super) fn lower(&self, options: FollowOptions) -> FollowOptions {
        FollowOptions { replace_stuck_pods: self.replace_stuck_pods, ..options }
    }
}

impl UndoOnFailureArgs {
    pub(super) fn is_set(&self) -> bool {
        self.undo_on_failure
    }

    /// Returns the options with the flag and its implied options.
    pub(super) fn lower(&self, options: FollowOptions) -> FollowOptions {
        if !self.undo_on_failure {
            return options;
        }
        FollowOptions {
            undo_on_failure: true,
            fail_fast: options.fail_fast.or_else(|| go_duration::parse(GRACE)),
            default_deadline: Some(DEADLINE),
            ..options
        }
    }
}
