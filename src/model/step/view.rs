//! The state of a plan for people: its batches so far, and those to come.

use std::time::Duration;

use super::outcome::StopReason;
use crate::model::change::hold::{Lease, Pace, Reach};
use crate::model::status::cause::Cause;

/// The state of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanView {
    /// The label of the revision to go back to, if it is stored.
    pub from: Option<String>,
    /// The label of the revision that is released, once it is stored.
    pub to: Option<String>,
    /// How many pods there should be.
    pub wanted: usize,
    /// How many of them run the new revision.
    pub updated: usize,
    /// The pace.
    pub pace: Pace,
    /// How many pods may be unavailable, for the replicas there are.
    pub max_unavailable: usize,
    /// How far the command goes.
    pub reach: Reach,
    /// The batches so far, and those to come.
    pub batches: Vec<Batch>,
    /// Whether more batches come than those.
    pub has_more_batches: bool,
    /// The final soak, once it began.
    pub final_soak: Option<Soaked>,
    /// The sum of the soaks to come, for those batches.
    pub soaks: Duration,
    /// The pods that are skipped because their nodes are not ready.
    pub skipped: Vec<String>,
    /// Whether `--ignore-unready-nodes` would lower the number of unavailable pods.
    pub is_worse_by_nodes: bool,
    /// The lease.
    pub lease: Option<Lease>,
    /// Whether the plan is paused.
    pub is_paused: bool,
    /// Why the next batch would not begin; only in a preview.
    pub stops: Option<StopReason>,
    /// The causes for which it does not progress.
    pub causes: Vec<Cause>,
}

/// How far a soak is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Soaked {
    /// For how long every pod has been available.
    pub healthy: Duration,
    /// How long they have to be.
    pub of: Duration,
}

/// One batch of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The number, counted from 1.
    pub number: usize,
    /// Whether it is one pod before all others.
    pub is_canary: bool,
    /// How many slots it has.
    pub size: usize,
    /// The slots in the order of release; empty for a batch of an earlier process, of which the plan stores only
    /// the size.
    pub slots: Vec<SlotView>,
    /// How far it is.
    pub stage: BatchStage,
}

/// A slot of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotView {
    /// The name of the pod, or of the node.
    pub name: String,
    /// How far it is.
    pub state: SlotState,
}

/// How far a slot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotState {
    /// Its pod runs another revision.
    Outdated,
    /// Its pod is being replaced, or is not available yet.
    Updating,
    /// Its pod runs the new revision and is available.
    Updated,
}

/// How far a batch is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchStage {
    /// It did not begin.
    Waiting,
    /// Its pods are being replaced.
    Updating,
    /// Its pods are available, and have to stay so.
    Soaking {
        /// For how long they have been.
        healthy: Duration,
        /// How long they have to be.
        of: Duration,
    },
    /// The check runs.
    Checking,
    /// It is done.
    Done {
        /// For how long its pods have been available.
        healthy: Duration,
    },
    /// It failed.
    Failed,
}
