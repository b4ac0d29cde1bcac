//! Stepping a workload by lowering its partition: of ordinals, for a StatefulSet, or of a number of pods.
//!
//! A partition of OpenKruise that is a number of pods belongs to a CloneSet, an Advanced DaemonSet, or an Advanced
//! StatefulSet that updates its pods in another order. The controller chooses the pods. A slot is a number: slot 3 of 10 is
//! the third pod to be updated, which a partition of 7 releases. The updated pods fill the first slots, the oldest update first.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::action::StopReason;
use super::slot::{ExcludedBy, PodSlot, max_unavailable};
use super::state::{State, StepKind};
use crate::api::count::{as_count, as_number};
use crate::api::pod::Pod;
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
    /// Outdated pods fill the last slots in the order of the controller, so that missing pods are missing from the
    /// released slots first.
    fn slots<'a>(&self, state: &State<'a>) -> Vec<PodSlot<'a>> {
        let workload = state.workload();
        let wanted = workload.wanted();
        let (partition, original_partition) = (released_from(workload), original_partition(state));
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
            let is_released = own.is_some() || index >= partition;
            let is_kept = index < original_partition || !other.is_none_or(selects);
            let key = (place + 1).to_string();
            PodSlot {
                label: Some(own.map_or_else(|| format!("pod {key}"), |pod| pod.name.clone())),
                is_released,
                awaits_deletion: is_released && own.is_none(),
                excluded: (is_kept && own.is_none()).then_some(ExcludedBy::OwnPartition),
                unready_node: state.unready_node_of(own.or(other.filter(|_| has_known_order))),
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
    let workload = state.workload();
    Some(strategy::as_fields(workload, strategy::with_partition(workload, as_number(kept?))))
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
