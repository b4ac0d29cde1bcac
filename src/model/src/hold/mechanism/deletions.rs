//! Stepping a DaemonSet: holds it with `OnDelete` and deletes its pods node by node.
//!
//! Nodes come in the order of their names, or in groups by the values of a label, one group after the other.
//! Nodes without the label come last.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::partition::has_type_of;
use super::{Mechanism, State};
use crate::api::count::as_count;
use crate::api::patch::FieldPath;
use crate::api::pod::Pod;
use crate::api::selector::Selector;
use crate::engine::PodRef;
use crate::error::{Error, ErrorKind, Result};
use crate::hold::plan::Hold;
use crate::hold::slot::{Skip, Slot, SlotState};
use crate::kind::fields::{HoldFields, UPDATE_STRATEGY};
use crate::kind::{Workload, strategy};
use crate::observation::Observation;

/// Holds pods by `OnDelete`, and deletes them one after the other.
pub(crate) struct Deletions;

/// The name of a slot without a pod whose node is not known.
pub(crate) const UNKNOWN_NODE: &str = "(a node without its pod)";

impl Mechanism for Deletions {
    fn fields_to_hold(&self, _: &Observation, workload: &Workload) -> HoldFields {
        strategy::as_fields(workload, json!({"type": "OnDelete"}))
    }

    fn is_in_force(&self, workload: &Workload, held: &HoldFields) -> bool {
        has_type_of(workload, held)
    }

    fn step_field(&self, _: &Workload) -> (FieldPath, Option<&'static str>) {
        (FieldPath::of(["spec", UPDATE_STRATEGY, "type"]), Some("OnDelete"))
    }

