//! Stepping a DaemonSet: `OnDelete` holds it, and its pods are removed node by node.
//!
//! Nodes come in the order of their names, or in groups by the value of a label, one group after the
//! other; nodes without the label come last.

use std::collections::BTreeMap;

use serde_json::Value;

use super::kind::Release;
use super::plan::Begun;
use super::request::Request;
use super::spot::{Kept, Sight, Spot};
use crate::error::{Error, ErrorKind, Result};
use crate::model::follow::PodPlace;
use crate::model::hold::{Hold, Reason};
use crate::model::node::Node;
use crate::model::pod::Pod;
use crate::model::selector::Selector;
use crate::model::strategy;
use crate::model::workload::Workload;

/// Refuses a surge, which `OnDelete` would take away, unless somebody accepted that; and a selector
/// that cannot be read.
pub(super) fn check(workload: &Workload, request: &Request) -> Result<()> {
    Selector::parse(request.given.node_selector.as_deref().unwrap_or_default())?;
    let hold = Hold::of(workload)?.filter(|hold| hold.is_in_force(workload));
    let is_accepted = hold.as_ref().is_some_and(|hold| hold.reason() == Some(Reason::Plan));
    let own = hold.as_ref().map_or_else(|| strategy::strategy(workload), Hold::original);
    if own.is_none_or(|own| !surges(own)) || is_accepted || request.force {
        return Ok(());
    }
    let target = workload.target();
    Err(Error::usage(format!(
        "{target} has a maxSurge, so that no node is ever without its pod; stepping takes each pod down \
         before there is another"
    ))
    .hint("leave it to its own pace, or accept one unavailable node at a time with --force"))
}

fn surges(strategy: &Value) -> bool {
    let surge = strategy.pointer("/rollingUpdate/maxSurge");
    let is_none = |surge: &Value| surge.as_i64() == Some(0) || matches!(surge.as_str(), Some("0" | "0%"));
    !strategy::says_on_delete(strategy) && surge.is_some_and(|surge| !surge.is_null() && !is_none(surge))
}

/// Refuses what goes by the labels of nodes where nodes may not be read, and a selector that takes none.
pub(super) fn check_nodes(sight: &Sight<'_>) -> Result<()> {
    let asked = [("--order", &sight.pacing.order), ("--node-selector", &sight.pacing.node_selector)];
    let asked = asked.into_iter().find(|(_, label)| label.as_deref().is_some_and(|label| !label.is_empty()));
    match (asked, sight.nodes) {
        (Some((flag, _)), None) => Err(Error::new(
            ErrorKind::Refused,
            format!("{flag} goes by the labels of nodes, and nodes may not be read; nothing was written"),
        )
        .hint("ask for the right to list nodes, which needs a ClusterRoleBinding, or leave the flag out")),
        (Some(_), Some(nodes)) => check_selector(sight, nodes),
        _ => Ok(()),
    }
}

fn check_selector(sight: &Sight<'_>, nodes: &[Node]) -> Result<()> {
    let labels = Labels::of(sight);
    if nodes.iter().any(|node| labels.selects(&node.name)) {
        return Ok(());
    }
    let selector = sight.pacing.node_selector.as_deref().unwrap_or_default();
    Err(Error::usage(format!("--node-selector {selector} takes none of the {} nodes", nodes.len()))
        .hint("kubectl get nodes --show-labels"))
}

/// The nodes, in the order of release. Nodes without their pod that no batch tells of have no name:
/// which of them the DaemonSet wants is for its controller to know.
pub(super) fn spots<'a>(sight: &Sight<'a>) -> Vec<Spot<'a>> {
    let labels = Labels::of(sight);
    let mut by_node: BTreeMap<&str, Vec<&Pod>> = BTreeMap::new();
    for pod in sight.observed.own_pods() {
        by_node.entry(node_of(pod)).or_default().push(pod);
    }
    let (mut missing, is_whole) = missing(sight, by_node.len());
    let begun = sight.begun.into_iter().flat_map(|begun| &begun.places);
    for place in begun.filter(|place| labels.has(place)) {
        if (missing > 0 || !is_whole) && !by_node.contains_key(place.as_str()) {
            by_node.insert(place, Vec::new());
            missing = missing.saturating_sub(1);
        }
    }
    let mut spots: Vec<_> =
        by_node.iter().map(|(node, pods)| spot(sight, &labels, node, the_pod(sight, pods))).collect();
    // They are in the order of their names already.
    spots.sort_by(|one, other| (one.group.is_none(), &one.group).cmp(&(other.group.is_none(), &other.group)));
    spots.extend((0..missing).map(|_| spot(sight, &labels, NAMELESS, None)));
    spots
}

