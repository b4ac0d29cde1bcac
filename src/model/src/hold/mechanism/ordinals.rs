//! Ordinals: a partition below which a StatefulSet keeps its pods. `step` lowers it from the highest ordinal down.

use super::partition::{has_partition_of, lower_partition, partition_to_hold, released_from};
use super::{Mechanism, State};
use crate::api::patch::FieldPath;
use crate::hold::plan::PlannedBatch;
use crate::hold::slot::{Skip, Slot};
use crate::kind::fields::HoldFields;
use crate::kind::strategy::{ABOVE_EVERY_POD, ordinals};
use crate::kind::{Workload, strategy};
use crate::observation::Observation;

/// Holds pods by their ordinals.
pub(crate) struct Ordinals;

impl Mechanism for Ordinals {
    /// One above the highest outdated pod.
    fn fields_to_hold(&self, observed: &Observation, workload: &Workload) -> HoldFields {
        partition_to_hold(observed, workload, |_, outdated| {
            let highest =
                outdated.iter().filter_map(|pod| strategy::partition_index(workload, &pod.name)).max();
            highest.map(|highest| highest.saturating_add(1).min(ABOVE_EVERY_POD))
        })
    }

    fn is_in_force(&self, workload: &Workload, held: &HoldFields) -> bool {
        has_partition_of(workload, held)
    }

    fn step_field(&self, workload: &Workload) -> (FieldPath, Option<&'static str>) {
        (strategy::partition_path(workload), None)
    }

    /// Returns a slot for each ordinal, highest first.
    fn slots<'a>(&self, state: &State<'a>) -> Vec<Slot<'a>> {
        let workload = state.workload();
        let start = workload.object().int("/spec/ordinals/start").unwrap_or_default();
        let ordinals = ordinals(workload.object(), start, workload.wanted());
        let (partition, own) = (released_from(workload), state.hold.original_partition(workload));
        let mut pods: Vec<_> =
            state.observed.own_pods().filter_map(|pod| Some((pod.ordinal?, pod))).collect();
        pods.sort_by_key(|(ordinal, _)| *ordinal);
        let slot = |(index, ordinal): (i64, i64)| {
            let pod = pods.binary_search_by_key(&ordinal, |(ordinal, _)| *ordinal).ok();
            let pod = pod.and_then(|found| Some(pods.get(found)?.1));
            let slot = state.slot(format!("{}-{ordinal}", workload.name()), pod, index >= partition);
            Slot { skip: (index < own).then_some(Skip::OwnPartition), ..slot }
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
