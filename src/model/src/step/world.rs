//! The latest state of the cluster, from watches and refreshes.

use std::sync::Arc;

use super::state_of;
use crate::api::pod::Node;
use crate::engine::Now;
use crate::hold::held::Held;
use crate::hold::mechanism::State;
use crate::hold::plan::Hold;
use crate::kind::Workload;
use crate::observation::Observation;

/// The latest state of the cluster, from watches and refreshes. A clone is cheap: an event is decided on one.
#[derive(Clone, Debug)]
pub(super) struct World {
    /// The workload as it was found. Used until the first refresh.
    found: Arc<Workload>,
    observed: Option<Arc<Observation>>,
    /// The nodes; none when listing nodes is forbidden.
    pub(super) nodes: Option<Arc<[Node]>>,
    /// The hold of the present plan, or of the last one, kept to show its outcome.
    pub(super) last_hold: Option<Arc<Hold>>,
}

impl World {
    pub(super) fn new(found: Workload) -> Self {
        Self { found: Arc::new(found), observed: None, nodes: None, last_hold: None }
    }

    pub(super) fn workload(&self) -> &Workload {
        self.observed().map_or(&self.found, |observed| &observed.workload)
    }

    pub(super) fn observed(&self) -> Option<&Observation> {
        self.observed.as_deref()
    }

    /// Returns the hold of the plan, if it is readable.
    pub(super) fn hold(&self) -> Option<&Hold> {
        self.observed()?.workload.held().stored().filter(|hold| hold.has_plan())
    }

    /// Returns the state of the plan in the annotation; none before the first observation, and without a readable plan.
    pub(super) fn state(&self, is_forced: bool, now: Now) -> Option<State<'_>> {
        let mut state = state_of(self.observed()?, self.nodes.as_deref(), self.hold()?, now).ok()?;
        state.is_forced = is_forced;
        Some(state)
    }

    /// Whether the workload was deleted and created again under the same name.
    pub(super) fn is_recreated(&self, workload: &Workload) -> bool {
        workload.object().uid() != self.found.object().uid()
    }

    /// Applies the workload of a response, unless a newer one is known from a watch.
    pub(super) fn apply_workload(&mut self, workload: Workload) {
        if self.knows_newer(&workload) {
            return;
        }
        if let Some(observed) = &mut self.observed {
            Arc::make_mut(observed).replace_workload(workload);
        }
        self.keep_hold();
    }

    /// Applies an observation. A newer workload from a response is kept. Ignores the observation and returns false if that
    /// has another spec, because the observation does not match it.
    pub(super) fn apply(&mut self, mut observed: Observation) -> bool {
        if let Some(known) = self.observed().map(|known| &known.workload)
            && self.knows_newer(&observed.workload)
        {
            if known.object().generation() != observed.workload.object().generation() {
                return false;
            }
            observed.replace_workload(known.clone());
        }
        self.observed = Some(Arc::new(observed));
        self.keep_hold();
        true
    }

    fn keep_hold(&mut self) {
        let held = self.observed().map(|observed| observed.workload.held());
        if let Some(Held::Plan(hold) | Held::Ended(hold)) = held
            && hold.has_plan()
        {
            self.last_hold = Some(Arc::clone(hold));
        }
    }

    /// Whether a newer state of the workload is known.
    fn knows_newer(&self, workload: &Workload) -> bool {
        let known = self.observed().and_then(|observed| observed.workload.object().version_number());
        known.zip(workload.object().version_number()).is_some_and(|(known, version)| known > version)
    }
}
