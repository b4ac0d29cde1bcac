//! What watches and refreshes have shown so far.

use super::action::Situation;
use super::existing::find;
use super::kind::step_kind;
use super::request::Request;
use super::slot::PlanContext;
use super::state::Slots;
use crate::model::api::node::Node;
use crate::model::change::hold::{HOLD_ANNOTATION, PlanRecord};
use crate::model::follow::{self, Now, TargetEvent};
use crate::model::status::observation::Observation;
use crate::model::workload::Workload;

/// What watches and refreshes have shown so far.
#[derive(Debug)]
pub(super) struct ClusterView {
    /// The workload as it was found, until everything was read.
    found: Workload,
    view: follow::ObservationBuilder,
    nodes: Option<Vec<Node>>,
    /// The annotation, and the plan in it if it is readable.
    annotation: Option<String>,
    /// How many pods were wanted, which the batch of the plan depends on.
    wanted: i64,
    record: Option<PlanRecord>,
    /// The last plan that was there, to show how it ended.
    last_record: Option<PlanRecord>,
}

impl ClusterView {
    pub(super) fn new(found: Workload) -> Self {
        let view = follow::ObservationBuilder::new();
        Self { found, view, nodes: None, annotation: None, wanted: 0, record: None, last_record: None }
    }

    pub(super) fn workload(&self) -> &Workload {
        self.observed().map_or(&self.found, |observed| &observed.workload)
    }

    pub(super) fn observed(&self) -> Option<&Observation> {
        self.view.observation()
    }

    /// The plan in the annotation, if it is readable.
    pub(super) fn record(&self) -> Option<&PlanRecord> {
        self.record.as_ref()
    }

    /// The plan to show: the one that is there, was there last, or would begin.
    pub(super) fn record_to_show(&self, request: &Request) -> Option<PlanRecord> {
        let known = self.last_record.clone();
        known.or_else(|| find(request, self.observed()?).ok().map(|existing| existing.record))
    }

    /// Everything that is known, once everything was read.
    pub(super) fn situation(&self, now: Now) -> Option<Situation<'_>> {
        let observed = self.observed()?;
        let (record, nodes) = (self.record.as_ref(), self.nodes.as_deref());
        let slots = record.and_then(|record| {
            let kind = step_kind(&observed.workload).ok()?;
            Some(Slots::of(kind, PlanContext { observed, nodes, record, now }))
        });
        Some(Situation { observed, nodes, record, slots, now })
    }

    /// Whether a workload has the name of the one that was found, and is another.
    pub(super) fn is_recreated(&self, workload: &Workload) -> bool {
        workload.object().uid() != self.found.object().uid()
    }

    pub(super) fn take_nodes(&mut self, nodes: Option<Vec<Node>>) {
        self.nodes = nodes;
    }

    /// Takes in a fact. Only the last state of the workload counts.
    pub(super) fn take(&mut self, news: TargetEvent) {
        let mut later = self.view.take(news);
        while let Some(workload) = later.pop_front() {
            later.extend(self.view.take(TargetEvent::Workload(Box::new(workload))));
        }
        let Some(observed) = self.view.observation() else { return };
        let annotation = observed.workload.object().annotation(HOLD_ANNOTATION);
        let wanted = observed.workload.wanted();
        if self.annotation.as_deref() != annotation || self.wanted != wanted {
            self.wanted = wanted;
            self.annotation = annotation.map(str::to_owned);
            self.record = PlanRecord::of(&observed.workload).ok().flatten();
            self.last_record = self.record.clone().or(self.last_record.take());
        }
    }

    /// Takes in the workload of a watch or of an answer, unless a newer one is known: watches lag behind answers,
    /// and answers behind watches of a quick controller.
    pub(super) fn take_workload(&mut self, workload: Box<Workload>) {
        if !self.knows_newer(&workload) {
            self.take(TargetEvent::Workload(workload));
        }
    }

    /// Takes in a refresh. A watch may have shown a newer workload meanwhile, which counts. Returns false if that
    /// has another spec, so that the refresh does not fit it.
    pub(super) fn take_refresh(&mut self, mut observed: Box<Observation>) -> bool {
        if let Some(known) = self.observed().map(|known| &known.workload)
            && self.knows_newer(&observed.workload)
        {
            if known.object().generation() != observed.workload.object().generation() {
                return false;
            }
            observed.workload = known.clone();
        }
        self.take(TargetEvent::Refreshed(observed));
        true
    }

    /// Whether a newer state of the workload is known. Resource versions are numbers that can be compared.
    fn knows_newer(&self, workload: &Workload) -> bool {
        let version = |workload: &Workload| {
            let version = workload.object().text("/metadata/resourceVersion");
            version.and_then(|text| text.parse::<u64>().ok())
        };
        let known = self.observed().and_then(|observed| version(&observed.workload));
        known.zip(version(workload)).is_some_and(|(known, version)| known > version)
    }
}
