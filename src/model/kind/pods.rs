//! What tells the pods of a kind apart, and what follows from it.

use std::cmp::Reverse;

use super::verdict::Counts;
use super::{Pods, Workload, strategy};
use crate::model::api::pod::Pod;

impl Pods {
    /// Returns what the user knows a pod by.
    #[must_use]
    pub fn label(self, pod: &Pod) -> &str {
        if self == Self::PerNode && !pod.node.is_empty() { &pod.node } else { &pod.name }
    }

    /// Returns the words for pods with these labels; none where only the number of pods matters.
    #[must_use]
    pub fn describe(self, labels: String) -> Option<String> {
        match self {
            Self::Interchangeable => None,
            Self::PerNode => Some(format!("those on {labels}")),
            Self::ByOrdinal => Some(labels),
        }
    }

    /// Whether nothing tells the pods apart, so that nobody knows which ones a scale-down removes.
    #[must_use]
    pub fn are_interchangeable(self) -> bool {
        self == Self::Interchangeable
    }

    /// Whether each node has one of the pods.
    #[must_use]
    pub fn are_per_node(self) -> bool {
        self == Self::PerNode
    }

    /// Returns the order in which the controller updates the pods, for the user; none where it has no order that the user
    /// relies on.
    #[must_use]
    pub fn order(self) -> Option<&'static str> {
        self.are_ordered().then_some("the highest ordinal first")
    }

    /// Whether the controller updates the pods in order, so that a broken pod can block those after it.
    #[must_use]
    pub fn are_ordered(self) -> bool {
        self == Self::ByOrdinal
    }

    /// Whether the controller waits for each pod before it updates the next one.
    #[must_use]
    pub fn wait_for_each_other(self, workload: &Workload) -> bool {
        self.are_ordered() && workload.object().text("/spec/podManagementPolicy") != Some("Parallel")
    }

    /// Sorts outdated pods as the controller updates them: interchangeable ones that are not ready come first, and the last
    /// node by name.
    pub fn sort_by_update(self, outdated: &mut [&Pod]) {
        match self {
            Self::Interchangeable => outdated.sort_by_key(|pod| pod.ready),
            Self::PerNode => outdated.sort_by_key(|pod| Reverse(pod.node.as_str())),
            Self::ByOrdinal => outdated.sort_by_key(|pod| Reverse(pod.ordinal)),
        }
    }

    /// Whether the controller creates the replacement of a pod only after the pod is gone.
    #[must_use]
    pub fn wait_for_terminating_pods(self, workload: &Workload) -> bool {
        match self {
            Self::Interchangeable => strategy::is_recreate(workload),
            Self::PerNode => workload.update_budget().surge == 0,
            Self::ByOrdinal => true,
        }
    }

    /// Whether the controller counts as many updated pods as wanted, and no other pod. A scale-down removes pods with an
    /// ordinal one after another.
    #[must_use]
    pub fn are_all_updated(self, counts: Counts) -> bool {
        counts.outdated() == 0
            && counts.updated >= counts.wanted
            && (!self.are_ordered() || counts.total <= counts.wanted)
    }

    /// Returns which pods run the new revision although `OnDelete` holds the others.
    #[must_use]
    pub fn updated_under_on_delete(self) -> &'static str {
        if self.are_per_node() { "recreated pods and pods on new nodes" } else { "recreated pods" }
    }
}