    fn flags(&self) -> &'static [&'static str] {
        &["--order", "--node-selector", "--evict"]
    }

    /// Refuses a surge, because `OnDelete` disables it. `--force` accepts that.
    fn check_workload(&self, workload: &Workload, force: bool) -> Result<()> {
        let hold = workload.held().in_force();
        let is_accepted = hold.is_some_and(Hold::has_plan);
        let live = || strategy::update_strategy(workload);
        let own = hold.map_or_else(live, |hold| hold.original_strategy(workload));
        if own.is_none_or(|own| !surges(own)) || is_accepted || force {
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

    /// Returns a slot for each node with a pod, and for each node of the batch whose pod is missing. If the controller
    /// counts more missing pods, further slots have no known node: only the controller knows which nodes need a pod.
    fn slots<'a>(&self, state: &State<'a>) -> Vec<Slot<'a>> {
        let selector = plan_selector(state);
        let mut by_node: BTreeMap<&str, Vec<&Pod>> = BTreeMap::new();
        for pod in state.observed.own_pods() {
            by_node.entry(node_of(pod)).or_default().push(pod);
        }
        let (mut missing, is_whole) = missing(state, by_node.len());
        // A pod stays for a while after its node was removed, and hides that another one is missing. Or its node is new.
        let exists = |node: &&str| state.nodes.is_none() || state.node(node).is_some();
        let is_hidden = !by_node.keys().all(&exists);
        let of_batch = state.plan.last_batch.iter().flat_map(|batch| &batch.slots).map(String::as_str);
        for node in of_batch.filter(exists) {
            if (missing > 0 || is_hidden || !is_whole) && !by_node.contains_key(node) {
                by_node.insert(node, Vec::new());
                missing = missing.saturating_sub(1);
            }
        }
        let slot = |node: &str, pods: &[&'a Pod]| slot(state, selector.as_ref(), node, pods);
        let mut slots: Vec<_> = by_node.iter().map(|(node, pods)| slot(node, pods)).collect();
        // A stable sort: within a group they stay in the order of their names.
        slots.sort_by(|one, other| {
            (one.group.is_none(), &one.group).cmp(&(other.group.is_none(), &other.group))
        });
        slots.extend((0..missing).map(|_| slot(UNKNOWN_NODE, &[])));
        slots
    }

    /// The outdated pods of the next nodes of the batch. Each available pod uses one of the pods that may become
    /// unavailable; an unavailable pod uses none.
    fn wave(&self, state: &State<'_>) -> Vec<PodRef> {
        let mut free = state.budget_left();
        let mut wave = Vec::new();
        for slot in state.left_in_batch() {
            let cost = i64::from(slot.state == SlotState::Held);
            if let Some(pod) = slot.pod.filter(|_| cost <= free.max(0)) {
                free -= cost;
                wave.push(PodRef::of(pod));
            }
        }
        wave
    }

    fn soaks_by_batch(&self) -> bool {
        true
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
fn missing(state: &State<'_>, nodes_with_pods: usize) -> (usize, bool) {
    let status = |name: &str| {
        let number = state.workload().object().int(&format!("/status/{name}"));
        number.map(as_count).unwrap_or_default()
    };
    let wanted = status("desiredNumberScheduled");
    let missing = (wanted + status("numberMisscheduled")).saturating_sub(nodes_with_pods);
    (missing, status("currentNumberScheduled") >= wanted)
}

/// Returns the slot of a node. Of several pods, one that is not terminating wins, then an updated one.
fn slot<'a>(state: &State<'a>, selector: Option<&Selector>, node: &str, pods: &[&'a Pod]) -> Slot<'a> {
    let pod = pods.iter().copied().max_by_key(|pod| (pod.is_active(), state.is_updated(pod)));
    let stays = pod.is_some_and(Pod::is_active);
    let is_rolling = !strategy::is_on_delete(state.workload());
    let slot = state.slot(node.to_owned(), pod, is_rolling && stays);
    Slot {
        state: match slot.state {
            SlotState::HeldDown if !stays && slot.batch.is_some() => SlotState::Released,
            SlotState::HeldDown if !stays => SlotState::Missing,
            state => state,
        },
        skip: (!is_selected(state, selector, node)).then_some(Skip::Selector),
        unready_node: state.node(node).filter(|node| !node.ready).map(|node| node.name.clone()),
        group: state.pace().order.as_ref().and_then(|key| label(state, node, key)).map(str::to_owned),
        ..slot
    }
}

/// Returns the node that a pod is bound to, or will be bound to.
fn node_of(pod: &Pod) -> &str {
    if pod.node.is_empty() { &pod.required_node } else { &pod.node }
}

/// Refuses flags that need node labels when listing nodes is forbidden, and a selector that matches no node.
pub(crate) fn check_node_flags(state: &State<'_>) -> Result<()> {
    let pace = state.pace();
    let flags = [("--order", &pace.order), ("--node-selector", &pace.node_selector)];
    let mut given =
        flags.into_iter().filter(|(_, label)| label.as_deref().is_some_and(|label| !label.is_empty()));
    let Some((flag, _)) = given.next() else { return Ok(()) };
    let Some(nodes) = state.nodes else {
        let sentence =
            format!("{flag} needs the labels of nodes, and listing nodes is forbidden; nothing was written");
        return Err(Error::new(ErrorKind::Refused, sentence)
            .hint("request permission to list nodes with a ClusterRoleBinding, or leave the flag out"));
    };
    if nodes.is_empty() {
        let sentence = format!("{flag} needs the labels of nodes, and the cluster has no nodes");
        return Err(Error::new(ErrorKind::Refused, sentence).hint("kubectl get nodes"));
    }
    let selector = plan_selector(state);
    if nodes.iter().any(|node| is_selected(state, selector.as_ref(), &node.name)) {
        return Ok(());
    }
    let selector = pace.node_selector.as_deref().unwrap_or_default();
    let sentence = format!("--node-selector {selector} matches none of the {} nodes", nodes.len());
    Err(Error::new(ErrorKind::Refused, sentence).hint("kubectl get nodes --show-labels"))
}

/// Returns the selector of the plan, which selects every node if it is empty; none if it is invalid.
fn plan_selector(state: &State<'_>) -> Option<Selector> {
    Selector::parse(state.pace().node_selector.as_deref().unwrap_or_default()).ok()
}

/// Whether a node is to be stepped. An invalid selector selects no node.
fn is_selected(state: &State<'_>, selector: Option<&Selector>, node: &str) -> bool {
    selector.is_some_and(|selector| selector.matches_labels(|key| label(state, node, key)))
}

/// Returns a label of a node, if nodes can be listed.
fn label<'a>(state: &State<'a>, node: &str, key: &str) -> Option<&'a str> {
    state.node(node)?.labels.get(key).map(String::as_str)
}
