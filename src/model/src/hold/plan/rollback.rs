//! The annotation during a rollback of a plan.
//!
//! One patch writes the old template and usually the original strategy, so that the controller rolls the pods back
//! without `step`. The annotation stays, with `rollingBack`, until a second patch removes it after all pods are rolled
//! back. If the process dies before, the next `step` writes the second patch.
//!
//! Where the original partition counts pods, it may leave released pods on the failed revision. In this case a partition of 0
//! holds until they are rolled back, and the second patch restores the strategy too.
//!
//! The annotation names the revision from which the plan began, and a rollback writes its template. It must be stored, and not be
//! the live one. Whoever may write the annotation may write the template too.

use crate::hold::held::Hold;
use crate::kind::Workload;
use crate::kind::fields::HoldFields;
use crate::observation::Observation;
use crate::text::json::Digest;

/// Whether the plan of a workload is rolling back to the live template, whether or not its hold is in force.
#[must_use]
pub fn is_rolling_back(workload: &Workload) -> bool {
    workload.held().stored().is_some_and(|hold| hold.is_rolling_back_to_live_template(workload))
}

/// Whether the plan of a workload is rolling back to the live template, and its hold is in force.
#[must_use]
pub fn is_rollback_held(workload: &Workload) -> bool {
    workload.held().in_force().is_some_and(|hold| hold.is_rolling_back_to_live_template(workload))
}

/// Returns the hold of a rollback whose pods are all back. Whoever finds it restores the original strategy: until then a
/// lower partition lets the next change replace every pod.
#[must_use]
pub fn completed_rollback(observed: &Observation) -> Option<Hold> {
    let workload = &observed.workload;
    observed.revisions.current()?;
    let hold = workload.held().in_force().filter(|hold| hold.is_rolling_back_to_live_template(workload))?;
    let is_back = observed.pods.is_some() && observed.outdated_pods().next().is_none();
    (is_back && workload.is_observed() && workload.is_update_reported_stable()).then(|| hold.clone())
}

impl Hold {
    /// Returns the hold during the rollback to a template, if the original strategy would leave released pods on the failed
    /// revision.
    #[must_use]
    pub fn rolling_back_held(&self, workload: &Workload, template: &Digest) -> Option<Self> {
        self.plan.as_ref().filter(|_| self.is_in_force(workload))?;
        let mechanism = workload.mechanism().ok()?;
        Some(self.rolling_back(template, mechanism.fields_of_rollback(workload, &self.strategy)?))
    }

    /// Returns the hold during the rollback to a template, by these fields; by none if the patch of the rollback restores the
    /// original strategy.
    #[must_use]
    pub fn rolling_back(&self, template: &Digest, set: HoldFields) -> Self {
        let mut hold = Self { set, ..self.clone() };
        if let Some(plan) = &mut hold.plan {
            (plan.template, plan.rolling_back) = (template.hex(), true);
        }
        hold
    }

    /// Whether it is the hold of a rollback whose patch restored the original strategy.
    #[must_use]
    pub fn holds_nothing(&self) -> bool {
        self.is_rolling_back() && self.set.are_absent()
    }
}
