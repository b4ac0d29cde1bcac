//! Stepping a DaemonSet: holds it with `OnDelete` and deletes its pods node by node.
//!
//! Nodes come in the order of their names, or in groups by the values of a label, one group after the other.
//! Nodes without the label come last.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::action::Release;
use super::request::Request;
use super::slot::{ExcludedBy, PlanContext, PodSlot};
use super::step_kind::StepKind;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::node::Node;
use crate::model::api::pod::Pod;
use crate::model::api::selector::Selector;
use crate::model::change::plan::{BatchRecord, Hold, HoldReason};
use crate::model::follow::PodRef;
use crate::model::workload::Workload;
use crate::model::workload::strategy;

pub(super) struct DaemonSets;

/// The name of a slot without a pod whose node is not known.
pub(super) const UNKNOWN_NODE: &str = "(a node without its pod)";

impl StepKind for DaemonSets {
    /// Refuses a surge, because `OnDelete` disables it. `--force` accepts that.
    fn check_request(&self, workload: &Workload, request: &Request) -> Result<()> {
        request.pace.refuse_surge()?;
        Selector::parse(request.pace.node_selector.as_deref().unwrap_or_default())?;
        let hold = Hold::of(workload)?.filter(|hold| hold.is_in_force(workload));
        let is_accepted = hold.as_ref().is_some_and(|hold| hold.reason() == HoldReason::Plan);
        let own = hold.as_ref().map_or_else(|| strategy::update_strategy(workload), Hold::original);
        if own.is_none_or(|own| !surges(own)) || is_accepted || request.force {
            return Ok(());
        }
        let sentence = format!(
            "{} has a maxSurge, so that no node is ever without its pod; stepping deletes each pod before its \
             replacement starts",
            workload.target()
        );
        Err(Error::new(ErrorKind::Refused, sentence)
            .hint("let its controller roll it out, or accept one unavailable node at a time with --force"))
    }

    /// Refuses flags that need node labels when listing nodes is forbidden, and a selector that matches no node.
    fn check_observation(&self, context: &PlanContext<'_>) -> Result<()> {
        let pace = context.pace();
        let flags = [("--order", &pace.order), ("--node-selector", &pace.node_selector)];
        let flag =
            flags.into_iter().find(|(_, label)| label.as_deref().is_some_and(|label| !label.is_empty()));
        match (flag, context.nodes) {
            (Some((flag, _)), None) => Err(Error::new(
                ErrorKind::Refused,
                format!(
                    "{flag} needs the labels of nodes, and listing nodes is forbidden; nothing was written"
                ),
            )
            .hint("request permission to list nodes with a ClusterRoleBinding, or leave the flag out")),
            (Some(_), Some(nodes)) => {
                let fleet = Fleet::of(context);
                if nodes.iter().any(|node| fleet.selects(&node.name)) {
                    return Ok(());
                }
                let selector = pace.node_selector.as_deref().unwrap_or_default();
                Err(Error::new(
                    ErrorKind::Refused,
                    format!("--node-selector {selector} matches none of the {} nodes", nodes.len()),
                )
                .hint("kubectl get nodes --show-labels"))
            }
            _ => Ok(()),
        }
    }

    /// Returns a slot for each node with a pod, and for each node of the batch whose pod is missing. If the controller
    /// counts more missing pods, further slots have no known node: only the controller knows which nodes need a pod.
    fn slots<'a>(&self, context: &PlanContext<'a>) -> Vec<PodSlot<'a>> {
        let (fleet, last_batch) = (Fleet::of(context), context.last_batch());
        let mut by_node: BTreeMap<&str, Vec<&Pod>> = BTreeMap::new();
        for pod in context.observed.own_pods() {
            by_node.entry(node_of(pod)).or_default().push(pod);
        }
        let (mut missing, is_whole) = missing(context, by_node.len());
        for node in last_batch.iter().filter(|node| fleet.has(node)) {
            if (missing > 0 || !is_whole) && !by_node.contains_key(node) {
                by_node.insert(node, Vec::new());
                missing = missing.saturating_sub(1);
            }
        }
        let slot = |node: &str, pods: &[&'a Pod]| slot(context, &fleet, &last_batch, node, pods);
        let mut slots: Vec<_> = by_node.iter().map(|(node, pods)| slot(node, pods)).collect();
        // A stable sort: within a group they stay in the order of their names.
        slots.sort_by(|one, other| {
            (one.group.is_none(), &one.group).cmp(&(other.group.is_none(), &other.group))
        });
        slots.extend((0..missing).map(|_| slot(UNKNOWN_NODE, &[])));
        slots
    }

    /// Deletes the outdated pods of the next nodes of the batch. Each available pod uses one of `free`; an unavailable
    /// pod uses none.
    fn release(
        &self,
        context: &PlanContext<'_>,
        slots: &[PodSlot<'_>],
        batch: &BatchRecord,
        free: Option<usize>,
    ) -> Option<Release> {
        let batch: BTreeSet<&String> = batch.slots.iter().collect();
        let mut free = free.unwrap_or_default();
        let mut wave = Vec::new();
        let ready = |slot: &&PodSlot<'_>| !slot.is_released && slot.unready_node.is_none();
        for slot in slots.iter().filter(|slot| batch.contains(&slot.name)).filter(ready) {
            let cost = usize::from(slot.is_available && slot.counts(context.pace()));
            if let (Some(pod), Some(rest)) = (slot.pod, free.checked_sub(cost)) {
                free = rest;
                wave.push((slot.name.clone(), PodRef::of(pod)));
            }
        }
        (!wave.is_empty()).then_some(Release::Wave(wave))
    }

    fn skips_unready_nodes(&self) -> bool {
        true
    }
}

