//! What tells the pods of a kind apart, and what follows from it.

use std::cmp::Reverse;

use super::verdict::Counts;
use super::{Pods, Workload, strategy};
use crate::model::api::pod::Pod;

/// Pods that nothing tells apart: pods with other names replace them.
#[derive(Debug)]
pub struct Interchangeable;

impl Pods for Interchangeable {
    fn describe(&self, _labels: String) -> Option<String> {
        None
    }

    fn are_interchangeable(&self) -> bool {
        true
    }

    /// Those that are not ready come first.
    fn sort_by_update(&self, outdated: &mut [&Pod]) {
        outdated.sort_by_key(|pod| pod.ready);
    }

    fn wait_for_terminating_pods(&self, workload: &Workload) -> bool {
        strategy::is_recreate(workload)
    }
}

/// One pod on each node.
#[derive(Debug)]
pub struct PerNode;

impl Pods for PerNode {
    fn label<'p>(&self, pod: &'p Pod) -> &'p str {
        if pod.node.is_empty() { &pod.name } else { &pod.node }
    }

    fn describe(&self, labels: String) -> Option<String> {
        Some(format!("those on {labels}"))
    }

    fn are_per_node(&self) -> bool {
        true
    }

    /// The last node by name comes first.
    fn sort_by_update(&self, outdated: &mut [&Pod]) {
        outdated.sort_by_key(|pod| Reverse(pod.node.as_str()));
    }

    fn wait_for_terminating_pods(&self, workload: &Workload) -> bool {
        workload.update_budget().surge == 0
    }

    fn updated_under_on_delete(&self) -> &'static str {
        "recreated pods and pods on new nodes"
    }
}

/// Pods with an ordinal at the end of the name, which the replacement has too.
#[derive(Debug)]
pub struct ByOrdinal;

impl Pods for ByOrdinal {
    fn describe(&self, labels: String) -> Option<String> {
        Some(labels)
    }

    fn order(&self) -> Option<&'static str> {
        Some("the highest ordinal first")
    }

    fn sort_by_update(&self, outdated: &mut [&Pod]) {
        outdated.sort_by_key(|pod| Reverse(pod.ordinal));
    }

    fn wait_for_terminating_pods(&self, _: &Workload) -> bool {
        true
    }

    /// A scale-down removes the pods one after another.
    fn are_all_updated(&self, counts: Counts) -> bool {
        counts.outdated() == 0 && counts.updated >= counts.wanted && counts.total <= counts.wanted
    }
}
