//! The annotation during a rollback of a plan.
//!
//! One patch writes the old template and usually the original strategy, so that the controller rolls the pods back
//! without `step`. The annotation stays, with the phase `rollingBack`, until a second patch removes it after all pods
//! are rolled back. If the process dies before, the next `step` writes the second patch.
//!
//! A plan with `--to 100%` releases pods below the original partition of the StatefulSet. The original strategy would
//! leave these pods on the failed revision. In this case the low partition stays until they are rolled back, and the
//! second patch restores the strategy too.

use serde_json::Value;

use super::annotation::Hold;
use super::record::PlanRecord;
use super::schema::Phase;
use crate::model::api::pod::Pod;
use crate::model::revision::digest::Digest;
use crate::model::status::observation::Observation;
use crate::model::workload::Workload;
use crate::model::workload::strategy;

/// Whether the plan of a workload is rolling back to the live template, whether or not its hold is in force.
#[must_use]
pub fn is_rolling_back(workload: &Workload) -> bool {
    rolling_back(workload).is_some()
}

/// Whether the plan of a workload is rolling back and its hold is in force.
#[must_use]
pub fn is_rollback_held(workload: &Workload) -> bool {
    rolling_back(workload).is_some_and(|record| record.hold.is_in_force(workload))
}

fn rolling_back(workload: &Workload) -> Option<PlanRecord> {
    let record = PlanRecord::of(workload).ok()??;
    (record.plan.is_rolling_back() && record.is_for(workload)).then_some(record)
}

/// The rollback of pods that a plan released below the original partition of a StatefulSet.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionRollback {
    /// The original partition.
    pub partition: i64,
    /// The names of the pods, highest ordinal first; none if pods could not be read.
    pub pods: Vec<String>,
    /// The hold during the rollback, without a lease.
    pub hold: Hold,
}

impl PartitionRollback {
    /// Returns the rollback to a template below the original partition, if it affects any pod.
    #[must_use]
    pub fn of(observed: &Observation, template: &Digest) -> Option<Self> {
        let workload = &observed.workload;
        let record = PlanRecord::of(workload).ok().flatten()?;
        let kept = record.rolling_back_held(workload, template)?;
        let (from, partition) = (strategy::partition(workload), record.hold.own_partition());
        let index = |pod: &Pod| strategy::partition_index(workload, &pod.name);
        let mut pods: Vec<_> = observed.own_pods().filter_map(|pod| Some((index(pod)?, &pod.name))).collect();
        pods.retain(|(index, _)| (from..partition).contains(index));
        pods.sort_by_key(|(index, _)| std::cmp::Reverse(*index));
        let pods = pods.into_iter().map(|(_, name)| name.clone()).collect();
        let hold = PlanRecord { lease: None, ..kept }.to_hold().with_pause(false);
        Some(Self { partition, pods, hold })
    }
}

impl PlanRecord {
    /// Returns the record during the rollback to a template, if that affects pods below the original partition.
    #[must_use]
    pub fn rolling_back_held(&self, workload: &Workload, template: &Digest) -> Option<Self> {
        let is_below = strategy::partition(workload) < self.hold.own_partition();
        let is_held = self.plan.below_partition && is_below && self.hold.is_in_force(workload);
        is_held.then(|| self.rolling_back_to(template))
    }

    /// Returns the record for a rollback whose patch restores the original strategy too. It holds nothing.
    #[must_use]
    pub fn rolling_back_freely(&self, template: &Digest) -> Self {
        let mut record = self.rolling_back_to(template);
        record.hold.set = Value::Null;
        record
    }

    fn rolling_back_to(&self, template: &Digest) -> Self {
        let mut record = self.clone();
        (record.plan.template, record.plan.phase) = (template.hex(), Phase::RollingBack);
        record
    }
}
