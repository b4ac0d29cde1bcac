//! The annotation during a rollback of a plan.
//!
//! One patch writes the old template and usually the original strategy, so that the controller rolls the pods back
//! without `step`. The annotation stays, with `rollingBack`, until a second patch removes it after all pods are rolled
//! back. If the process dies before, the next `step` writes the second patch.
//!
//! Where the original partition counts pods, it may leave released pods on the failed revision. In this case a partition of 0
//! holds until they are rolled back, and the second patch restores the strategy too.
//!
//! The annotation names the revision from which the plan began, and a rollback writes its template. A client that may write
//! annotations could so choose a template, by the rights of the user who continues the plan. [`StartRevision`] tells
//! whether the revisions and their pods confirm it.

use super::schema::Plan;
use crate::hold::held::Hold;
use crate::kind::Workload;
use crate::kind::fields::HoldFields;
use crate::observation::Observation;
use crate::revision::Revision;
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

/// What the revisions and their pods show about the revision from which a plan began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartRevision {
    /// It still serves, or it is the one before the live one while no other revision has a pod. Also without a revision
    /// in the plan, or in the cluster, to roll back to.
    Confirmed,
    /// No outdated pod is left, and the revision is not the one before the live one.
    Unknown,
    /// Outdated pods run other revisions.
    Contradicted {
        /// The labels of the revisions that they run.
        by: Vec<String>,
    },
}

impl StartRevision {
    /// Compares the revision of a plan with those that the outdated pods run: the ready ones first.
    #[must_use]
    pub fn of(observed: &Observation, plan: &Plan) -> Self {
        let replaced = || observed.replaced_revisions();
        let is_start = |revision: &&Revision| plan.from.as_ref() == Some(&revision.name);
        if !replaced().any(|revision| is_start(&revision)) {
            return Self::Confirmed;
        }
        let count = observed.pod_counts_or_status();
        let mut running: Vec<_> = replaced().filter(|revision| count(revision).ready > 0).collect();
        if running.is_empty() {
            running = replaced().filter(|revision| count(revision).total > 0).collect();
        }
        match replaced().next_back().filter(|_| running.is_empty()) {
            Some(newest) if is_start(&newest) => Self::Confirmed,
            Some(_) => Self::Unknown,
            None if running.iter().any(is_start) => Self::Confirmed,
            None => Self::Contradicted { by: running.iter().map(|revision| revision.label()).collect() },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::hold::plan::{Pace, Reach};
    use crate::observation::fixture::{self, pod, revision, template};

    /// A Deployment with the revisions 1 to 4, of which 4 is the live one, and pods by revision and readiness.
    fn observation(pods: &[(i64, bool)]) -> Observation {
        let image = |number: i64| template(&format!("app:{number}"));
        let name = |number: i64| format!("web-{number}");
        let object = json!({"kind": "Deployment", "metadata": {"name": "web", "uid": "u"}, "spec": {"template": image(4)}});
        let revisions = (1..=4).map(|number| revision(&name(number), number, &image(number)));
        let pods = pods.iter().map(|(number, ready)| pod("Deployment", "p", &name(*number), *ready));
        fixture::observation(&object, revisions, pods)
    }

    #[test]
    fn the_revision_of_a_plan_is_one_that_serves() {
        let contradicted = |by: &[&str]| StartRevision::Contradicted {
            by: by.iter().map(|label| (*label).to_owned()).collect(),
        };
        for (from, pods, expected) in [
            (2, &[(2, true), (4, true)][..], StartRevision::Confirmed),
            (2, &[(2, true), (3, true), (4, true)], StartRevision::Confirmed),
            (1, &[(2, true), (3, true), (4, true)], contradicted(&["2", "3"])),
            (1, &[(1, false), (2, true), (4, true)], contradicted(&["2"])),
            (2, &[(2, false), (4, true)], StartRevision::Confirmed),
            (1, &[(2, false), (4, true)], contradicted(&["2"])),
            (3, &[(4, true)], StartRevision::Confirmed),
            (1, &[(4, true)], StartRevision::Unknown),
            (4, &[(1, true)], StartRevision::Confirmed), // the live one, to which nothing rolls back
            (9, &[(1, true)], StartRevision::Confirmed), // not stored
        ] {
            let observed = observation(pods);
            let digest = observed.workload.template_digest();
            let plan = Plan::new(&digest, Some(format!("web-{from}")), Pace::default(), Reach::Next);
            assert_eq!(StartRevision::of(&observed, &plan), expected, "{from} {pods:?}");
        }
    }
}
