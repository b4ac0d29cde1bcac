//! Stepping a StatefulSet: lowers its partition from the highest ordinal.

use super::request::Request;
use super::slot::{ExcludedBy, PlanContext, PodSlot};
use super::step_kind::{Release, StepKind};
use crate::error::Result;
use crate::model::change::plan::BatchRecord;
use crate::model::workload::Workload;
use crate::model::workload::strategy;

pub(super) struct StatefulSets;

impl StepKind for StatefulSets {
    fn check_request(&self, _: &Workload, request: &Request) -> Result<()> {
        request.pace.refuse_surge()?;
        request.pace.refuse_node_flags("a StatefulSet is stepped from its highest ordinal down")
    }

    fn check_observation(&self, _: &PlanContext<'_>) -> Result<()> {
        Ok(())
    }

    /// Returns a slot for each ordinal, highest first.
    fn slots<'a>(&self, context: &PlanContext<'a>) -> Vec<PodSlot<'a>> {
        let workload = context.workload();
        let start = workload.object().int("/spec/ordinals/start").unwrap_or_default();
        let (partition, own) = (released_from(workload), own_partition(context));
        let (last_batch, nodes) = (context.last_batch(), context.nodes.unwrap_or_default());
        let mut pods: Vec<_> =
            context.observed.own_pods().filter_map(|pod| Some((pod.ordinal?, pod))).collect();
        pods.sort_by_key(|(ordinal, _)| *ordinal);
        let slot = |index: i64| {
            let ordinal = start.saturating_add(index);
            let pod = pods.binary_search_by_key(&ordinal, |(ordinal, _)| *ordinal).ok();
            let pod = pod.and_then(|found| Some(pods.get(found)?.1));
            let node = pod.and_then(|pod| nodes.iter().find(|node| node.name == pod.node));
            let is_updated = pod.is_some_and(|pod| context.is_updated(pod));
            let is_released = index >= partition;
            let name = format!("{}-{ordinal}", workload.name());
            PodSlot {
                is_in_last_batch: last_batch.contains(name.as_str()),
                soaks: true, // including pods that a scale-up adds on the new revision
                name,
                pod,
                is_updated,
                is_available: pod.is_some_and(|pod| context.is_available(pod)),
                is_released,
                awaits_deletion: is_released && !is_updated,
                excluded: (index < own).then_some(ExcludedBy::OwnPartition),
                unready_node: node.filter(|node| !node.ready).map(|node| node.name.clone()),
                group: None,
                label: None,
            }
        };
        (0..workload.wanted()).rev().map(slot).collect()
    }

    /// Lowers the partition over the next slots of the batch. Each available outdated pod uses one of `free`. While too
    /// many pods are unavailable, no slot is released: an unavailable pod may become available, and the controller
    /// would then delete it in addition to the others.
    fn release(
        &self,
        context: &PlanContext<'_>,
        slots: &[PodSlot<'_>],
        batch: &BatchRecord,
        free: Option<usize>,
    ) -> Option<Release> {
        let workload = context.workload();
        let last = slots.iter().rposition(|slot| batch.slots.contains(&slot.name))?;
        let (mut free, mut released) = (free?, Vec::new());
        for slot in slots.get(..=last)?.iter().filter(|slot| !slot.is_released) {
            let costs_one = slot.is_available && !slot.is_updated && slot.counts(context.pace());
            match free.checked_sub(usize::from(costs_one)) {
                Some(rest) => free = rest,
                None => break,
            }
            released.push(slot.name.clone());
        }
        let partition = strategy::partition_index(workload, released.last()?)?;
        Some(Release::Strategy { set: strategy::with_partition(workload, partition), slots: released })
    }

    fn skips_unready_nodes(&self) -> bool {
        false
    }

    /// If the original partition excludes no pod, the controller must report the new revision as the current one.
    /// Until then it would create pods below a partition from the old revision.
    fn is_complete(&self, context: &PlanContext<'_>) -> bool {
        let object = context.workload().object();
        let is_current = object.text("/status/currentRevision") == object.text("/status/updateRevision");
        context.observed.is_observed() && (own_partition(context) > 0 || is_current)
    }
}

/// Returns the lowest ordinal that the controller may update now.
fn released_from(workload: &Workload) -> i64 {
    if strategy::is_on_delete(workload) { strategy::ABOVE_EVERY_POD } else { strategy::partition(workload) }
}

/// Returns the ordinal below which the plan releases no pod.
fn own_partition(context: &PlanContext<'_>) -> i64 {
    let record = context.record;
    if record.plan.below_partition { 0 } else { record.hold.own_partition() }
}
