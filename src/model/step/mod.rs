//! `step`: releases an update batch by batch, with checks that no controller makes.
//!
//! A level-triggered reconciler. [`Stepper`] receives events, and does no I/O and has no clock:
//!
//! ```text
//! on an event:
//!     receive the event                           answers.rs, cluster_view.rs
//!     state = the observation, the plan in its annotation, and the pod slots    state.rs
//!     report what changed                         reporter.rs
//!     if the observation is fresh and no request is in flight:
//!         action = reconcile(state, memory)       reconcile.rs
//!         perform the action                      engine.rs: one write, or one wave of guarded deletions
//! ```
//!
//! Watches, timers and finished requests only wake the loop: an action that they suggest is decided again on
//! a fresh observation before it is executed. What a process measures itself (`memory.rs`) can be lost at any time;
//! then it waits longer.

mod action;
mod answers;
mod batch;
mod causes;
mod cluster_view;
mod counted_pods;
mod daemon_set;
mod deployment;
mod engine;
mod event;
mod kind_lookup;
mod memory;
mod next_batch;
mod node_selection;
mod outcome;
mod ownership;
mod partition;
mod preview;
mod reconcile;
mod refusals;
mod reporter;
mod request;
mod rollback;
mod slot;
mod soak;
mod start;
mod state;
mod stateful_set;
mod view;
mod view_builder;

#[cfg(test)]
mod tests;

pub use event::{DeletionResult, Origin, StepEvent, StepReport, Task, WriteResult};
pub use kind_lookup::{counts_pods, deletes_pods};
pub use outcome::{BatchFailure, CheckResult, RollbackOutcome, StepOutcome, StopReason};
pub use preview::preview;
pub use request::{CheckOverride, PaceOverrides, Request};
pub use view::{Batch, BatchStage, PlanView, SlotState, SlotView};

use std::collections::BTreeSet;
use std::time::Duration;

use self::cluster_view::ClusterView;
use self::engine::Engine;
use self::kind_lookup::state_of;
use self::memory::Memory;
use self::refusals::foretold_update;
use crate::model::change::effect::UpdatedPods;
use crate::model::follow::{Now, Output};
use crate::model::hold::plan::Lock;
use crate::model::kind::Workload;
use crate::model::observation::Observation;

/// Steps one workload. It does no I/O and has no clock. Its driver passes every event with its time to
/// [`Stepper::apply`], executes the [tasks](Task), and applies [`StepEvent::Tick`] when it is
/// [due](Stepper::due).
#[derive(Debug)]
pub struct Stepper {
    cluster: ClusterView,
    engine: Engine,
}

impl Stepper {
    /// Creates the stepper of a workload as it was found. It returns its first tasks from the first
    /// [`apply`](Self::apply), which may be of [`StepEvent::Tick`].
    #[must_use]
    pub fn new(request: Request, lock: Lock, found: Workload) -> Self {
        Self { cluster: ClusterView::new(found), engine: Engine::new(Memory::new(request, lock)) }
    }

    /// Applies one event and returns the reports and tasks that follow from it.
    pub fn apply(&mut self, event: StepEvent, now: Now) -> Output<StepReport, Task> {
        let Self { cluster, engine } = self;
        let (is_fresh, stored) = engine.receive(event, cluster, now);
        let mut state = cluster.state(&engine.memory.tolerated, now);
        if let Some(write) = stored {
            engine.report_stored(write, cluster, state.as_ref());
        }
        engine.observe(cluster, state.as_ref(), now);
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
        &self.engine.memory.lock.holder
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
        let record = self.cluster.record_to_show(&self.engine.memory.request)?;
        let mut state = state_of(self.observed()?, self.cluster.nodes(), &record, now).ok()?;
        state.tolerate(&self.engine.memory.tolerated);
        Some(self.engine.view(&state))
    }
}
