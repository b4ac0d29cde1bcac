//! Stepping a workload by lowering its partition: of ordinals, for a StatefulSet, or of a number of pods.
//!
//! A partition of OpenKruise that is a number of pods belongs to a CloneSet, an Advanced DaemonSet, or an Advanced
//! StatefulSet that updates its pods in another order. The controller chooses the pods. A slot is a number: slot 3 of 10 is
//! the third pod to be updated, which a partition of 7 releases. The updated pods fill the first slots, the oldest update first.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};

use serde_json::{Value, json};

use super::action::StopReason;
use super::slot::{ExcludedBy, PodSlot, max_unavailable};
use super::state::{State, StepKind};
use crate::api::count::{as_count, as_number};
use crate::api::pod::{Node, Pod};
use crate::api::selector::Selector;
use crate::hold::plan::{PlannedBatch, Reach};
use crate::kind::fields::HoldFields;
use crate::kind::strategy::ordinals;
use crate::kind::{Workload, strategy};

/// Steps a StatefulSet from its highest ordinal down.
pub(super) struct StepStatefulSet;

impl StepKind for StepStatefulSet {
    /// Returns a slot for each ordinal, highest first.
    fn slots<'a>(&self, state: &State<'a>) -> Vec<PodSlot<'a>> {
        let workload = state.workload();
        let start = workload.object().int("/spec/ordinals/start").unwrap_or_default();
        let ordinals = ordinals(workload.object(), start, workload.wanted());
        let (partition, own) = (released_from(workload), original_partition(state));
        let mut pods: Vec<_> =
            state.observed.own_pods().filter_map(|pod| Some((pod.ordinal?, pod))).collect();
        pods.sort_by_key(|(ordinal, _)| *ordinal);
        let slot = |(index, ordinal): (i64, i64)| {
            let pod = pods.binary_search_by_key(&ordinal, |(ordinal, _)| *ordinal).ok();
            let pod = pod.and_then(|found| Some(pods.get(found)?.1));
            let is_released = index >= partition;
            let slot = state.slot(format!("{}-{ordinal}", workload.name()), pod);
            PodSlot {
                is_released,
                awaits_deletion: is_released && !slot.is_updated,
                excluded: (index < own).then_some(ExcludedBy::OwnPartition),
                ..slot
            }
        };
        let mut slots: Vec<_> = (0..).zip(ordinals).map(slot).collect();
        slots.reverse();
        slots
    }

    /// Lowers the partition.
    fn release(&self, state: &State<'_>, batch: &PlannedBatch) -> Option<HoldFields> {
        lower_partition(state, batch)
    }
}

/// Steps a workload whose partition is a number of pods.
pub(super) struct StepCountedPods;

