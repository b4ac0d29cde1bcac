//! What the mechanisms share that hold by a partition.

use std::collections::HashSet;

use super::State;
use crate::api::count::as_number;
use crate::api::pod::Pod;
use crate::hold::plan::PlannedBatch;
use crate::hold::slot::SlotState;
use crate::kind::fields::{HoldFields, UPDATE_STRATEGY};
use crate::kind::strategy::ABOVE_EVERY_POD;
use crate::kind::{Workload, strategy};
use crate::observation::Observation;

/// Returns the partition that holds: one that keeps a number of pods or of ordinals, as `kept` counts them of updated and
/// outdated pods, and never below the present partition. If no pod is updated, or all are, it is above every possible pod, so
/// that later revisions are held too.
pub(super) fn partition_to_hold(
    observed: &Observation,
    workload: &Workload,
    kept: impl Fn(&[&Pod], &[&Pod]) -> Option<i64>,
) -> HoldFields {
    let (updated, outdated): (Vec<&Pod>, Vec<&Pod>) =
        observed.own_pods().partition(|pod| observed.is_updated(pod));
    let kept = if updated.is_empty() || outdated.is_empty() { None } else { kept(&updated, &outdated) };
    let kept = kept.map_or(ABOVE_EVERY_POD, |kept| kept.max(strategy::partition(workload)));
    strategy::as_fields(workload, strategy::with_partition(workload, kept))
}

/// Whether the live partition and the held one are the same, of the same type of strategy.
pub(super) fn has_partition_of(workload: &Workload, hold_fields: &HoldFields) -> bool {
    let live = strategy::update_strategy(workload).and_then(strategy::written_partition);
    has_type_of(workload, hold_fields)
        && live == hold_fields.get(UPDATE_STRATEGY).and_then(strategy::written_partition)
}

/// Whether a workload and the strategy that holds it are both `OnDelete`, or both not.
pub(super) fn has_type_of(workload: &Workload, hold_fields: &HoldFields) -> bool {
    hold_fields
        .get(UPDATE_STRATEGY)
        .is_some_and(|held| strategy::is_on_delete(workload) == strategy::is_on_delete_strategy(held))
}

/// Lowers the partition over the next slots of the batch. Each available outdated pod uses one of the pods that may
/// become unavailable. While too many pods are unavailable, no slot is released: an unavailable pod may become
/// available, and the controller would then delete it in addition to the others.
pub(super) fn lower_partition(state: &State<'_>, batch: &PlannedBatch) -> Option<HoldFields> {
    let batch: HashSet<&String> = batch.slots.iter().collect();
    let slots = &state.slots;
    let last = slots.iter().rposition(|slot| batch.contains(&slot.key))?;
    let (mut free, mut kept) = (state.budget_left(), None);
    for (index, slot) in slots.get(..=last)?.iter().enumerate().filter(|(_, slot)| slot.state.is_held()) {
        free -= i64::from(slot.state == SlotState::Held && slot.counts(state.pace()));
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
pub(super) fn released_from(workload: &Workload) -> i64 {
    if strategy::is_on_delete(workload) { strategy::ABOVE_EVERY_POD } else { strategy::partition(workload) }
}
