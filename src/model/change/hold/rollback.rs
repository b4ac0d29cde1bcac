//! Rolling a plan back: what the annotation says while the pods go back.
//!
//! One patch writes the old template and, as a rule, the original strategy, so that the controller takes the
//! pods back without us. The annotation stays with the phase `rollingBack`, and a second patch removes it once
//! every pod is back. A process that dies in between leaves that to the next `step`.
//!
//! A plan with `--to 100%` releases pods below the StatefulSet's own partition, which the original strategy
//! would leave on the revision that failed. Then the hold stays as low as it is until they are back, and the
//! second patch restores the strategy too.

use serde_json::Value;

use super::Hold;
use super::plan::Phase;
use super::record::PlanRecord;
use crate::model::api::pod::Pod;
use crate::model::revision::digest::Digest;
use crate::model::status::observation::Observation;
use crate::model::workload::Workload;
use crate::model::workload::strategy;

/// Whether the plan of a workload is rolling back to the live template, with its hold in force or not.
#[must_use]
pub fn is_rolling_back(workload: &Workload) -> bool {
    rolling_back(workload).is_some()
}

/// Whether the hold of a plan that rolls back is in force.
#[must_use]
pub fn is_rollback_held(workload: &Workload) -> bool {
    rolling_back(workload).is_some_and(|record| record.hold.is_in_force(workload))
}

fn rolling_back(workload: &Workload) -> Option<PlanRecord> {
    let record = PlanRecord::of(workload).ok()??;
    (record.plan.is_rolling_back() && record.is_for(workload)).then_some(record)
}

/// The rollback of pods that a plan released below the StatefulSet's own partition.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionRollback {
    /// The StatefulSet's own partition.
    pub partition: i64,
    /// The names of the pods, highest ordinal first; none where pods could not be read.
    pub pods: Vec<String>,
    /// The hold while they go back, without a lease.
    pub hold: Hold,
}

impl PartitionRollback {
    /// Returns what goes back to a template below the own partition, if anything does.
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
    /// Returns the record while pods below the own partition go back to a template; none where none do.
    #[must_use]
    pub fn rolling_back_held(&self, workload: &Workload, template: &Digest) -> Option<Self> {
        let is_below = strategy::partition(workload) < self.hold.own_partition();
        let is_held = self.plan.below_partition && is_below && self.hold.is_in_force(workload);
        is_held.then(|| self.rolling_back_to(template))
    }

    /// Returns the record beside a patch that restores the template and the original strategy. It holds nothing.
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
