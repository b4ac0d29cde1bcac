//! How a `step` command ends.

use std::time::Duration;

use serde_json::Value;

use crate::engine::StopSignal;
use crate::error::Error;
use crate::exit::Exit;
use crate::hold::plan::{BatchFailure, Lock};

/// How a `step` command ended.
#[derive(Clone, Debug, PartialEq)]
pub enum StepOutcome {
    /// No pod that a plan would release is outdated, and nothing was written.
    NothingOutdated,
    /// The goal of the command is reached, and the remaining pods are held.
    Reached {
        /// How many pods run the new revision.
        updated: usize,
        /// How many pods there are.
        of: usize,
    },
    /// Every batch is done, and the original strategy is restored, without a pause.
    Complete,
    /// No more pods are released, and nothing is rolled back: the user must decide. Exit 5.
    Stopped(StopReason),
    /// A batch or a check failed. Exit 4.
    Failed {
        /// Why; none if the plan is rolling back and does not say why: `undo` began the rollback.
        failure: Option<BatchFailure>,
        /// The outcome of the rollback, if the plan requires one.
        rollback: Option<RollbackOutcome>,
    },
    /// The command's own timeout; the plan stays. Exit 3.
    TimedOut(Duration),
    /// A signal ended the command; the plan stays.
    Interrupted(StopSignal),
    /// The workload was deleted.
    Gone {
        /// Whether another workload has its name.
        recreated: bool,
    },
    /// The command cannot continue. The error sets the exit code.
    Error(Error),
}

/// Why no more pods are released.
#[derive(Clone, Debug, PartialEq)]
pub enum StopReason {
    /// The plan is paused.
    Paused,
    /// Another process holds the lock, and may still run.
    Locked(Lock),
    /// Another process took the plan over.
    TakenOver {
        /// The holder of that lock, if it is known.
        by: Option<String>,
    },
    /// Another client changed the template, the strategy or the annotation.
    Changed {
        /// The field manager, if managed fields show it.
        manager: Option<String>,
        /// Descriptions of the changes.
        changes: Vec<String>,
        /// The original update strategy, if nothing in the cluster stores it any more.
        lost_original: Option<Value>,
        /// The label of the revision that the plan began from, if the change was a rollback to it and ended the hold.
        rolled_back_to: Option<String>,
    },
    /// It is scaled to 0 replicas, so that there is no pod to release, and none that a hold keeps outdated.
    NoReplicas,
    /// Too many pods are unavailable to release another one.
    Unhealthy {
        /// The unavailable pods, each with the reason.
        pods: Vec<(String, String)>,
        /// How many pods may be unavailable.
        allowed: usize,
    },
    /// The original partition, or the original node selector, keeps pods outdated that the command asked for.
    OwnPartition {
        /// The partition; 0 for a node selector alone.
        partition: i64,
        /// How many pods it keeps outdated.
        outdated: usize,
    },
    /// No selected node has an outdated pod.
    NotSelected {
        /// How many other nodes have one.
        others: usize,
    },
    /// The plan can end only once the pods on these nodes are updated and available, and the nodes are not ready.
    OnUnreadyNodes(Vec<String>),
    /// The next pod is on a node that is not ready, and cannot be skipped.
    OnUnreadyNode {
        /// The pod.
        pod: String,
        /// Its node.
        node: String,
    },
}

/// The outcome of a rollback.
#[derive(Clone, Debug, PartialEq)]
pub enum RollbackOutcome {
    /// All pods run the revision before, and are available.
    Done {
        /// The label of that revision.
        revision: String,
    },
    /// It began, and is not complete.
    Unfinished {
        /// The label of that revision.
        revision: String,
        /// Why, as a clause.
        why: String,
    },
    /// It did not begin; why, as a clause.
    NotStarted(String),
}

impl StepOutcome {
    /// Returns the name for text and JSON.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::NothingOutdated => "nothing-outdated",
            Self::Reached { .. } => "reached",
            Self::Complete => "complete",
            Self::Stopped(_) => "stopped",
            Self::Failed { .. } => "failed",
            Self::TimedOut(_) => "timed-out",
            Self::Interrupted(stop) => stop.json_name(),
            Self::Gone { recreated: false } => "deleted",
            Self::Gone { recreated: true } => "recreated",
            Self::Error(_) => "error",
        }
    }

    /// Returns the exit code.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::NothingOutdated | Self::Reached { .. } | Self::Complete => Exit::Done,
            Self::Stopped(_) => Exit::Held,
            Self::Failed { .. } => Exit::Failed,
            Self::TimedOut(_) => Exit::Unfinished,
            Self::Interrupted(signal) => signal.exit(),
            Self::Gone { .. } => Exit::Error,
            Self::Error(error) => error.exit(),
        }
    }
}
