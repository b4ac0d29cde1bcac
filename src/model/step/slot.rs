//! Pod slots: the places that the pods of a workload fill, as an observation shows them.

use std::collections::BTreeSet;

use crate::model::api::container::ContainerState;
use crate::model::api::node::Node;
use crate::model::api::pod::Pod;
use crate::model::change::hold::{Pace, PlanRecord};
use crate::model::follow::Now;
use crate::model::revision::Revision;
use crate::model::status::observation::Observation;

/// An observation, with the nodes and the plan that decide how its slots count.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlanContext<'a> {
    pub(super) observed: &'a Observation,
    /// The nodes; none when they may not be read.
    pub(super) nodes: Option<&'a [Node]>,
    pub(super) record: &'a PlanRecord,
    pub(super) now: Now,
}

/// The place that one pod fills: an ordinal of a StatefulSet, or a node of a DaemonSet.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about one slot")]
pub(super) struct PodSlot<'a> {
    /// The name of the pod, or of the node; the number of a pod that is only counted.
    pub(super) name: String,
    /// What to call it for people, if that is not its name.
    pub(super) label: Option<String>,
    /// Its pod, if it has one.
    pub(super) pod: Option<&'a Pod>,
    /// Whether its pod runs the revision that is released.
    pub(super) is_updated: bool,
    /// Whether it belongs to the batch that began last.
    pub(super) is_in_last_batch: bool,
    /// Whether its pod has to stay available for the whole soak. Other pods only have to be available when
    /// the soak is over.
    pub(super) soaks: bool,
    /// Whether its pod is available and not terminating.
    pub(super) is_available: bool,
    /// Whether the next pod of this slot runs the new revision.
    pub(super) is_released: bool,
    /// Whether the controller may delete its outdated pod at any moment.
    pub(super) awaits_deletion: bool,
    /// Why the plan never releases it, if it does not.
    pub(super) excluded: Option<ExcludedBy>,
    /// The node of its pod, if that is not ready.
    pub(super) unready_node: Option<String>,
    /// The group of its node. No batch has slots of two groups.
    pub(super) group: Option<String>,
}

/// Why a plan never releases a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExcludedBy {
    /// The StatefulSet's own partition, which is restored in the end.
    OwnPartition,
    /// The node selector. The slot stays held.
    Selector,
}

impl<'a> PlanContext<'a> {
    pub(super) fn pace(&self) -> &'a Pace {
        &self.record.plan.pace
    }

    /// The revision of the live template, once the controller stored it.
    pub(super) fn current(&self) -> Option<&'a Revision> {
        self.observed.revisions.current()
    }

    /// Whether a pod is available and not terminating.
    pub(super) fn is_available(&self, pod: &Pod) -> bool {
        let seconds = self.record.hold.own_min_ready_seconds(&self.observed.workload);
        pod.is_active() && pod.is_available(seconds, self.now.server_time)
    }

    /// Whether a pod runs the current revision.
    pub(super) fn is_updated(&self, pod: &Pod) -> bool {
        self.current().is_some_and(|current| self.observed.workload.runs(pod, current))
    }

    /// The slots of the batch that began last.
    pub(super) fn last_batch(&self) -> BTreeSet<&'a str> {
        let batch = self.record.plan.batch.iter();
        batch.flat_map(|batch| &batch.slots).map(String::as_str).collect()
    }
}

impl PodSlot<'_> {
    /// What to call it for people.
    pub(super) fn label(&self) -> String {
        self.label.clone().unwrap_or_else(|| self.name.clone())
    }

    /// Whether its pod still has to be replaced, released or not.
    pub(super) fn is_outdated(&self) -> bool {
        !self.is_updated && self.excluded.is_none()
    }

    /// Whether the node selector excludes it while its pod is outdated.
    pub(super) fn is_not_selected(&self) -> bool {
        self.excluded == Some(ExcludedBy::Selector) && !self.is_updated
    }

    /// Whether a batch has yet to release it.
    pub(super) fn awaits_release(&self) -> bool {
        self.is_outdated() && !self.is_released
    }

    /// Whether its pod runs the new revision, and is available. A pod without a readiness probe is `Ready`
    /// for a moment after its container ended, so all its containers have to run as well.
    pub(super) fn is_ready(&self) -> bool {
        self.is_updated && self.is_available && !self.has_stopped_container()
    }

    fn has_stopped_container(&self) -> bool {
        let containers = self.pod.into_iter().flat_map(|pod| &pod.containers).filter(|one| !one.init);
        containers
            .into_iter()
            .any(|one| matches!(one.state, ContainerState::Terminated(_) | ContainerState::Waiting { .. }))
    }

    /// Whether a container of its updated pod has ended since the pod was created, and so since its release.
    pub(super) fn has_terminated(&self) -> bool {
        let containers = self.pod.into_iter().flat_map(|pod| &pod.containers).filter(|one| !one.init);
        let mut ended = containers.map(|one| one.restarts > 0 || one.last.is_some());
        self.is_updated && (ended.any(|ended| ended) || self.has_stopped_container())
    }

    /// Whether nothing waits for its pod, because its node is not ready. The slots of the last batch always
    /// count, because they show what the new revision does to nodes. Nodes that were updated long ago fail
    /// for other reasons, and in a large fleet one always does.
    pub(super) fn is_ignored(&self, pace: &Pace) -> bool {
        pace.ignore_unready_nodes && self.unready_node.is_some() && !self.is_in_last_batch
    }

    /// Whether its pod counts against `--max-unavailable`. An updated pod counts on every node, so that a
    /// revision that breaks nodes late goes no further than that.
    pub(super) fn counts(&self, pace: &Pace) -> bool {
        self.is_updated || !self.is_ignored(pace)
    }

    /// Whether it counts as unavailable. A pod that the controller may delete at any moment does.
    pub(super) fn is_unavailable(&self, pace: &Pace) -> bool {
        self.counts(pace) && (!self.is_available || self.awaits_deletion)
    }

    /// Whether its old pod is gone or terminating because the slot was released.
    pub(super) fn is_replaced(&self) -> bool {
        self.is_released && (self.is_updated || !self.pod.is_some_and(Pod::is_active))
    }
}

/// Returns how many of a number of pods may be unavailable: never all of several, also after a scale-down.
pub(super) fn max_unavailable(pace: &Pace, wanted: usize) -> usize {
    let most = wanted.saturating_sub(1).max(1);
    pace.max_unavailable.map_or(1, |amount| amount.of(wanted)).min(most)
}

/// Counts the slots that are unavailable.
pub(super) fn unavailable<'s>(slots: impl IntoIterator<Item = &'s PodSlot<'s>>, pace: &Pace) -> usize {
    slots.into_iter().filter(|slot| slot.is_unavailable(pace)).count()
}
