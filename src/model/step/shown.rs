//! What a stepper shows: its view of the plan, and what its hints need.

use std::collections::BTreeSet;

use super::engine::Stepper;
use super::kind_lookup::state_of;
use super::outcome::{BatchFailure, StepOutcome};
use super::refusals::foretold_update;
use super::state::State;
use super::view::{BatchStage, PlanView};
use super::view_builder::plan_view;
use crate::model::change::effect::UpdatedPods;
use crate::model::engine::Now;
use crate::model::observation::Observation;

impl Stepper {
    /// Returns the identity of this process in the lock.
    #[must_use]
    pub fn holder(&self) -> &str {
        &self.memory.ownership.own.holder
    }

    /// Returns the pods whose deletion was sent and got no response, and that are still there.
    #[must_use]
    pub fn unanswered(&self) -> Vec<String> {
        let sent: BTreeSet<&str> = self.unanswered_deletions().collect();
        let pods = self.observed().into_iter().flat_map(Observation::own_pods).filter(|pod| pod.is_active());
        let pods = pods.filter(|pod| sent.contains(pod.name.as_str())).map(|pod| pod.name.clone());
        pods.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Returns the failure that caused the rollback, and the label of its revision, once the rollback is stored.
    #[must_use]
    pub fn rollback(&self) -> Option<(BatchFailure, &str)> {
        let rollback = &self.memory.rollback;
        let revision = rollback.revision.as_deref()?;
        Some((rollback.failure.clone().unwrap_or(BatchFailure::Earlier), revision))
    }

    /// Foretells how outdated pods will be updated; none before the first refresh.
    #[must_use]
    pub fn foretold_update(&self) -> Option<UpdatedPods> {
        self.observed().map(foretold_update)
    }

    /// Returns the state of the plan; none before the first refresh, and without a plan.
    #[must_use]
    pub fn view(&self, now: Now) -> Option<PlanView> {
        let record = self.cluster.record_to_show(&self.options)?;
        let mut state = state_of(self.observed()?, self.cluster.nodes(), &record, now).ok()?;
        state.tolerate(&self.memory.tolerated);
        Some(self.view_of(&state))
    }

    /// Returns the state of the plan for display.
    pub(super) fn view_of(&self, state: &State<'_>) -> PlanView {
        let rollback = &self.memory.rollback;
        let mut view = plan_view(state, &self.memory, self.reporter.batches());
        let outcome = self.leaving().or(self.outcome());
        let has_failed = rollback.failure.is_some() || matches!(outcome, Some(StepOutcome::Failed { .. }));
        let failed = state.plan().batch_in_progress().map(|batch| batch.number).filter(|_| has_failed);
        for batch in view.batches.iter_mut().filter(|batch| Some(batch.number) == failed) {
            batch.stage = BatchStage::Failed;
        }
        if view.is_rolling_back {
            view.batches.clone_from(&rollback.failed_batches); // the present pods are those of the rollback
            view.has_more_batches = false;
        }
        view
    }
}
