//! Counts: a partition that is the number of pods to keep, of a CloneSet, an Advanced DaemonSet, or an Advanced StatefulSet that
//! updates its pods in another order than by ordinal. `step` lowers it, and the controller chooses the pods.
//!
//! A slot is a number: slot 3 of 10 is the third pod to be updated, which a partition of 7 releases. The updated pods fill the
//! first slots, the oldest update first.

use std::cmp::Reverse;

use super::partition::{has_partition_of, lower_partition, partition_to_hold, released_from};
use super::{Mechanism, State};
use crate::api::count::{as_count, as_number};
use crate::api::patch::FieldPath;
use crate::api::pod::Pod;
use crate::api::selector::Selector;
use crate::hold::plan::PlannedBatch;
use crate::hold::slot::{Skip, Slot, max_unavailable};
use crate::kind::fields::{HoldFields, UPDATE_STRATEGY};
use crate::kind::{Workload, strategy};
use crate::observation::Observation;

/// Holds a number of pods.
pub(crate) struct CountedPods;

impl Mechanism for CountedPods {
    /// The number of outdated pods. Surge pods are updated, and beside all outdated ones.
    fn fields_to_hold(&self, observed: &Observation, workload: &Workload) -> HoldFields {
        let active = |pods: &[&Pod]| as_number(pods.iter().filter(|pod| pod.is_active()).count());
        partition_to_hold(observed, workload, |updated, outdated| {
            Some(active(outdated).min(workload.wanted() - active(updated)))
        })
    }

    fn is_in_force(&self, workload: &Workload, held: &HoldFields) -> bool {
        has_partition_of(workload, held)
    }

    fn step_field(&self, workload: &Workload) -> (FieldPath, Option<&'static str>) {
        (strategy::partition_path(workload), None)
    }

    /// No pod is kept: the original partition keeps any pods of that number, so also released ones.
    fn fields_of_rollback(&self, workload: &Workload, original: &HoldFields) -> Option<HoldFields> {
        let own = original.get(UPDATE_STRATEGY).map_or(0, |own| strategy::partition_of(workload, own));
        (own > 0).then(|| strategy::as_fields(workload, strategy::with_partition(workload, 0)))
    }

    /// Outdated pods fill the last slots in the order of the controller, so that missing pods are missing from the
    /// released slots first.
    fn slots<'a>(&self, state: &State<'a>) -> Vec<Slot<'a>> {
        let workload = state.workload();
        let wanted = workload.wanted();
        let (partition, original_partition) =
            (released_from(workload), state.hold.original_partition(workload));
        let selector = strategy::node_selector(workload);
        let selects = |pod: &Pod| selector.as_ref().is_none_or(|selector| selects(selector, state, pod));
        let (updated, outdated) = in_order_of_update(state, selects);
        // Of other kinds, the controller may take an outdated pod on another node first.
        let has_known_order = workload.kind().pods().are_per_node();
        let surplus = outdated.len().checked_sub(as_count(wanted));
        let missing = as_count(wanted).saturating_sub(outdated.len());
        let slot = |place: usize| {
            let index = wanted - 1 - as_number(place);
            let own = updated.get(place).copied();
            let next = surplus.map_or_else(|| place.checked_sub(missing), |surplus| Some(place + surplus));
            let other = next.and_then(|next| outdated.get(next).copied()).filter(|_| own.is_none());
            let is_kept = index < original_partition || !other.is_none_or(selects);
            let key = (place + 1).to_string();
            Slot {
                label: Some(own.map_or_else(|| format!("pod {key}"), |pod| pod.name.clone())),
                skip: (is_kept && own.is_none()).then_some(Skip::OwnPartition),
                unready_node: state.unready_node_of(own.or(other.filter(|_| has_known_order))),
                ..state.slot(key, own.or(other), index >= partition)
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
}

/// Returns the updated pods, the oldest update first, and the outdated ones in the order in which the controller updates
/// them; those on nodes that it does not select come last. Where the user's priorities decide, the available ones come
/// first, because any of them may be next.
fn in_order_of_update<'a>(state: &State<'a>, selects: impl Fn(&Pod) -> bool) -> (Vec<&'a Pod>, Vec<&'a Pod>) {
    let workload = state.workload();
    let (mut updated, mut outdated) = (state.updated.clone(), state.outdated.clone());
    updated.sort_by(|one, other| (one.updated_at(), &one.name).cmp(&(other.updated_at(), &other.name)));
    if has_priorities(workload) {
        outdated.sort_by_key(|pod| Reverse(state.is_available(pod)));
    } else {
        workload.kind().pods().sort_by_update(&mut outdated);
        outdated.sort_by_cached_key(|pod| !selects(pod));
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

/// Whether the controller may update a pod, by the labels of its node.
fn selects(selector: &Selector, state: &State<'_>, pod: &Pod) -> bool {
    let node = state.node_of(pod);
    selector.matches_labels(|key| node.and_then(|node| node.labels.get(key)).map(String::as_str))
}