impl StepKind for StepCountedPods {
    /// Of the flags for nodes, an Advanced DaemonSet has a field for the selector alone.
    fn flags(&self, workload: &Workload) -> &'static [&'static str] {
        if workload.kind().pods().are_per_node() { &["--node-selector"] } else { &[] }
    }

    /// Outdated pods fill the last slots in the order of the controller, so that missing pods are missing from the
    /// released slots first.
    fn slots<'a>(&self, state: &State<'a>) -> Vec<PodSlot<'a>> {
        let workload = state.workload();
        let wanted = workload.wanted();
        let (partition, original_partition) = (released_from(workload), original_partition(state));
        let selector = node_selector(state).as_ref().and_then(Selector::read);
        let (updated, outdated) = in_order_of_update(state, selector.as_ref());
        let surplus = outdated.len().checked_sub(as_count(wanted));
        let missing = as_count(wanted).saturating_sub(outdated.len());
        let slot = |place: usize| {
            let index = wanted - 1 - as_number(place);
            let own = updated.get(place).copied();
            let next = surplus.map_or_else(|| place.checked_sub(missing), |surplus| Some(place + surplus));
            let other = next.and_then(|next| outdated.get(next).copied()).filter(|_| own.is_none());
            let is_released = own.is_some() || index >= partition;
            let is_kept = index < original_partition;
            let skipped = other.and_then(|pod| skippable_node(state, pod));
            let key = (place + 1).to_string();
            let label = match (own, skipped) {
                (Some(pod), _) => pod.name.clone(),
                (None, Some(node)) => node.name.clone(),
                (None, None) => format!("pod {key}"),
            };
            PodSlot {
                label: Some(label),
                is_released,
                awaits_deletion: is_released && own.is_none(),
                excluded: excluded(state, selector.as_ref(), is_kept, other).filter(|_| own.is_none()),
                unready_node: skipped
                    .map_or_else(|| state.unready_node_of(own), |node| Some(node.name.clone())),
                ..state.slot(key, own.or(other))
            }
        };
        (0..as_count(wanted)).map(slot).collect()
    }

    /// Lowers the partition.
    fn release(&self, state: &State<'_>, batch: &PlannedBatch) -> Option<HoldFields> {
        lower_partition(state, batch)
    }

    /// The controller keeps its own `maxUnavailable`, so that its surge makes room only where that is the smaller limit.
    fn surge(&self, state: &State<'_>) -> usize {
        let budget = state.workload().update_budget();
        let is_smaller = as_count(budget.unavailable) <= max_unavailable(state.pace(), state.slots.len());
        if is_smaller { as_count(budget.surge) } else { 0 }
    }

    fn counts_pods(&self) -> bool {
        true
    }

    /// The selector of the strategy leaves the nodes out. Outdated pods of other kinds have no known order.
    fn skips_unready_nodes(&self) -> bool {
        true
    }
}

/// Returns the updated pods, the oldest update first, and the outdated ones in the order in which the controller updates
/// them. Where the user's priorities decide, the available ones come first, because any of them may be next.
fn in_order_of_update<'a>(state: &State<'a>, selector: Option<&Selector>) -> (Vec<&'a Pod>, Vec<&'a Pod>) {
    let workload = state.workload();
    let (mut updated, mut outdated) = (state.updated.clone(), state.outdated.clone());
    updated.sort_by(|one, other| (one.updated_at(), &one.name).cmp(&(other.updated_at(), &other.name)));
    if has_priorities(workload) {
        outdated.sort_by_key(|pod| Reverse(state.is_available(pod)));
    } else {
        workload.kind().pods().sort_by_update(&mut outdated);
        let is_skipped = |pod: &Pod| skippable_node(state, pod).is_some();
        outdated.sort_by_cached_key(|pod| (!selects(state, selector, pod), is_skipped(pod)));
    }
    (updated, outdated)
}

fn has_priorities(workload: &Workload) -> bool {
    let fields = ["priorityStrategy", "scatterStrategy", "unorderedUpdate"];
    strategy::update_strategy(workload).is_some_and(|own| {
        let limits = own.get("rollingUpdate").unwrap_or(own);
        fields.iter().any(|name| limits.get(name).is_some_and(|value| !value.is_null()))
    })
}

/// Returns why the plan never releases a slot with an outdated pod.
fn excluded(
    state: &State<'_>,
    selector: Option<&Selector>,
    is_kept: bool,
    pod: Option<&Pod>,
) -> Option<ExcludedBy> {
    let is_selected = pod.is_none_or(|pod| selects(state, selector, pod));
    match state.pace().node_selector {
        Some(_) if !is_selected => Some(ExcludedBy::Selector),
        None if !is_selected => Some(ExcludedBy::OwnPartition),
        _ => is_kept.then_some(ExcludedBy::OwnPartition),
    }
}

/// Whether the controller may update a pod, by the labels of its node.
fn selects(state: &State<'_>, selector: Option<&Selector>, pod: &Pod) -> bool {
    let node = state.node_of(pod);
    let label = |key: &str| node.and_then(|node| node.labels.get(key)).map(String::as_str);
    selector.is_none_or(|selector| selector.matches_labels(label))
}

