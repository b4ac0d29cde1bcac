//! Pod slots: the places that the pods of a workload fill.

use k8s_openapi::jiff::Timestamp;
use serde::Serialize;

use crate::api::container::{Container, ContainerState};
use crate::api::count::as_count;
use crate::api::pod::Pod;
use crate::hold::plan::Pace;
use crate::kind::Workload;

/// The place that one pod fills: an ordinal of a StatefulSet, a node of a DaemonSet, or a number where pods are only
/// counted, as those of a Deployment.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about one slot")]
pub(crate) struct PodSlot<'a> {
    /// Its identity in the plan: the name of the pod or of the node, or the number of a pod that is only counted.
    pub(crate) key: String,
    /// Its label, if that is not the key.
    pub(crate) label: Option<String>,
    /// The pod in the slot, if there is one.
    pub(crate) pod: Option<&'a Pod>,
    /// Whether its pod runs the new revision.
    pub(crate) is_updated: bool,
    /// Whether it belongs to the last batch that began.
    pub(crate) is_in_last_batch: bool,
    /// Whether its pod must stay available for the whole soak. Other pods must only be available at the end of the
    /// soak.
    pub(crate) soaks: bool,
    /// Whether its pod is available and not terminating.
    pub(crate) is_available: bool,
    /// Since when it is, by the timestamps of the pod: also since its update in place, during which a pod without a restart
    /// stays ready.
    pub(crate) available_since: Option<Timestamp>,
    /// Whether the next pod of this slot runs the new revision.
    pub(crate) is_released: bool,
    /// Whether the controller may delete its outdated pod at any moment.
    pub(crate) awaits_deletion: bool,
    /// The reason if the plan never releases it.
    pub(crate) skip: Option<Skip>,
    /// The node of its pod, if the node is not ready.
    pub(crate) unready_node: Option<String>,
    /// The group of its node. No batch has slots of two groups.
    pub(crate) group: Option<String>,
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

/// The state of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlotState {
    /// Its pod runs another revision.
    Outdated,
    /// Its pod is being replaced, or is not available yet.
    Updating,
    /// Its pod runs the new revision and is available.
    Updated,
}

impl PodSlot<'_> {
    /// Returns its name for people: that of the pod or of the node, or `pod 3` while the controller has not created the
    /// third updated pod.
    pub(crate) fn label(&self) -> String {
        self.label.clone().unwrap_or_else(|| self.key.clone())
    }

    /// Returns it as it is shown.
    pub(crate) fn view(&self) -> SlotView {
        let state = match self {
            slot if slot.is_healthy() => SlotState::Updated,
            slot if slot.is_released || slot.is_updated => SlotState::Updating,
            _ => SlotState::Outdated,
        };
        SlotView { label: self.label(), state }
    }

    /// Whether its pod must still be replaced, released or not.
    pub(crate) fn is_outdated(&self) -> bool {
        !self.is_updated && self.skip.is_none()
    }

    /// Whether the node selector excludes it while its pod is outdated.
    pub(crate) fn is_not_selected(&self) -> bool {
        self.skip == Some(Skip::Selector) && !self.is_updated
    }

    /// Whether a later batch can release it.
    pub(crate) fn awaits_release(&self) -> bool {
        self.is_outdated() && !self.is_released
    }

    /// Whether its pod runs the new revision, is available, and has no stopped container. A pod without a readiness probe is
    /// `Ready` for a moment after its container ended.
    pub(crate) fn is_healthy(&self) -> bool {
        self.is_updated && self.is_available && !self.has_stopped_container()
    }

    fn has_stopped_container(&self) -> bool {
        let containers = self.pod.into_iter().flat_map(|pod| &pod.containers).filter(|one| !one.init);
        containers
            .into_iter()
            .any(|one| matches!(one.state, ContainerState::Terminated(_) | ContainerState::Waiting { .. }))
    }

    /// Whether a container of its updated pod has ended since its release: since the pod was created, or since the update
    /// in place that restarted it.
    pub(crate) fn has_terminated(&self) -> bool {
        let Some(pod) = self.pod.filter(|_| self.is_updated) else { return false };
        let since = pod.in_place_update.as_ref().and_then(|update| update.since);
        let has_ended = |one: &Container| match since {
            None => one.restarts > 0 || one.last.is_some(),
            Some(since) => {
                one.last.as_ref().is_some_and(|last| last.started.is_none_or(|started| started >= since))
            }
        };
        pod.containers.iter().filter(|one| !one.init).any(has_ended) || self.has_stopped_container()
    }

    /// Whether `step` does not wait for its pod, because its node is not ready. Slots of the last batch are never
    /// ignored, because the new revision may have broken their nodes. A node that was updated earlier mostly fails
    /// for another reason, and in a large cluster one always does.
    pub(crate) fn is_ignored(&self, pace: &Pace) -> bool {
        pace.ignore_unready_nodes && self.unready_node.is_some() && !self.is_in_last_batch
    }

    /// Whether its pod counts against `--max-unavailable`. An updated pod counts on every node, which limits the damage
    /// of a revision that breaks nodes late.
    pub(crate) fn counts(&self, pace: &Pace) -> bool {
        self.is_updated || !self.is_ignored(pace)
    }

    /// Whether `step` neither releases it nor waits for it, because its node is not ready.
    pub(crate) fn is_skipped(&self, pace: &Pace) -> bool {
        let awaits = self.awaits_release() && self.unready_node.is_some();
        self.skip.is_none() && !self.is_healthy() && (awaits || self.is_ignored(pace))
    }

    /// Whether it counts as unavailable. That includes a pod that the controller may delete at any moment.
    pub(crate) fn is_unavailable(&self, pace: &Pace) -> bool {
        self.counts(pace) && (!self.is_available || self.awaits_deletion)
    }

    /// Whether its outdated pod is gone or terminating because the slot was released.
    pub(crate) fn is_replaced(&self) -> bool {
        self.is_released && (self.is_updated || !self.pod.is_some_and(Pod::is_active))
    }
}