fn surges(strategy: &Value) -> bool {
    let surge = strategy.pointer("/rollingUpdate/maxSurge");
    let is_none = |surge: &Value| surge.as_i64() == Some(0) || matches!(surge.as_str(), Some("0" | "0%"));
    !strategy::is_on_delete_strategy(strategy)
        && surge.is_some_and(|surge| !surge.is_null() && !is_none(surge))
}

/// Returns the number of nodes without their pod, and whether the controller counts none. Pods also run on nodes that
/// were tainted later, where the controller wants none.
fn missing(context: &PlanContext<'_>, nodes_with_pods: usize) -> (usize, bool) {
    let status = |name: &str| {
        let count = context.workload().object().int(&format!("/status/{name}"));
        usize::try_from(count.unwrap_or_default()).unwrap_or_default()
    };
    let wanted = status("desiredNumberScheduled");
    let missing = (wanted + status("numberMisscheduled")).saturating_sub(nodes_with_pods);
    (missing, status("currentNumberScheduled") >= wanted)
}

/// Returns the slot of a node. Of several pods, one that is not terminating wins, then an updated one.
fn slot<'a>(
    context: &PlanContext<'a>,
    fleet: &Fleet<'a>,
    last_batch: &BTreeSet<&str>,
    node: &str,
    pods: &[&'a Pod],
) -> PodSlot<'a> {
    let pod = pods.iter().copied().max_by_key(|pod| (pod.is_active(), context.is_updated(pod)));
    let is_updated = pod.is_some_and(|pod| context.is_updated(pod));
    let stays = pod.is_some_and(Pod::is_active);
    let is_rolling = !strategy::is_on_delete(context.workload());
    let is_in_last_batch = last_batch.contains(node);
    PodSlot {
        name: node.to_owned(),
        label: None,
        pod,
        is_updated,
        is_in_last_batch,
        soaks: is_in_last_batch, // in a large cluster, some node or pod changes during every soak
        is_available: pod.is_some_and(|pod| context.is_available(pod)),
        is_released: is_updated || !stays || is_rolling,
        awaits_deletion: stays && !is_updated && is_rolling,
        excluded: (!fleet.selects(node)).then_some(ExcludedBy::Selector),
        unready_node: fleet.is_unready(node).then(|| node.to_owned()),
        group: context.pace().order.as_ref().and_then(|key| fleet.label(node, key)).map(str::to_owned),
    }
}

/// Returns the node that a pod is bound to, or will be bound to.
fn node_of(pod: &Pod) -> &str {
    if pod.node.is_empty() { &pod.required_node } else { &pod.node }
}

/// The nodes, if they can be listed, and the selector of the nodes to step.
struct Fleet<'a> {
    nodes: Option<BTreeMap<&'a str, &'a Node>>,
    selector: Option<Selector>,
}

impl<'a> Fleet<'a> {
    fn of(context: &PlanContext<'a>) -> Self {
        let by_name = |nodes: &'a [Node]| nodes.iter().map(|node| (node.name.as_str(), node)).collect();
        let selector = context.pace().node_selector.as_deref().unwrap_or_default();
        Self { nodes: context.nodes.map(by_name), selector: Selector::parse(selector).ok() }
    }

    fn node(&self, name: &str) -> Option<&'a Node> {
        self.nodes.as_ref()?.get(name).copied()
    }

    fn label(&self, node: &str, key: &str) -> Option<&'a str> {
        self.node(node)?.labels.get(key).map(String::as_str)
    }

    /// Whether a node exists. True when nodes cannot be listed.
    fn has(&self, node: &str) -> bool {
        self.nodes.as_ref().is_none_or(|nodes| nodes.contains_key(node))
    }

    fn is_unready(&self, node: &str) -> bool {
        self.node(node).is_some_and(|node| !node.ready)
    }

    /// Whether a node is to be stepped. An invalid selector selects no node.
    fn selects(&self, node: &str) -> bool {
        self.selector.as_ref().is_some_and(|selector| selector.matches_labels(|key| self.label(node, key)))
    }
}

#[cfg(test)]
mod tests;