/// Returns the label selector of the nodes on which the controller may update pods, that of the plan or the original one;
/// none for all nodes.
fn node_selector(state: &State<'_>) -> Option<Value> {
    if !state.workload().kind().pods().are_per_node() {
        return None;
    }
    if let Some(text) = &state.pace().node_selector {
        return Selector::parse(text).ok()?.to_label_selector();
    }
    let original = state.hold.original_strategy(state.workload())?.pointer("/rollingUpdate/selector")?;
    (!original.is_null()).then(|| original.clone())
}

/// Lowers the partition over the next slots of the batch. Each available outdated pod uses one of the pods that may
/// become unavailable. While too many pods are unavailable, no slot is released: an unavailable pod may become
/// available, and the controller would then delete it in addition to the others.
fn lower_partition(state: &State<'_>, batch: &PlannedBatch) -> Option<HoldFields> {
    let batch: HashSet<&String> = batch.slots.iter().collect();
    let slots = &state.slots;
    let last = slots.iter().rposition(|slot| batch.contains(&slot.key))?;
    let (mut free, mut kept) = (state.budget_left(), None);
    for (index, slot) in slots.get(..=last)?.iter().enumerate().filter(|(_, slot)| !slot.is_released) {
        free -= i64::from(slot.is_available && !slot.is_updated && slot.counts(state.pace()));
        if free < 0 {
            break;
        }
        kept = Some(slots.len() - index - 1);
    }
    Some(strategy_with(state, kept?))
}

/// The label of a node with its name for the selector of a strategy.
const HOSTNAME: &str = "kubernetes.io/hostname";

/// Returns the live strategy with another partition. Where pods are identified by their nodes, it has the node selector of
/// the plan or the original one, without the nodes that are skipped.
fn strategy_with(state: &State<'_>, kept: usize) -> HoldFields {
    let workload = state.workload();
    let strategy = strategy::with_partition(workload, as_number(kept));
    if !workload.kind().pods().are_per_node() {
        return strategy::as_fields(workload, strategy);
    }
    let skipped: BTreeSet<&str> = state
        .observed
        .own_pods()
        .filter(|pod| !state.is_updated(pod))
        .filter_map(|pod| skippable_node(state, pod)?.labels.get(HOSTNAME).map(String::as_str))
        .collect();
    let selector = node_selector(state);
    let selector = if skipped.is_empty() { selector } else { Some(without_nodes(selector, &skipped)) };
    let mut strategy = strategy::without_node_selector(strategy);
    if let Some(selector) = selector {
        strategy["rollingUpdate"]["selector"] = selector;
    }
    strategy::as_fields(workload, strategy)
}

/// Returns a label selector that matches the same nodes, without those of these hostnames.
fn without_nodes(selector: Option<Value>, hostnames: &BTreeSet<&str>) -> Value {
    let mut selector = selector.filter(Value::is_object).unwrap_or_else(|| json!({}));
    let others = json!({"key": HOSTNAME, "operator": "NotIn", "values": hostnames});
    match selector["matchExpressions"].as_array_mut() {
        Some(expressions) => expressions.push(others),
        None => selector["matchExpressions"] = json!([others]),
    }
    selector
}

/// Returns the node of a pod if it is not ready and the selector of the strategy can leave it out.
fn skippable_node<'a>(state: &State<'a>, pod: &Pod) -> Option<&'a Node> {
    let is_by_node = state.workload().kind().pods().are_per_node();
    state.node_of(pod).filter(|node| is_by_node && !node.ready && node.labels.contains_key(HOSTNAME))
}

/// Returns the partition from which on the controller may update now: the lowest index, or the number of pods that it
/// keeps.
fn released_from(workload: &Workload) -> i64 {
    if strategy::is_on_delete(workload) { strategy::ABOVE_EVERY_POD } else { strategy::partition(workload) }
}

/// Returns the partition below which the plan releases no pod.
pub(super) fn original_partition(state: &State<'_>) -> i64 {
    if state.plan.below_partition { 0 } else { state.hold.original_partition(state.workload()) }
}

/// Whether the controller considers the update complete, so that the original strategy can be restored. If the original
/// partition keeps no pod, the controller must report the new revision as the current one, if it reports that. Until then it
/// would create pods below a partition from the old revision.
pub(super) fn is_complete(state: &State<'_>) -> bool {
    let is_current = || state.workload().is_update_reported_stable();
    state.observed.is_observed() && (original_partition(state) > 0 || is_current())
}

