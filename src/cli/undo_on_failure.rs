//! The flag `--undo-on-failure`, and the options that it implies.

use std::time::Duration;

use clap::{Args, ValueEnum};

use super::timeout::GRACE;
use crate::model::follow::{FollowOptions, UndoScope};
use crate::model::text::go_duration;

/// The default progress deadline of StatefulSets and DaemonSets; a Deployment's default is the same.
const DEADLINE: Duration = Duration::from_secs(600);

/// Whether to roll back a failed rollout.
#[derive(Debug, Args)]
pub(super) struct UndoOnFailureArgs {
    /// Roll back a failed rollout to the revision that served before, and wait for it
    ///
    /// A workload is rolled back only while it still has the template that it had when following began.
    /// Nothing is written when no other revision served then. The exit code is 4 in both cases. A timeout is
    /// not a failure. Implies --fail-fast, and --deadline 10m for workloads without progressDeadlineSeconds.
    #[arg(
        long, value_name = "TARGETS", num_args = 0..=1, require_equals = true,
        default_missing_value = "failed", help_heading = "Goal and time limits"
    )]
    undo_on_failure: Option<UndoScopeArg>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum UndoScopeArg {
    /// The workload that failed
    Failed,
    /// Once one fails, each workload of the command whose rollout was under way when following began,
    /// complete or not
    All,
}

impl UndoScopeArg {
    fn scope(self) -> UndoScope {
        match self {
            Self::Failed => UndoScope::Failed,
            Self::All => UndoScope::All,
        }
    }
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
        self.undo_on_failure.is_some()
    }

    /// Returns the options with the flag and its implied options.
    pub(super) fn lower(&self, options: FollowOptions) -> FollowOptions {
        let Some(scope) = self.undo_on_failure else { return options };
        FollowOptions {
            undo_on_failure: Some(scope.scope()),
            fail_fast: options.fail_fast.or_else(|| go_duration::parse(GRACE)),
            default_deadline: Some(DEADLINE),
            ..options
        }
    }
}
