//! Holding a workload by its partition: what is written, whether it still holds, and what stays held in a rollback.

use serde_json::Value;

use super::fields::HoldFields;
use super::strategy::{self, ABOVE_EVERY_POD};
use super::{PresentPods, Workload};
use crate::model::api::pod::Pod;

/// Returns the partition that holds: one above the highest outdated pod, or the number of outdated pods, and never below
/// the present partition. If no pod is updated, or all are, it is above every possible pod, so that later revisions are
/// held too.
pub(super) fn fields_to_hold(workload: &Workload, pods: &PresentPods<'_>) -> HoldFields {
    let highest = || {
        let index = |pod: &&Pod| strategy::partition_index(workload, &pod.name);
        pods.outdated.iter().filter_map(index).max()
    };
    let kept = if pods.updated.is_empty() || pods.outdated.is_empty() {
        None
    } else if strategy::partition_counts_pods(workload) {
        // Surge pods are updated, and beside all outdated ones.
        let (updated, outdated) = pods.active();
        Some(outdated.min(workload.wanted() - updated))
    } else {
        highest().map(|highest| highest.saturating_add(1).min(ABOVE_EVERY_POD))
    };
    let kept = kept.map_or(ABOVE_EVERY_POD, |kept| kept.max(strategy::partition(workload)));
    strategy::as_fields(workload, strategy::with_partition(workload, kept))
}

/// Whether the live partition and the held one are the same, of the same type of strategy.
pub(super) fn is_in_force(workload: &Workload, hold_fields: &HoldFields) -> bool {
    let live = strategy::update_strategy(workload).and_then(strategy::written_partition);
    has_type_of(workload, hold_fields)
        && live == held_strategy(workload, hold_fields).and_then(strategy::written_partition)
}

/// Returns what stays held in a rollback. Of pods by ordinal, the present partition, if it is below the original one. Of a
/// partition that counts pods, the original keeps any pods of that number, so also released ones; an original node
/// selector keeps those on other nodes. Both are left out then.
pub(super) fn hold_rollback(
    workload: &Workload,
    hold_fields: &HoldFields,
    original: &HoldFields,
    is_below: bool,
) -> Option<HoldFields> {
    let original = held_strategy(workload, original);
    let own = original.map_or(0, |original| strategy::partition_of(workload, original));
    if !strategy::partition_counts_pods(workload) {
        return (is_below && strategy::partition(workload) < own).then(|| hold_fields.clone());
    }
    let is_partial =
        original.is_some_and(|original| *original != strategy::without_node_selector(original.clone()));
    let released = || strategy::without_node_selector(strategy::with_partition(workload, 0));
    (own > 0 || is_partial).then(|| strategy::as_fields(workload, released()))
}

/// Returns the update strategy among fields that hold.
fn held_strategy<'f>(workload: &Workload, hold_fields: &'f HoldFields) -> Option<&'f Value> {
    hold_fields.get(&strategy::strategy_path(workload))
}

/// Whether a workload and the strategy that holds it are both `OnDelete`, or both not.
pub(super) fn has_type_of(workload: &Workload, hold_fields: &HoldFields) -> bool {
    held_strategy(workload, hold_fields)
        .is_some_and(|held| strategy::is_on_delete(workload) == strategy::is_on_delete_strategy(held))
}
