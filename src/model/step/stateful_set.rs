//! Stepping a StatefulSet: lowers its partition from the highest ordinal down.

use super::partition::{lower_partition, own_partition, released_from};
use super::request::Request;
use super::slot::{ExcludedBy, PodSlot};
use super::state::{State, StepKind};
use crate::error::Result;
use crate::model::hold::plan::BatchRecord;
use crate::model::kind::Workload;
use crate::model::kind::fields::Fields;
use crate::model::kind::ordinals::ordinals;

pub(super) struct StatefulSets;

impl StepKind for StatefulSets {
    fn check_request(&self, _: &Workload, request: &Request) -> Result<()> {
        request.pace.refuse_surge()?;
        request.pace.refuse_node_flags("a StatefulSet is stepped from its highest ordinal down")
    }

    /// Returns a slot for each ordinal, highest first.
    fn slots<'a>(&self, state: &State<'a>) -> Vec<PodSlot<'a>> {
        let workload = state.workload();
        let start = workload.object().int("/spec/ordinals/start").unwrap_or_default();
        let ordinals = ordinals(workload.object(), start, workload.wanted());
        let (partition, own) = (released_from(workload), own_partition(state));
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
    fn release(&self, state: &State<'_>, batch: &BatchRecord) -> Option<(Fields, Vec<String>)> {
        lower_partition(state, batch)
    }
}
