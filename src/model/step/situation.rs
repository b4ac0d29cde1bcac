//! The input of `reconcile`: the command, and everything that was observed at one moment.

use super::kind_lookup::step_kind;
use super::request::{Identity, Request};
use super::slot::PlanContext;
use super::state::{PlanState, Slots};
use super::timers::Timers;
use crate::error::Result;
use crate::model::api::node::Node;
use crate::model::change::plan::PlanRecord;
use crate::model::follow::Now;
use crate::model::status::observation::Observation;

/// One `step` command: its request, and the identity of its process.
#[derive(Debug)]
pub(super) struct StepCommand {
    pub(super) request: Request,
    pub(super) identity: Identity,
}

/// Everything that was observed at one moment.
pub(super) struct Situation<'a> {
    pub(super) observed: &'a Observation,
    /// The nodes; none when listing nodes is forbidden.
    pub(super) nodes: Option<&'a [Node]>,
    /// The plan in the annotation, if there is one that is readable.
    pub(super) record: Option<&'a PlanRecord>,
    /// The slots of that plan.
    pub(super) slots: Option<Slots<'a>>,
    pub(super) now: Now,
}

impl Situation<'_> {
    /// Returns the context for a plan that is not stored yet.
    pub(super) fn with<'b>(&'b self, record: &'b PlanRecord) -> PlanContext<'b> {
        PlanContext::new(self.observed, self.nodes, record, self.now)
    }

    /// Returns the slots of a plan that is not stored yet.
    pub(super) fn slots_of<'b>(&'b self, record: &'b PlanRecord) -> Result<Slots<'b>> {
        Ok(Slots::of(step_kind(&self.observed.workload)?, self.with(record)))
    }

    /// Whether the controller has observed the workload as it is now. It stores no revision of a template while the
    /// workload is paused.
    pub(super) fn is_observed(&self) -> bool {
        let workload = &self.observed.workload;
        let is_paused = workload.is_paused() && self.observed.revisions.current().is_none();
        self.observed.is_observed() || is_paused && workload.is_observed()
    }

    /// Returns the state of the plan in the annotation.
    pub(super) fn state<'b>(&'b self, timers: &'b Timers) -> Option<PlanState<'b>> {
        Some(PlanState { slots: self.slots.as_ref()?, timers })
    }
}