/// How many nodes are without the pod that they are to have, by the pods on so many nodes; and whether
/// the controller itself says that there is none. Pods also run on where none is wanted any more: on
/// a node that was tainted later.
fn missing(sight: &Sight<'_>, nodes_with_pods: usize) -> (usize, bool) {
    let status = |name: &str| {
        let count = sight.observed.workload.object().int(&format!("/status/{name}")).unwrap_or_default();
        usize::try_from(count).unwrap_or_default()
    };
    let wanted = status("desiredNumberScheduled");
    let missing = (wanted + status("numberMisscheduled")).saturating_sub(nodes_with_pods);
    (missing, status("currentNumberScheduled") >= wanted)
}

/// How a node is called that has no pod yet.
pub(super) const NAMELESS: &str = "(a node without its pod)";

fn spot<'a>(sight: &Sight<'a>, labels: &Labels<'a>, node: &str, pod: Option<&'a Pod>) -> Spot<'a> {
    let is_new = pod.is_some_and(|pod| sight.is_new(pod));
    let stays = pod.is_some_and(Pod::is_active);
    let replaces_by_itself = !strategy::is_on_delete(&sight.observed.workload);
    let is_of_last_batch = sight.is_of_last_batch(node);
    Spot {
        name: node.to_owned(),
        pod,
        is_new,
        is_of_last_batch,
        // In a large fleet nodes come, and pods die, more often than a soak is long.
        soaks: is_of_last_batch,
        is_available: pod.is_some_and(|pod| sight.is_available(pod)),
        is_released: is_new || !stays || replaces_by_itself,
        goes_down: stays && !is_new && replaces_by_itself,
        kept: (!labels.selects(node)).then_some(Kept::Selector),
        unready_node: labels.is_unready(node).then(|| node.to_owned()),
        group: sight.pacing.order.as_ref().and_then(|key| labels.get(node, key)).map(str::to_owned),
    }
}

/// Removes the pod of the next node of a batch, if it still is an old one: one that is available costs
/// one of those that may go down, and one that is not costs nothing more.
pub(super) fn release(
    sight: &Sight<'_>,
    spots: &[Spot<'_>],
    batch: &Begun,
    free: Option<usize>,
) -> Option<Release> {
    let is_meant = |spot: &&Spot<'_>| {
        batch.places.contains(&spot.name) && !spot.is_released && spot.unready_node.is_none()
    };
    let costs_nothing = |spot: &Spot<'_>| !spot.is_available || !spot.counts(sight.pacing);
    let next = spots
        .iter()
        .filter(is_meant)
        .find(|spot| free.is_some_and(|free| free > 0) || costs_nothing(spot))?;
    let pod = next.pod?;
    let pod = PodPlace { name: pod.name.clone(), uid: pod.uid.clone() };
    Some(Release::Remove { place: next.name.clone(), pod })
}

/// The node that a pod is on, or is to be on.
fn node_of(pod: &Pod) -> &str {
    if pod.node.is_empty() { &pod.meant_for } else { &pod.node }
}

/// The pod that counts for a node: one that stays before one that goes, and a new one before an old one.
fn the_pod<'a>(sight: &Sight<'a>, pods: &[&'a Pod]) -> Option<&'a Pod> {
    pods.iter().copied().max_by_key(|pod| (pod.is_active(), sight.is_new(pod)))
}

/// What is known of the nodes.
struct Labels<'a> {
    nodes: Option<BTreeMap<&'a str, &'a Node>>,
    selector: Option<Selector>,
}

impl<'a> Labels<'a> {
    fn of(sight: &Sight<'a>) -> Self {
        let by_name = |nodes: &'a [Node]| nodes.iter().map(|node| (node.name.as_str(), node)).collect();
        let selector = sight.pacing.node_selector.as_deref().unwrap_or_default();
        Self { nodes: sight.nodes.map(by_name), selector: Selector::parse(selector).ok() }
    }

    fn node(&self, name: &str) -> Option<&'a Node> {
        self.nodes.as_ref()?.get(name).copied()
    }

    fn get(&self, node: &str, key: &str) -> Option<&'a str> {
        self.node(node)?.labels.get(key).map(String::as_str)
    }

    /// Whether a node is there, as far as anybody may know.
    fn has(&self, node: &str) -> bool {
        self.nodes.as_ref().is_none_or(|nodes| nodes.contains_key(node))
    }

    fn is_unready(&self, node: &str) -> bool {
        self.node(node).is_some_and(|node| !node.ready)
    }

    /// Whether a node is to be stepped. A selector that cannot be read selects none.
    fn selects(&self, node: &str) -> bool {
        self.selector.as_ref().is_some_and(|selector| selector.takes(|key| self.get(node, key)))
    }
}

#[cfg(test)]
mod tests;