/// Returns the reason to stop where the original partition keeps more pods outdated than the goal of the command allows:
/// every pod, or one that `--to` asks for.
pub(super) fn own_partition_reached(state: &State<'_>) -> Option<StopReason> {
    let slots = &state.slots;
    let is_kept = |slot: &PodSlot<'_>| slot.excluded == Some(ExcludedBy::OwnPartition);
    let outdated = slots.iter().filter(|slot| is_kept(slot) && !slot.is_updated).count();
    let is_short = matches!(state.plan.reach, Some(Reach::To(_))) && !state.is_reached();
    let partition = state.hold.original_partition(state.workload());
    (outdated > 0 && (is_short || slots.iter().all(is_kept)))
        .then_some(StopReason::OwnPartition { partition, outdated })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::object::Object;
    use crate::hold::plan::HOLD_ANNOTATION;
    use crate::kind::Workload;
    use crate::observation::Observation;
    use crate::revision::Revisions;
    use crate::step::slot::tests::{NOW, held_by_plan};
    use crate::step::state_of;

    /// Any client that may write annotations can store such a selector.
    #[test]
    fn a_selector_that_is_no_object_selects_every_node() {
        let nodes = BTreeSet::from(["n1"]);
        assert_eq!(without_nodes(Some(json!("pool=a")), &nodes), without_nodes(None, &nodes));
    }

    /// A node without the label cannot be left out.
    #[test]
    fn the_selector_leaves_out_the_unready_nodes_of_outdated_pods() {
        let pool = json!({"key": "pool", "operator": "Exists"});
        let strategy = json!({"type": "RollingUpdate", "rollingUpdate": {
            "partition": 3, "selector": {"matchExpressions": [pool]}}});
        let hold = json!({"version": 1, "set": {}, "strategy": strategy, "plan": {}}).to_string();
        let set = json!({"apiVersion": "apps.kruise.io/v1alpha1", "kind": "DaemonSet",
            "metadata": {"name": "web", "uid": "u", "annotations": {HOLD_ANNOTATION: hold}},
            "spec": {"template": {}, "updateStrategy": strategy}});
        let workload = Workload::of_json(&set).unwrap();
        let owned = |kind: &str, name: &str, revision: &str| {
            json!({"kind": kind, "data": {"spec": {"template": {}}}, "spec": {"nodeName": name},
                "metadata": {"name": name, "labels": {"controller-revision-hash": revision},
                    "ownerReferences": [{"controller": true, "uid": "u"}]}})
        };
        let revisions = Revisions::of(&workload, Object::read(owned("ControllerRevision", "web-2", "2")));
        let pods = [("old", "1"), ("updated", "2"), ("without-label", "1")];
        let nodes = pods.map(|(name, _)| {
            let labels = if name == "without-label" { json!({}) } else { json!({HOSTNAME: name}) };
            let node = json!({"kind": "Node", "metadata": {"name": name, "labels": labels},
                "status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}});
            Node::read(&Object::read(node).unwrap())
        });
        let pods = pods
            .map(|(name, revision)| Pod::read(&Object::read(owned("Pod", name, revision)).unwrap()).into());
        let (hold, pods) = (held_by_plan(&workload), Some(pods.to_vec()));
        let observed = Observation { workload, revisions, pods, events: None };
        let state = state_of(&observed, Some(&nodes), &hold, NOW).unwrap();
        let is_skippable = |pod: &Pod| skippable_node(&state, pod).is_some();
        assert_eq!(observed.own_pods().map(is_skippable).collect::<Vec<_>>(), [true, true, false]);
        let strategy = strategy_with(&state, 0).to_json().unwrap();
        let old = json!({"key": HOSTNAME, "operator": "NotIn", "values": ["old"]});
        assert_eq!(strategy["rollingUpdate"]["selector"], json!({"matchExpressions": [pool, old]}));
    }
}
