//! The table of the kinds that can be stepped.

use super::counted_pods::StepCountedPods;
use super::daemon_set::StepDaemonSet;
use super::deployment::StepDeployment;
use super::partition::StepStatefulSet;
use super::state::{State, StepKind};
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::pod::Node;
use crate::model::engine::Now;
use crate::model::hold::plan::Hold;
use crate::model::kind::{HoldMethod, Workload, strategy};
use crate::model::observation::Observation;

/// The limit of pods in a plan. A slot takes some hundred bytes, and any client that may scale a StatefulSet can set
/// `spec.replicas` to 2147483647.
const MAX_PODS: i64 = 100_000;

/// Returns the implementation for the kind of a workload.
///
/// # Errors
/// When the kind cannot be stepped, with alternatives, and when the workload has more than [`MAX_PODS`] pods.
pub(super) fn step_kind(workload: &Workload) -> Result<&'static dyn StepKind> {
    let wanted = workload.wanted();
    if wanted > MAX_PODS {
        return Err(Error::new(
            ErrorKind::Malformed,
            format!("{} has {wanted} replicas; step works with at most {MAX_PODS}", workload.target()),
        ));
    }
    match workload.kind().hold_method() {
        Ok(HoldMethod::Partition) if strategy::partition_counts_pods(workload) => Ok(&StepCountedPods),
        Ok(HoldMethod::Partition) => Ok(&StepStatefulSet),
        Ok(HoldMethod::OnDelete) => Ok(&StepDaemonSet),
        Ok(HoldMethod::UpdateBudget) => Ok(&StepDeployment),
        Err(reason) => Err(Error::usage(format!("{} cannot be stepped: {reason}", workload.target()))),
    }
}

/// Returns the state of a plan.
///
/// # Errors
/// As [`step_kind`], and when the hold has no plan.
pub(super) fn state_of<'a>(
    observed: &'a Observation,
    nodes: Option<&'a [Node]>,
    hold: &'a Hold,
    now: Now,
) -> Result<State<'a>> {
    let (kind, plan) = (step_kind(&observed.workload)?, hold.require_plan(&observed.workload)?);
    Ok(State::new(kind, observed, nodes, hold, plan, now))
}

/// Whether `step` itself deletes the pods that it releases.
#[must_use]
pub fn deletes_pods(workload: &Workload) -> bool {
    workload.kind().hold_method() == Ok(HoldMethod::OnDelete)
}

/// Whether `step` releases a number of pods, and the controller chooses which ones.
#[must_use]
pub fn counts_pods(workload: &Workload) -> bool {
    step_kind(workload).is_ok_and(StepKind::counts_pods)
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
