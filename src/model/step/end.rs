//! How a command that steps ended.

use std::time::Duration;

use super::act::Checked;
use crate::error::Error;

/// How a command that steps ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// No pod that a plan would release is outdated, and nothing was written.
    NothingOutdated,
    /// As far as this command was asked to go; the rest is held.
    Reached {
        /// How many pods run the new revision.
        updated: usize,
        /// Of how many.
        of: usize,
    },
    /// All of it is done, and the strategy is what it was before.
    Complete,
    /// Nothing more was released, and nothing was undone: somebody has to decide. Exit 5.
    Stopped(Why),
    /// A batch or a check failed. Exit 4.
    Failed {
        /// Why.
        failure: Failure,
        /// What became of the released pods, where they were to go back.
        back: Option<Back>,
    },
    /// The time given for the command is up; the plan stays. Exit 3.
    TimedOut(Duration),
    /// Somebody stopped us; the plan stays.
    Interrupted,
    /// Somebody stopped us; the plan stays.
    Terminated,
    /// The workload was deleted, or deleted and made again.
    Gone {
        /// Whether another one has its name.
        is_another: bool,
    },
    /// It cannot go on. Exit as the error says.
    Error(Error),
}

/// Why nothing more is released.
#[derive(Clone, Debug, PartialEq)]
pub enum Why {
    /// Somebody paused the plan.
    Paused,
    /// Another process has the lease, and it was taken from us.
    LeaseLost {
        /// Who has it.
        by: Option<String>,
    },
    /// The template, the strategy or the hold was changed by somebody; what, in words.
    Changed {
        /// Who, as far as the server remembers.
        manager: Option<String>,
        /// What, each in words.
        changes: Vec<String>,
    },
    /// Too many pods are unavailable to touch another: which, and how many may be.
    Unhealthy {
        /// Those that are not available, and why as far as known.
        pods: Vec<(String, String)>,
        /// How many may be.
        allowed: usize,
    },
    /// The set's own partition keeps every pod on the old revision, and nobody asked to go below it.
    OwnPartition {
        /// The partition.
        partition: i64,
    },
    /// No selected node has an outdated pod, and so many others have.
    NotSelected {
        /// How many.
        others: usize,
    },
    /// All that is left is on these nodes, which are not ready.
    OnUnreadyNodes(Vec<String>),
    /// The next pod is on a node that is not ready, and cannot be passed over.
    OnUnreadyNode {
        /// The pod.
        pod: String,
        /// Its node.
        node: String,
    },
}

/// Why a batch failed.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// A cause that nobody heals by waiting, as a sentence.
    Cause {
        /// The batch.
        batch: usize,
        /// The cause's id.
        id: &'static str,
        /// The pods.
        pods: Vec<String>,
    },
    /// Pods of the new revision were not available in time.
    TimedOut {
        /// The batch.
        batch: usize,
        /// How long they had.
        after: Duration,
        /// Those that are not.
        pods: Vec<String>,
    },
    /// Its pods were not replaced in time, by a controller that does not work or for a budget that lets none
    /// go; those that were are available.
    NotReplaced {
        /// The batch.
        batch: usize,
        /// How long it had.
        after: Duration,
        /// Those that were not.
        pods: Vec<String>,
    },
    /// It failed before, or was undone by hand, and was found while it went back.
    Earlier,
    /// The check did not say yes.
    Check {
        /// The batch.
        batch: usize,
        /// What it said.
        said: Checked,
    },
}

/// What became of the pods that were to go back.
#[derive(Clone, Debug, PartialEq)]
pub enum Back {
    /// They run the old revision again and are available.
    Done {
        /// The revision, as a person calls it.
        revision: String,
    },
    /// It was begun, and did not get there; why, as a sentence.
    Unfinished {
        /// The revision, as a person calls it.
        revision: String,
        /// Why.
        why: String,
    },
    /// Nothing was written; why, as a sentence.
    Not(String),
}
