//! Pod slots: the places that the pods of a workload fill.

use k8s_openapi::jiff::Timestamp;

use crate::api::container::Container;
use crate::api::count::as_count;
use crate::api::pod::Pod;
use crate::hold::plan::{Pace, PlannedBatch};
use crate::kind::Workload;

/// The place that one pod fills: an ordinal of a StatefulSet, a node of a DaemonSet, or a number where pods are only
/// counted, as those of a Deployment.
#[derive(Clone, Debug)]
pub(crate) struct Slot<'a> {
    /// Its identity in the plan: the name of the pod or of the node, or the number of a pod that is only counted.
    pub(crate) key: String,
    /// Its label, if that is not the key.
    pub(crate) label: Option<String>,
    /// The pod in the slot, if there is one.
    pub(crate) pod: Option<&'a Pod>,
    pub(crate) state: SlotState,
    /// The last batch that began, if the slot belongs to it.
    pub(crate) batch: Option<&'a PlannedBatch>,
    /// The reason if the plan never releases it.
    pub(crate) skip: Option<Skip>,
    /// The node of its pod, if the node is not ready.
    pub(crate) unready_node: Option<String>,
    /// The group of its node. No batch has slots of two groups.
    pub(crate) group: Option<String>,
}

/// The state of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotState {
    /// Its pod runs another revision and is available, and nothing replaces it.
    Held,
    /// It is held, and its pod is missing or not available.
    HeldDown,
    /// Its next pod runs the new revision. The controller may delete the outdated pod at any moment, or has deleted it.
    Released,
    /// It has no pod and no batch released it, and its next pod runs the new revision: a node without its pod.
    Missing,
    /// Its pod runs the new revision, and is not available or has a stopped container. A pod without a readiness probe is
    /// `Ready` for a moment after its container ended.
    Starting,
    /// Its pod runs the new revision and is available.
    Healthy {
        /// Since when, by the timestamps of the pod: also since its update in place, during which a pod without a restart
        /// stays ready.
        since: Option<Timestamp>,
    },
}

/// The reason why a plan never releases a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Skip {
    /// The original partition of the StatefulSet, which is restored after the plan.
    OwnPartition,
    /// The node selector. The slot stays held.
    Selector,
}

/// A slot of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotView {
    /// The name of the pod or of the node; `pod 3` while the controller has not created the third updated pod.
    pub label: String,
    /// The state.
    pub state: SlotState,
}

impl SlotState {
    /// Returns the name for text and JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Held | Self::HeldDown => "outdated",
            Self::Released | Self::Missing | Self::Starting => "updating",
            Self::Healthy { .. } => "updated",
        }
    }

    /// Whether its pod runs another revision, and no batch released it.
    #[must_use]
    pub fn is_held(self) -> bool {
        matches!(self, Self::Held | Self::HeldDown)
    }

    /// Whether its pod runs the new revision and is available.
    #[must_use]
    pub fn is_healthy(self) -> bool {
        matches!(self, Self::Healthy { .. })
    }

    /// Whether its pod runs the new revision.
    pub(crate) fn is_updated(self) -> bool {
        matches!(self, Self::Starting | Self::Healthy { .. })
    }
}

