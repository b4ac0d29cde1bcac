//! The stepper: applies an event to the cluster, and lets the engine decide on it.

use std::collections::BTreeSet;
use std::time::Duration;

use super::cluster_view::ClusterView;
use super::engine::Engine;
use super::kind_lookup::state_of;
use super::outcome::{BatchFailure, StepOutcome};
use super::refusals::foretold_update;
use super::report::StepReport;
use super::request::{Request, StepCommand};
use super::task::{StepEvent, Task};
use super::view::PlanView;
use crate::model::change::effect::UpdatedPods;
use crate::model::follow::{Now, Output};
use crate::model::hold::plan::Lock;
use crate::model::kind::Workload;
use crate::model::observation::Observation;

/// Steps one workload. It does no I/O and has no clock. Its driver passes every event with its time to
/// [`Stepper::apply`], executes the [tasks](super::Task), and applies [`StepEvent::Tick`] when it is
/// [due](Stepper::due).
#[derive(Debug)]
pub struct Stepper {
    pub(super) cluster: ClusterView,
    pub(super) engine: Engine,
}

impl Stepper {
    /// Creates the stepper of a workload as it was found. It returns its first tasks from the first
    /// [`apply`](Self::apply), which may be of [`StepEvent::Tick`].
    #[must_use]
    pub fn new(request: Request, lock: Lock, found: Workload) -> Self {
        Self { cluster: ClusterView::new(found), engine: Engine::new(StepCommand { request, lock }) }
    }

    /// Applies one event and returns the reports and tasks that follow from it.
    pub fn apply(&mut self, event: StepEvent, now: Now) -> Output<StepReport, Task> {
        let Self { cluster, engine } = self;
        let (is_fresh, stored) = engine.receive(event, cluster, now);
        let mut state = cluster.state(now);
        engine.record_stored(stored, cluster, &mut state, now);
        engine.observe(cluster, &mut state, now);
        engine.proceed(is_fresh, cluster, &mut state, now);
        engine.take_output()
    }

    /// Returns when to apply [`StepEvent::Tick`] if no other event arrives earlier; none if only events matter.
    #[must_use]
    pub fn due(&self) -> Option<Duration> {
        self.engine.due
    }

    /// Returns the workload as last observed.
    #[must_use]
    pub fn workload(&self) -> &Workload {
        self.cluster.workload()
    }

    /// Returns the last observation; none before the first refresh.
    #[must_use]
    pub fn observed(&self) -> Option<&Observation> {
        self.cluster.observed()
    }

    /// Returns the outcome, once the command ended.
    #[must_use]
    pub fn outcome(&self) -> Option<&StepOutcome> {
        self.engine.outcome()
    }

    /// Returns the identity of this process in the lock.
    #[must_use]
    pub fn holder(&self) -> &str {
        &self.engine.command.lock.holder
    }

    /// Whether the command has its outcome, so that nothing but its lock is written any more.
    #[must_use]
    pub fn is_leaving(&self) -> bool {
        self.engine.leaving().is_some()
    }

    /// Returns the pods whose deletion was sent and got no response, and that are still there.
    #[must_use]
    pub fn unanswered(&self) -> Vec<String> {
        let sent: BTreeSet<&str> = self.engine.unanswered_deletions().collect();
        let pods = self.observed().into_iter().flat_map(Observation::own_pods).filter(|pod| pod.is_active());
        let pods = pods.filter(|pod| sent.contains(pod.name.as_str())).map(|pod| pod.name.clone());
        pods.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Returns the failure that caused the rollback, and the label of its revision, once the rollback is stored.
    #[must_use]
    pub fn rollback(&self) -> Option<(BatchFailure, &str)> {
        let rollback = &self.engine.memory.rollback;
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
        let record = self.cluster.record_to_show(&self.engine.command.request)?;
        let mut state = state_of(self.observed()?, self.cluster.nodes(), &record, now).ok()?;
        state.tolerate(&self.engine.memory.tolerated);
        Some(self.engine.view(&state))
    }
}
