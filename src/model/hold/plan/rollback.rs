//! The annotation during a rollback of a plan.
//!
//! One patch writes the old template and usually the original strategy, so that the controller rolls the pods back
//! without `step`. The annotation stays, with the phase `rollingBack`, until a second patch removes it after all pods
//! are rolled back. If the process dies before, the next `step` writes the second patch.
//!
//! The original strategy may leave released pods on the failed revision: those that a plan with `--to 100%` released
//! below the original partition of the StatefulSet, and any where the partition counts pods. In this case a lower
//! partition holds until they are rolled back, and the second patch restores the strategy too.

use serde_json::Value;

use super::annotation::Hold;
use super::record::{PlanRecord, guarded};
use super::schema::Phase;
use crate::model::api::patch::Patch;
use crate::model::api::pod::Pod;
use crate::model::kind::Workload;
use crate::model::kind::properties::StepBy;
use crate::model::kind::strategy;
use crate::model::observation::Observation;
use crate::model::text::digest::Digest;

/// Whether the plan of a workload is rolling back to the live template, whether or not its hold is in force.
#[must_use]
pub fn is_rolling_back(workload: &Workload) -> bool {
    Hold::of(workload).ok().flatten().is_some_and(|hold| hold.is_rolling_back_to_live_template(workload))
}

/// Whether the plan of a workload is rolling back to the live template, and its hold is in force.
#[must_use]
pub fn is_rollback_held(workload: &Workload) -> bool {
    Hold::in_force(workload).is_some_and(|hold| hold.is_rolling_back_to_live_template(workload))
}

/// Returns the hold of a rollback whose pods are all back. Whoever finds it restores the original strategy: until then a
/// lower partition lets the next change replace every pod.
#[must_use]
pub fn completed_rollback(observed: &Observation) -> Option<Hold> {
    let workload = &observed.workload;
    let live = observed.revisions.current()?;
    let hold = Hold::in_force(workload).filter(|hold| hold.is_rolling_back_to_live_template(workload))?;
    let mut pods = observed.own_pods().filter(|pod| pod.is_active());
    let is_back = observed.pods.is_some() && pods.all(|pod| workload.runs(pod, live));
    (is_back && workload.is_observed() && workload.is_update_reported_stable()).then_some(hold)
}

impl Hold {
    /// Returns the patch that ends a hold and restores the original fields.
    #[must_use]
    pub fn ending(&self, workload: &Workload) -> Patch {
        let mut patch = guarded(workload);
        self.end(workload, &mut patch);
        patch
    }

    /// Whether its plan is rolling back to the live template.
    #[must_use]
    pub fn is_rolling_back_to_live_template(&self, workload: &Workload) -> bool {
        let plan = self.plan().ok().flatten();
        plan.is_some_and(|plan| plan.is_rolling_back() && plan.is_for_live_template(workload))
    }
}

/// The rollback of pods that a plan released below the original partition of a StatefulSet.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionRollback {
    /// The original partition.
    pub partition: i64,
    /// Whether the partition counts pods, so that every pod is held until the rollback is complete.
    pub counts_pods: bool,
    /// The names of the pods, highest ordinal first; none if pods could not be read.
    pub pods: Vec<String>,
    /// The hold during the rollback, without a lock.
    pub hold: Hold,
}

impl PartitionRollback {
    /// Returns the rollback to a template below the original partition, if it affects any pod.
    #[must_use]
    pub fn of(observed: &Observation, template: &Digest) -> Option<Self> {
        let workload = &observed.workload;
        let record = PlanRecord::of(workload).ok().flatten()?;
        let kept = record.rolling_back_held(workload, template)?;
        let (from, partition) = (strategy::partition(workload), record.hold.own_partition(workload));
        let index = |pod: &Pod| strategy::partition_index(workload, &pod.name);
        let mut pods: Vec<_> = observed.own_pods().filter_map(|pod| Some((index(pod)?, &pod.name))).collect();
        pods.retain(|(index, _)| (from..partition).contains(index));
        pods.sort_by_key(|(index, _)| std::cmp::Reverse(*index));
        let pods = pods.into_iter().map(|(_, name)| name.clone()).collect();
        let hold = PlanRecord { lock: None, ..kept }.to_hold().with_pause(false);
        Some(Self { partition, counts_pods: strategy::partition_counts_pods(workload), pods, hold })
    }
}

impl PlanRecord {
    /// Returns the record during the rollback to a template, if the original strategy would leave released pods on the
    /// failed revision: pods below the original partition. Of a partition that counts pods, the original keeps any pods
    /// of that number, so also released ones; an original node selector keeps those on other nodes.
    #[must_use]
    pub fn rolling_back_held(&self, workload: &Workload, template: &Digest) -> Option<Self> {
        if !self.hold.is_in_force(workload) {
            return None;
        }
        let own = self.hold.own_partition(workload);
        if !strategy::partition_counts_pods(workload) {
            let is_below = self.plan.below_partition && strategy::partition(workload) < own;
            return is_below.then(|| self.rolling_back_to(template));
        }
        let set = strategy::without_node_selector(strategy::with_partition(workload, 0));
        let is_partial =
            self.hold.original().is_some_and(|own| own != &strategy::without_node_selector(own.clone()));
        (workload.kind().step() == Ok(StepBy::Partition) && (own > 0 || is_partial)).then(|| {
            let mut record = self.rolling_back_to(template);
            record.hold.set = set;
            record
        })
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