impl Slot<'_> {
    /// Returns its name for people: that of the pod or of the node, or `pod 3` while the controller has not created the
    /// third updated pod.
    pub(crate) fn label(&self) -> String {
        self.label.clone().unwrap_or_else(|| self.key.clone())
    }

    /// Returns it as it is shown.
    pub(crate) fn view(&self) -> SlotView {
        SlotView { label: self.label(), state: self.state }
    }

    /// Whether its pod must still be replaced, released or not.
    pub(crate) fn is_outdated(&self) -> bool {
        !self.state.is_updated() && self.skip.is_none()
    }

    /// Whether the node selector excludes it while its pod is outdated.
    pub(crate) fn is_not_selected(&self) -> bool {
        self.skip == Some(Skip::Selector) && !self.state.is_updated()
    }

    /// Whether a later batch can release it.
    pub(crate) fn awaits_release(&self) -> bool {
        self.state.is_held() && self.skip.is_none()
    }

    /// Whether a container of its healthy pod has ended since its release: since the pod was created, or since the update in
    /// place that restarted it.
    pub(crate) fn has_terminated(&self) -> bool {
        let Some(pod) = self.pod else { return false };
        let since = pod.in_place_update.as_ref().and_then(|update| update.since);
        let has_ended = |one: &Container| match since {
            None => one.restarts > 0 || one.last.is_some(),
            Some(since) => {
                one.last.as_ref().is_some_and(|last| last.started.is_none_or(|started| started >= since))
            }
        };
        pod.containers.iter().filter(|one| !one.init).any(has_ended)
    }

    /// Whether `step` does not wait for its pod, because its node is not ready. Slots of the last batch are never
    /// ignored, because the new revision may have broken their nodes. A node that was updated earlier mostly fails
    /// for another reason, and in a large cluster one always does.
    pub(crate) fn is_ignored(&self, pace: &Pace) -> bool {
        pace.ignore_unready_nodes && self.unready_node.is_some() && self.batch.is_none()
    }

    /// Whether its pod counts against `--max-unavailable`. An updated pod counts on every node, which limits the damage
    /// of a revision that breaks nodes late.
    pub(crate) fn counts(&self, pace: &Pace) -> bool {
        self.state.is_updated() || !self.is_ignored(pace)
    }

    /// Whether `step` neither releases it nor waits for it, because its node is not ready.
    pub(crate) fn is_skipped(&self, pace: &Pace) -> bool {
        let awaits = self.awaits_release() && self.unready_node.is_some();
        self.skip.is_none() && !self.state.is_healthy() && (awaits || self.is_ignored(pace))
    }

    /// Whether it counts as unavailable. That includes a pod that the controller may delete at any moment.
    pub(crate) fn is_unavailable(&self, pace: &Pace) -> bool {
        self.counts(pace) && !matches!(self.state, SlotState::Held | SlotState::Healthy { .. })
    }

    /// Whether its outdated pod is gone or terminating because the slot was released.
    pub(crate) fn is_replaced(&self) -> bool {
        !self.state.is_held() && (self.state.is_updated() || !self.pod.is_some_and(Pod::is_active))
    }
}

/// Counts the slots whose pods run the new revision, or will run it because the plan or the partition released them. A pod that
/// the original partition keeps is no part of the plan, whatever it runs.
pub(crate) fn released_or_updated(slots: &[Slot<'_>]) -> usize {
    let counts = |slot: &&Slot<'_>| {
        let is_of_plan = slot.skip != Some(Skip::OwnPartition);
        is_of_plan && (slot.state == SlotState::Released || slot.state.is_updated())
    };
    slots.iter().filter(counts).count()
}

/// Returns how many of the wanted pods may be unavailable. It is never all of several pods, also after a scale-down.
pub(crate) fn max_unavailable(pace: &Pace, wanted: usize) -> usize {
    let most = wanted.saturating_sub(1).max(1);
    pace.max_unavailable.map_or(1, |amount| amount.pods_of(wanted)).min(most)
}

/// Returns how many pods the workload's own budget lets be unavailable, for the kinds of OpenKruise.
pub(crate) fn own_limit(workload: &Workload) -> Option<usize> {
    (!workload.kind().is_built_in()).then(|| as_count(workload.update_budget().unavailable))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::Duration;

    use super::*;
    use crate::engine::Now;
    use crate::hold::plan::{Hold, Plan, Reach};

    /// Returns the hold in the annotation of a workload, with a plan for the live template.
    pub(crate) fn held_by_plan(workload: &Workload) -> Hold {
        let plan = Plan::new(&workload.template_digest(), None, Pace::default(), Reach::All);
        workload.held().stored().unwrap().clone().with_plan(plan)
    }

    pub(crate) const NOW: Now = Now { elapsed: Duration::ZERO, server_time: Timestamp::UNIX_EPOCH };

    /// With `--force` a plan continues past a released pod that its controller has still to replace.
    #[test]
    fn what_is_released_counts_before_it_is_updated() {
        for (state, counts) in [
            (SlotState::Healthy { since: None }, true),
            (SlotState::Starting, true),
            (SlotState::Released, true),
            (SlotState::Missing, false), // the pod of a new node
            (SlotState::HeldDown, false),
            (SlotState::Held, false),
        ] {
            let slot = slot(None, state);
            let kept = Slot { skip: Some(Skip::OwnPartition), ..slot.clone() };
            assert_eq!(released_or_updated(&[slot, kept]), usize::from(counts), "{state:?}");
        }
    }

    /// Returns a slot of no batch.
    pub(crate) fn slot(pod: Option<&Pod>, state: SlotState) -> Slot<'_> {
        let key = pod.map(|pod| pod.name.clone()).unwrap_or_default();
        Slot { key, label: None, pod, state, batch: None, skip: None, unready_node: None, group: None }
    }
}
