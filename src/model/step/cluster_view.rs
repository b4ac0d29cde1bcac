//! The latest state of the cluster, from watches and refreshes.

use std::collections::BTreeSet;

use super::kind_lookup::state_of;
use super::request::Request;
use super::start::find_plan;
use super::state::State;
use crate::model::api::node::Node;
use crate::model::follow::{self, Now, TargetEvent};
use crate::model::hold::plan::PlanRecord;
use crate::model::kind::Workload;
use crate::model::observation::Observation;

/// The latest state of the cluster, from watches and refreshes.
#[derive(Debug)]
pub(super) struct ClusterView {
    /// The workload as it was found. Used until the first refresh.
    found: Workload,
    view: follow::ObservationBuilder,
    /// The nodes; none when listing nodes is forbidden.
    pub(super) nodes: Option<Vec<Node>>,
    /// The plan in the annotation, if it is readable.
    record: Option<PlanRecord>,
    /// The last plan in the annotation, kept to show its outcome.
    last_record: Option<PlanRecord>,
}

impl ClusterView {
    pub(super) fn new(found: Workload) -> Self {
        let view = follow::ObservationBuilder::new();
        Self { found, view, nodes: None, record: None, last_record: None }
    }

    pub(super) fn workload(&self) -> &Workload {
        self.observed().map_or(&self.found, |observed| &observed.workload)
    }

    pub(super) fn observed(&self) -> Option<&Observation> {
        self.view.observation()
    }

    /// Returns the plan in the annotation, if it is readable.
    pub(super) fn record(&self) -> Option<&PlanRecord> {
        self.record.as_ref()
    }

    /// Returns the plan to show: the present one, the last one, or the one that the command would begin.
    pub(super) fn record_to_show(&self, request: &Request) -> Option<PlanRecord> {
        let known = self.last_record.clone();
        known.or_else(|| find_plan(request, self.observed()?).ok().map(|start| start.record))
    }

    /// Returns the nodes; none when listing nodes is forbidden.
    pub(super) fn nodes(&self) -> Option<&[Node]> {
        self.nodes.as_deref()
    }

    /// Returns the state of the plan in the annotation; none before the first refresh, and without a readable plan. The
    /// `tolerated` slots do not count.
    pub(super) fn state(&self, tolerated: &BTreeSet<String>, now: Now) -> Option<State<'_>> {
        let mut state = state_of(self.observed()?, self.nodes(), self.record.as_ref()?, now).ok()?;
        state.tolerate(tolerated);
        Some(state)
    }

    /// Whether the workload was deleted and created again under the same name.
    pub(super) fn is_recreated(&self, workload: &Workload) -> bool {
        workload.object().uid() != self.found.object().uid()
    }

    /// Applies an event. Only the latest state of the workload is kept.
    pub(super) fn apply(&mut self, event: TargetEvent) {
        let is_of_pods =
            matches!(event, TargetEvent::Pods(_) | TargetEvent::Revisions(_) | TargetEvent::Warnings(_));
        let keeps_workload = is_of_pods && self.observed().is_some();
        let mut later = self.view.apply(event);
        while let Some(workload) = later.pop_front() {
            later.extend(self.view.apply(TargetEvent::Workload(Box::new(workload))));
        }
        if let Some(observed) = self.view.observation().filter(|_| !keeps_workload) {
            self.record = PlanRecord::of(&observed.workload).ok().flatten();
            self.last_record = self.record.clone().or(self.last_record.take());
        }
    }

    /// Applies the workload of a watch event or a response, unless a newer one is known. A watch can lag behind
    /// a response, and a response behind a watch.
    pub(super) fn apply_workload(&mut self, workload: Box<Workload>) {
        if !self.knows_newer(&workload) {
            self.apply(TargetEvent::Workload(workload));
        }
    }

    /// Applies a refresh. A newer workload from a watch is kept. Returns false if that has another spec, because the
    /// refresh does not match it.
    pub(super) fn apply_refresh(&mut self, mut observed: Box<Observation>) -> bool {
        if let Some(known) = self.observed().map(|known| &known.workload)
            && self.knows_newer(&observed.workload)
        {
            if known.object().generation() != observed.workload.object().generation() {
                return false;
            }
            observed.workload = known.clone();
        }
        self.apply(TargetEvent::Refreshed(observed));
        true
    }

    /// Whether a newer state of the workload is known.
    fn knows_newer(&self, workload: &Workload) -> bool {
        let known = self.observed().and_then(|observed| observed.workload.object().version_number());
        known.zip(workload.object().version_number()).is_some_and(|(known, version)| known > version)
    }
}
