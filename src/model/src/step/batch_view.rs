//! A batch as it is shown: its slots and its stage.

use std::collections::HashMap;
use std::time::Duration;

use crate::hold::mechanism::State;
use crate::hold::plan::PlannedBatch;
use crate::hold::slot::{Slot, SlotView};

/// One batch of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchView {
    /// The number, counted from 1; 0 for the pods of a check that belongs to no batch.
    pub number: usize,
    /// Whether this is the canary batch of one pod.
    pub is_canary: bool,
    /// The label of its nodes by which `--order` groups them, without a prefix, if they have it: `zone=a`.
    pub group: Option<String>,
    /// The slots in the order of release.
    pub slots: Vec<SlotView>,
    /// The stage.
    pub stage: BatchStage,
}

/// The stage of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchStage {
    /// Not begun.
    Waiting,
    /// Its pods are being replaced.
    Updating,
    /// The released pods, of a DaemonSet those of the batch, are available and must stay available.
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
        /// How long the soaking pods had been available when it ended. In a later view: how long its own pods have been,
        /// by their timestamps.
        healthy: Duration,
    },
    /// Failed.
    Failed,
}

impl BatchStage {
    /// Returns the name for text and JSON.
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

impl BatchView {
    /// Returns a batch with the state of its slots.
    pub(super) fn of(state: &State<'_>, planned: &PlannedBatch, batch_stage: BatchStage) -> Self {
        Self::among(state, planned, &slots_by_key(state), batch_stage)
    }

    /// Returns a batch with the state of its slots, which are among these.
    pub(super) fn among(
        state: &State<'_>,
        planned: &PlannedBatch,
        by_key: &HashMap<&str, &Slot<'_>>,
        batch_stage: BatchStage,
    ) -> Self {
        let slots: Vec<_> =
            planned.slots.iter().filter_map(|key| by_key.get(key.as_str()).copied()).collect();
        let group = slots.first().and_then(|slot| slot.group.as_ref()).zip(state.pace().order.as_ref());
        // Without the prefix of the label, which would take the room of the nodes.
        let group =
            group.map(|(value, label)| format!("{}={value}", label.rsplit('/').next().unwrap_or(label)));
        let slots = slots.into_iter().map(Slot::view).collect();
        Self { number: planned.number, is_canary: planned.canary, group, slots, stage: batch_stage }
    }

    /// Returns the last batch that began for its check; before the first one, the slots that run the revision, for a check that
    /// belongs to no batch.
    pub(super) fn to_check(state: &State<'_>) -> Self {
        if let Some(planned) = &state.plan.last_batch {
            return Self::of(state, planned, BatchStage::Checking);
        }
        let updated = state.slots.iter().filter(|slot| slot.state.is_updated());
        let slots = updated.map(Slot::view).collect();
        Self { number: 0, is_canary: false, group: None, slots, stage: BatchStage::Checking }
    }
}

/// Returns the slots by their keys.
pub(super) fn slots_by_key<'s>(state: &'s State<'_>) -> HashMap<&'s str, &'s Slot<'s>> {
    state.slots.iter().map(|slot| (slot.key.as_str(), slot)).collect()
}
