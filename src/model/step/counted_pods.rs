//! Stepping a workload of OpenKruise whose partition is a number of pods: a CloneSet, an Advanced DaemonSet, and an
//! Advanced StatefulSet that updates its pods in another order.
//!
//! The controller chooses the pods. A slot is a number: slot 3 of 10 is the third pod to be updated, which a partition of
//! 7 releases. The updated pods fill the first slots, the oldest update first.

use std::cmp::Reverse;

use super::daemon_set::check_node_flags;
use super::partition::{
    lower_partition, original_partition, own_node_selector, released_from, skippable_node,
};
use super::slot::{ExcludedBy, PodSlot, max_unavailable};
use super::state::{State, StepKind};
use crate::error::Result;
use crate::model::api::pod::Pod;
use crate::model::api::selector::Selector;
use crate::model::hold::plan::PlannedBatch;
use crate::model::kind::fields::HoldFields;
use crate::model::kind::{Workload, strategy};

pub(super) struct StepCountedPods;

impl StepKind for StepCountedPods {
    /// Of the flags for nodes, an Advanced DaemonSet has a field for the selector alone.
    fn flags(&self, workload: &Workload) -> &'static [&'static str] {
        if workload.kind().pods().are_per_node() { &["--node-selector"] } else { &[] }
    }

    fn check_state(&self, state: &State<'_>) -> Result<()> {
        check_node_flags(state)
    }

    /// Outdated pods fill the last slots in the order of the controller, so that missing pods are missing from the
    /// released slots first.
    fn slots<'a>(&self, state: &State<'a>) -> Vec<PodSlot<'a>> {
        let workload = state.workload();
        let wanted = workload.wanted();
        let (partition, original_partition) = (released_from(workload), original_partition(state));
        let selector = node_selector(state);
        let (updated, outdated) = in_order_of_update(state, selector.as_ref());
        let surplus = outdated.len().checked_sub(as_count(wanted));
        let missing = as_count(wanted).saturating_sub(outdated.len());
        let slot = |place: usize| {
            let index = wanted - 1 - i64::try_from(place).unwrap_or_default();
            let own = updated.get(place).copied();
            let next = surplus.map_or_else(|| place.checked_sub(missing), |surplus| Some(place + surplus));
            let other = next.and_then(|next| outdated.get(next).copied()).filter(|_| own.is_none());
            let is_released = own.is_some() || index >= partition;
            let is_kept = index < original_partition;
            let excluded = || excluded(state, selector.as_ref(), is_kept, other);
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
                excluded: if own.is_some() { None } else { excluded() },
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

/// Returns the selector of the nodes on which the controller may update pods: that of the plan, or the original one.
fn node_selector(state: &State<'_>) -> Option<Selector> {
    if !state.workload().kind().pods().are_per_node() {
        return None;
    }
    match &state.pace().node_selector {
        Some(text) => Selector::parse(text).ok(),
        None => own_node_selector(state).and_then(Selector::read),
    }
}

fn as_count(number: i64) -> usize {
    usize::try_from(number).unwrap_or_default()
}