/// Counts the slots whose pods run the new revision, or will run it because the plan or the partition released them.
/// A missing pod on a node that was not released does not count.
pub(crate) fn released_or_updated(slots: &[PodSlot<'_>]) -> usize {
    let counts = |slot: &&PodSlot<'_>| {
        slot.is_updated || slot.is_released && (slot.awaits_deletion || slot.is_in_last_batch)
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

    use serde_json::json;

    use super::*;
    use crate::api::object::Object;
    use crate::engine::Now;
    use crate::hold::plan::{Hold, Plan, Reach};

    /// Returns the hold in the annotation of a workload, with a plan for the live template.
    pub(crate) fn held_by_plan(workload: &Workload) -> Hold {
        let plan = Plan::new(&workload.template_digest(), None, Pace::default(), Reach::All);
        workload.held().stored().unwrap().clone().with_plan(plan)
    }

    pub(crate) const NOW: Now = Now { elapsed: Duration::ZERO, server_time: Timestamp::UNIX_EPOCH };

    /// Returns the released slot of an updated pod that is available.
    pub(crate) fn updated_slot(pod: &Pod) -> PodSlot<'_> {
        PodSlot {
            key: pod.name.clone(),
            label: None,
            pod: Some(pod),
            is_updated: true,
            is_in_last_batch: false,
            soaks: true,
            is_available: true,
            available_since: None,
            is_released: true,
            awaits_deletion: false,
            skip: None,
            unready_node: None,
            group: None,
        }
    }

    /// With `--force` a plan continues past a released pod that its controller has still to replace.
    #[test]
    fn what_is_released_counts_before_it_is_updated() {
        let pod = json!({"kind": "Pod", "metadata": {"name": "db-0"}});
        let pod = Pod::read(&Object::read(pod).unwrap());
        let updated = || updated_slot(&pod);
        let missing = || PodSlot { pod: None, is_updated: false, is_available: false, ..updated() };
        for (slot, counts) in [
            (updated(), true),
            (PodSlot { is_updated: false, awaits_deletion: true, ..updated() }, true),
            (PodSlot { is_in_last_batch: true, ..missing() }, true),
            (missing(), false), // the pod of a new node
            (PodSlot { is_updated: false, is_released: false, ..updated() }, false),
        ] {
            assert_eq!(released_or_updated(std::slice::from_ref(&slot)), usize::from(counts), "{slot:?}");
        }
    }
}
