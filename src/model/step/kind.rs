//! What differs between the kinds that can be stepped. Each kind implements [`StepKind`] in one file.

use serde_json::Value;

use super::daemon_set::DaemonSets;
use super::deployment::{Deployments, check_leftovers, standing_hold};
use super::request::Request;
use super::slot::{PlanContext, PodSlot, max_unavailable};
use super::stateful_set::StatefulSets;
use crate::error::{Error, ErrorKind, Result};
use crate::model::change::hold::{self, BatchRecord};
use crate::model::follow::PodRef;
use crate::model::status::observation::Observation;
use crate::model::workload::Workload;
use crate::model::workload::kind::StepBy;

/// How a kind is stepped.
pub(super) trait StepKind {
    /// Refuses a request that this kind cannot fulfil. Only the workload was read.
    fn check_request(&self, workload: &Workload, request: &Request) -> Result<()>;

    /// Refuses a plan that needs what could not be read.
    fn check_observation(&self, observation: &PlanContext<'_>) -> Result<()>;

    /// Returns the slots in the order of release.
    fn slots<'a>(&self, observation: &PlanContext<'a>) -> Vec<PodSlot<'a>>;

    /// Returns how to release more slots of a batch now, if any may be. `free` is how many more pods may
    /// become unavailable; none when more are unavailable than may be.
    fn release(
        &self,
        observation: &PlanContext<'_>,
        slots: &[PodSlot<'_>],
        batch: &BatchRecord,
        free: Option<usize>,
    ) -> Option<Release>;

    /// Whether the first slot of a batch can be released. `free` is how many more pods may become unavailable.
    fn can_release(
        &self,
        observation: &PlanContext<'_>,
        _: &[PodSlot<'_>],
        first: &PodSlot<'_>,
        free: Option<usize>,
    ) -> bool {
        let cost = usize::from(first.is_available && first.counts(observation.pace()));
        free.is_some_and(|free| cost <= free)
    }

    /// Returns how many of the wanted pods may be unavailable.
    fn allowed(&self, observation: &PlanContext<'_>, wanted: usize) -> usize {
        max_unavailable(observation.pace(), wanted)
    }

    /// Returns how many of the wanted pods are missing, where that is not the number of unavailable slots.
    fn missing(&self, _: &PlanContext<'_>) -> Option<usize> {
        None
    }

    /// Whether a slot is only a number of pods, so that batches keep their proportion when the workload is scaled.
    fn counts_pods(&self) -> bool {
        false
    }

    /// Whether a batch can skip slots on nodes that are not ready.
    fn skips_unready_nodes(&self) -> bool;

    /// Whether the controller considers the update complete, so that the original strategy can be restored.
    fn is_complete(&self, observation: &PlanContext<'_>) -> bool;
}

/// How the next slots of a batch are released.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Release {
    /// By another update strategy.
    Strategy {
        /// The strategy.
        set: Value,
        /// The slots that it releases.
        slots: Vec<String>,
    },
    /// By one wave of deletions: each slot with its pod.
    Wave(Vec<(String, PodRef)>),
}

/// The most pods that a plan can have. A slot takes some hundred bytes, and `spec.replicas` of a StatefulSet can be
/// 2147483647, which any client that may scale it can write.
const MAX_PODS: i64 = 100_000;

/// Returns how the kind of a workload is stepped.
///
/// # Errors
/// A usage error for a kind that cannot be stepped, with alternatives; a workload of more than [`MAX_PODS`] pods.
pub(super) fn step_kind(workload: &Workload) -> Result<&'static dyn StepKind> {
    let wanted = workload.wanted();
    if wanted > MAX_PODS {
        return Err(Error::new(
            ErrorKind::Malformed,
            format!("{} has {wanted} replicas; step works with at most {MAX_PODS}", workload.target()),
        ));
    }
    match workload.kind().step {
        Ok(StepBy::Partition) => Ok(&StatefulSets),
        Ok(StepBy::PodDeletion) => Ok(&DaemonSets),
        Ok(StepBy::UpdateBudget) => Ok(&Deployments),
        Err(reason) => Err(Error::usage(format!("{} cannot be stepped: {reason}", workload.target()))),
    }
}

/// Returns the update strategy that holds a workload as it is (design rule 12).
///
/// # Errors
/// When its pods could not be read.
pub(super) fn holding_strategy(observed: &Observation) -> Result<Value> {
    if observed.workload.kind().step == Ok(StepBy::UpdateBudget) {
        check_leftovers(&observed.workload)?;
        return Ok(standing_hold(observed));
    }
    Ok(hold::hold_method(observed)?.strategy(&observed.workload))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn two_billion_replicas_are_refused_before_slots_are_allocated() {
        let refusal = |replicas: i64| {
            let set =
                json!({"kind": "StatefulSet", "metadata": {"name": "db"}, "spec": {"replicas": replicas}});
            step_kind(&Workload::of_json(&set).unwrap()).err().map(|error| error.sentence())
        };
        assert_eq!(refusal(100_000), None);
        let expected = "statefulset/db has 2147483647 replicas; step works with at most 100000";
        assert_eq!(refusal(i64::from(i32::MAX)).as_deref(), Some(expected));
    }
}
