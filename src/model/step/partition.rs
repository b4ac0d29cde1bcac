//! Releasing pods by lowering a partition: of ordinals, or of a number of pods.

use serde_json::Value;

use super::slot::{PlanContext, PodSlot, max_unavailable};
use super::step_kind::Release;
use crate::model::api::selector::Selector;
use crate::model::change::plan::BatchRecord;
use crate::model::workload::kind::PodIdentity;
use crate::model::workload::{Workload, strategy};

/// Lowers the partition over the next slots of the batch. Each available outdated pod uses one of `free`. While too
/// many pods are unavailable, no slot is released: an unavailable pod may become available, and the controller
/// would then delete it in addition to the others.
pub(super) fn lower_partition(
    context: &PlanContext<'_>,
    slots: &[PodSlot<'_>],
    batch: &BatchRecord,
    free: Option<usize>,
) -> Option<Release> {
    let last = slots.iter().rposition(|slot| batch.slots.contains(&slot.name))?;
    let (mut free, mut released, mut kept) = (free?, Vec::new(), slots.len());
    for (index, slot) in slots.get(..=last)?.iter().enumerate().filter(|(_, slot)| !slot.is_released) {
        let costs_one = slot.is_available && !slot.is_updated && slot.counts(context.pace());
        match free.checked_sub(usize::from(costs_one)) {
            Some(rest) => free = rest,
            None => break,
        }
        released.push(slot.label());
        kept = slots.len() - index - 1;
    }
    let set = (!released.is_empty()).then(|| strategy_with(context, kept))?;
    Some(Release::Strategy { set, slots: released })
}

/// Returns the live strategy with another partition, and with the node selector of the plan.
fn strategy_with(context: &PlanContext<'_>, kept: usize) -> Value {
    let workload = context.workload();
    let kept = i64::try_from(kept).unwrap_or(strategy::ABOVE_EVERY_POD);
    let strategy = strategy::with_partition(workload, kept);
    let selector = context.pace().node_selector.as_deref();
    match selector.filter(|_| workload.kind().pods == PodIdentity::Node).map(Selector::parse) {
        Some(Ok(selector)) => {
            let mut strategy = strategy::without_node_selector(strategy);
            if let Some(selector) = selector.to_label_selector() {
                strategy["rollingUpdate"]["selector"] = selector;
            }
            strategy
        }
        _ => strategy,
    }
}

/// Returns the partition from which on the controller may update now: the lowest index, or the number of pods that it
/// keeps.
pub(super) fn released_from(workload: &Workload) -> i64 {
    if strategy::is_on_delete(workload) { strategy::ABOVE_EVERY_POD } else { strategy::partition(workload) }
}

/// Returns the partition below which the plan releases no pod.
pub(super) fn own_partition(context: &PlanContext<'_>) -> i64 {
    let record = context.record;
    if record.plan.below_partition { 0 } else { record.hold.own_partition(context.workload()) }
}

/// Returns how many of the wanted pods may be unavailable: the smaller limit of the plan and of the workload.
pub(super) fn allowed(context: &PlanContext<'_>, wanted: usize) -> usize {
    let limit = max_unavailable(context.pace(), wanted);
    own_limit(context.workload()).map_or(limit, |own| own.min(limit))
}

/// Returns how many pods the workload's own budget lets be unavailable, for the kinds of OpenKruise.
pub(super) fn own_limit(workload: &Workload) -> Option<usize> {
    let own = usize::try_from(workload.update_budget().unavailable).unwrap_or_default();
    (!workload.kind().is_built_in).then_some(own)
}

/// Whether the controller considers the update complete. If the original partition keeps no pod, the controller must
/// report the new revision as the current one, if it reports that. Until then it would create pods below a partition
/// from the old revision.
pub(super) fn is_complete(context: &PlanContext<'_>) -> bool {
    let is_current = || context.workload().is_update_reported_stable();
    context.observed.is_observed() && (own_partition(context) > 0 || is_current())
}
