//! The state of a plan for display: its finished, present and future batches.

use std::time::Duration;

use super::outcome::StopReason;
use crate::model::cause::Cause;
use crate::model::change::effect::UpdatedPods;
use crate::model::hold::plan::{Pace, Reach};

/// The state of a plan.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one fact of the output")]
pub struct PlanView {
    /// The label of the revision for a rollback, if it is stored.
    pub from: Option<String>,
    /// The label of the revision that `step` releases, once it is stored.
    pub to: Option<String>,
    /// The desired number of pods.
    pub wanted: usize,
    /// How many of them run the new revision.
    pub updated: usize,
    /// The pace.
    pub pace: Pace,
    /// How many pods may be unavailable, for the present replicas.
    pub max_unavailable: usize,
    /// Whether that is the workload's own limit.
    pub is_own_limit: bool,
    /// How many surge pods the controller may create, where it has a surge of its own.
    pub surge: usize,
    /// The field by which the plan holds the workload, and its value where that is a word.
    pub holds_by: Option<(String, Option<&'static str>)>,
    /// The goal of the command.
    pub reach: Reach,
    /// The finished, present and future batches.
    pub batches: Vec<Batch>,
    /// Whether there are more batches than those.
    pub has_more_batches: bool,
    /// How long every pod has been available in the final soak, once it began.
    pub final_soak: Option<Duration>,
    /// The sum of the remaining soaks of those batches.
    pub soaks: Duration,
    /// The pods that are skipped because their nodes are not ready.
    pub skipped: Vec<String>,
    /// Whether `--force` would reduce the number of unavailable pods.
    pub ignoring_nodes_helps: bool,
    /// Whether the plan is paused.
    pub is_paused: bool,
    /// Whether the plan is rolling back or rolled back. Then the updated pods are those that run the restored revision.
    pub is_rolling_back: bool,
    /// The causes why the plan does not progress.
    pub causes: Vec<Cause>,
    /// The kubectl command that ends the hold without this program, if the kind has one.
    pub end_by_hand: Option<String>,
    /// Before the first write: how outdated pods will be updated.
    pub update: Option<UpdatedPods>,
    /// Before the first write, the same for each future batch, by its number. Empty if the batches are alike, or if the
    /// order of the pods is not known. They differ if outdated pods run several revisions.
    pub batch_updates: Vec<(usize, UpdatedPods)>,
    /// Before the first write: why the next batch cannot begin, if it cannot.
    pub stops: Option<StopReason>,
}

/// One batch of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The number, counted from 1.
    pub number: usize,
    /// Whether this is the canary batch of one pod.
    pub is_canary: bool,
    /// How many slots it has.
    pub size: usize,
    /// The slots in the order of release. Empty for a batch of an earlier process, because the plan stores only its
    /// size.
    pub slots: Vec<SlotView>,
    /// The stage.
    pub stage: BatchStage,
}

/// A slot of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotView {
    /// The name of the pod, or of the node.
    pub name: String,
    /// The state.
    pub state: SlotState,
}

/// The state of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotState {
    /// Its pod runs another revision.
    Outdated,
    /// Its pod is being replaced, or is not available yet.
    Updating,
    /// Its pod runs the new revision and is available.
    Updated,
}

/// The stage of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchStage {
    /// Not begun.
    Waiting,
    /// Its pods are being replaced.
    Updating,
    /// Its pods are available, and must stay available.
    Soaking {
        /// How long they have been available.
        healthy: Duration,
        /// How long they must be available.
        of: Duration,
    },
    /// The check runs.
    Checking,
    /// Done.
    Done {
        /// How long its pods have been available.
        healthy: Duration,
    },
    /// Failed.
    Failed,
}

impl SlotState {
    /// Returns the name for JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Outdated => "outdated",
            Self::Updating => "updating",
            Self::Updated => "updated",
        }
    }
}

impl BatchStage {
    /// Returns the name for people and for JSON.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Updating => "updating",
            Self::Soaking { .. } => "soaking",
            Self::Checking => "checking",
            Self::Done { .. } => "done",
            Self::Failed => "failed",
        }
    }
}
