//! What is shown of a plan: before a command, what it would begin or continue; then the view of its stepper.

use std::collections::BTreeSet;

use super::engine::Stepper;
use super::event::{BatchStage, Origin};
use super::kind_lookup::state_of;
use super::memory::Memory;
use super::next_batch::{next, too_many_unavailable};
use super::options::StepOptions;
use super::outcome::{RollbackOutcome, StepOutcome, StopReason};
use super::refusals::foretold_update;
use super::slot::PodSlot;
use super::start::{PreparedPlan, foreign_lock, nothing_to_release, prepare_plan};
use super::state::State;
use super::view::{PlanView, plan_view};
use crate::model::api::pod::Node;
use crate::model::change::effect::UpdatedPods;
use crate::model::engine::Now;
use crate::model::observation::Observation;
use crate::model::revision::Revision;

/// Returns the plan that a command would begin or continue. `ended` is the holder of the lock, if its process has ended on
/// this host.
///
/// # Errors
/// The outcome of a command that would end before it writes anything.
pub fn preview(
    options: &StepOptions,
    observed: &Observation,
    nodes: Option<&[Node]>,
    ended: Option<&str>,
    now: Now,
) -> Result<PlanView, StepOutcome> {
    let prepared = prepare_plan(options, observed)?;
    if prepared.hold.is_rolling_back() {
        return Err(rolling_back(observed, &prepared));
    }
    let has_to_end = prepared.has_to_end(&observed.workload);
    let held = prepared.as_held(observed);
    let observed = held.as_ref().unwrap_or(observed);
    let state = state_of(observed, nodes, &prepared.hold, now).map_err(StepOutcome::Error)?;
    state.kind.check_state(&state).map_err(StepOutcome::Error)?;
    if !has_to_end && !state.slots.iter().any(PodSlot::is_outdated) {
        return Err(nothing_to_release(&state));
    }
    Ok(PlanView {
        update: Some(foretold_update(state.observed)),
        stops: foreign_lock(options, &prepared.hold, ended).map(StopReason::Locked).or_else(|| stops(&state)),
        ..plan_view(&state, &Memory::default(), &[])
    })
}

/// Returns why the next batch cannot begin, if it cannot.
fn stops(state: &State<'_>) -> Option<StopReason> {
    match next(state) {
        _ if state.present_batch().is_some() => None,
        Ok(next) => too_many_unavailable(state, &next?),
        Err(reason) => Some(reason),
    }
}

fn rolling_back(observed: &Observation, prepared: &PreparedPlan) -> StepOutcome {
    let revision = observed.revisions.current().map(Revision::label).unwrap_or_default();
    let is_held = prepared.origin == Origin::Plan && prepared.hold.is_in_force(&observed.workload);
    let why = if is_held {
        "step waits for it, and then restores the original strategy"
    } else {
        "step waits for it"
    };
    let rollback = RollbackOutcome::Unfinished { revision, why: why.to_owned() };
    let failure = prepared.hold.plan.as_ref().and_then(|plan| plan.failure.clone());
    StepOutcome::Failed { failure, rollback: Some(rollback) }
}

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

    /// Foretells how outdated pods will be updated; none before the first observation.
    #[must_use]
    pub fn foretold_update(&self) -> Option<UpdatedPods> {
        self.observed().map(foretold_update)
    }

    /// Returns the state of the present plan, the last one, or else the one that the command would begin; none before the
    /// first observation.
    #[must_use]
    pub fn view(&self, now: Now) -> Option<PlanView> {
        let observed = self.observed()?;
        let planned = || Some(prepare_plan(&self.options, observed).ok()?.hold);
        let hold = self.cluster.last_hold().cloned().or_else(planned)?;
        let mut state = state_of(observed, self.cluster.nodes(), &hold, now).ok()?;
        state.tolerate(&self.memory.tolerated);
        Some(self.view_of(&state))
    }

    /// Returns the state of the plan for display.
    pub(super) fn view_of(&self, state: &State<'_>) -> PlanView {
        let rollback = &self.memory.rollback;
        let mut view = plan_view(state, &self.memory, self.reporter.batches());
        let outcome = self.ending.as_ref().map(|(outcome, _)| outcome).or(self.outcome());
        let has_failed = rollback.failure.is_some() || matches!(outcome, Some(StepOutcome::Failed { .. }));
        let failed = state.plan().batch_in_progress().map(|batch| batch.number).filter(|_| has_failed);
        for batch in view.batches.iter_mut().filter(|batch| Some(batch.number) == failed) {
            batch.stage = BatchStage::Failed;
        }
        if view.is_rolling_back {
            view.batches.clone_from(&rollback.failed_batches); // the present pods are those of the rollback
            view.to = rollback.revision.clone().or(view.to); // the controller gives it a new number
            view.has_more_batches = false;
        }
        view
    }
}
