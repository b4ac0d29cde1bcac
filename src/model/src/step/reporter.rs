//! Compares each observation with the last reports, so that each change is reported once.

use std::collections::{BTreeSet, HashMap};
use std::mem::{Discriminant, discriminant};
use std::time::Duration;

use super::event::{BatchStage, StepReport};
use super::memory::Memory;
use super::view::{batch, stage};
use crate::api::count::as_number;
use crate::engine::{Now, PodRef};
use crate::hold::mechanism::State;
use crate::hold::plan::PlannedBatch;
use crate::hold::slot::Slot;

/// Records the last reports.
#[derive(Debug, Default)]
pub(super) struct ChangeReporter {
    /// The reports since the last event.
    pub(super) reports: Vec<StepReport>,
    /// The batch that began last, and its stage.
    stage: Option<(PlannedBatch, BatchStage)>,
    /// What the command waits for, and since when; no time once that is reported.
    pub(super) waiting: Option<(String, Option<Duration>)>,
    /// The last report of each kind that [`report_once`](Self::report_once) made.
    last: HashMap<Discriminant<StepReport>, StepReport>,
    /// The uids of the pods whose eviction was refused.
    refused: BTreeSet<String>,
    /// The slots that ran the new revision in an earlier observation, or were released in a batch; none before the first one.
    known: Option<BTreeSet<String>>,
    /// The number of slots in the last observation.
    wanted: Option<usize>,
    skipped: Vec<String>,
    /// The batches that this process observed.
    pub(super) batches: Vec<PlannedBatch>,
}

/// How long a wait lasts before it is reported.
const REPORT_AFTER: Duration = Duration::from_secs(5);

impl ChangeReporter {
    /// Reports the changes since the last observation.
    pub(super) fn observe(&mut self, state: &State<'_>, memory: &Memory, interruption: Option<StepReport>) {
        let is_soaking = matches!(self.stage, Some((_, BatchStage::Soaking { .. } | BatchStage::Checking)));
        self.reports.extend(interruption.filter(|_| is_soaking));
        // After a failure, or after another client ended the hold, it has no stage.
        let has_stage = memory.rollback.failure.is_none() && state.hold.is_in_force(state.workload());
        if has_stage {
            self.stage(state, memory);
        }
        self.observe_slots(state, has_stage);
        let skipped = state.skipped();
        if skipped != self.skipped {
            self.skipped.clone_from(&skipped);
            self.report(StepReport::Skipped(skipped));
        }
    }

    /// Reports the slots of the present batch that were released, and what the controller did beside the plan: pods on the
    /// new revision that are in no batch, or where pods are only counted, another number of them.
    fn observe_slots(&mut self, state: &State<'_>, has_stage: bool) {
        let (wanted, counts_pods) = (state.slots.len(), state.mechanism.counts_pods());
        if let Some(from) = self.wanted.replace(wanted).filter(|from| *from != wanted && counts_pods) {
            self.report(StepReport::Scaled { from: as_number(from), to: as_number(wanted) });
            self.known = None; // other pods have the numbers
        }
        let Some(known) = &mut self.known else {
            let known = state.slots.iter().filter(|slot| !slot.state.is_held());
            self.known = Some(known.map(|slot| slot.key.clone()).collect());
            return;
        };
        let is_new = |slot: &&Slot<'_>| {
            (slot.state.is_updated() || !slot.state.is_held() && state.is_in_batch(slot))
                && known.insert(slot.key.clone())
        };
        let (of_batch, others): (Vec<_>, Vec<_>) =
            state.slots.iter().filter(is_new).partition(|slot| slot.batch.is_some());
        if let Some(batch) = state.present_batch.filter(|_| has_stage) {
            let released = of_batch.into_iter().map(Slot::label);
            self.reports.extend(released.map(|slot| StepReport::Released { batch: batch.number, slot }));
        }
        // After another client changed the template, pods that never moved may count as updated.
        if !others.is_empty() && !counts_pods && state.plan.is_for_live_template(state.workload()) {
            self.report(StepReport::AddedByController(others.into_iter().map(Slot::label).collect()));
        }
    }

    /// Reports the stage of the batch that began last if it changed. A batch whose slots are gone keeps its stage: the
    /// controller of a DaemonSet counts a missing pod only later.
    pub(super) fn stage(&mut self, state: &State<'_>, memory: &Memory) {
        let Some(planned) = &state.plan.last_batch else { return };
        let before = self.stage.take().filter(|(before, _)| before.number == planned.number);
        let before = before.map(|(_, reported)| reported);
        let now = match state.present_batch {
            None if planned.done => BatchStage::Done { healthy: memory.healthy(state) },
            None => before.clone().unwrap_or(BatchStage::Waiting),
            Some(_) => match stage(state, memory) {
                BatchStage::Soaking { of, .. } if of.is_zero() => {
                    before.clone().unwrap_or(BatchStage::Waiting)
                }
                present => present,
            },
        };
        let is_reported = match &before {
            Some(before) => discriminant(before) == discriminant(&now),
            // Another process has done the batch, or it soaks for nothing.
            None => matches!(now, BatchStage::Done { .. } | BatchStage::Waiting),
        };
        if !is_reported {
            self.report(StepReport::Batch(batch(state, planned, now.clone())));
        }
        if before.is_none() {
            self.batches.push(planned.clone());
        }
        self.stage = Some((planned.clone(), now));
    }

    /// Reports a wait after [`REPORT_AFTER`].
    pub(super) fn wait(&mut self, what: String, now: Now) {
        let since = match self.waiting.take() {
            Some((before, since)) if before == what => since,
            _ => Some(now.elapsed),
        };
        let is_due = since.is_some_and(|since| now.elapsed >= since + REPORT_AFTER);
        if is_due {
            self.report(StepReport::Waiting(what.clone()));
        }
        self.waiting = Some((what, since.filter(|_| !is_due)));
    }

    /// Reports this unless it equals the last such report of the same kind.
    pub(super) fn report_once(&mut self, report: StepReport) {
        if self.last.insert(discriminant(&report), report.clone()).as_ref() != Some(&report) {
            self.report(report);
        }
    }

    /// Reports that a PodDisruptionBudget refused an eviction, once for each pod.
    pub(super) fn eviction_refused(&mut self, pod: PodRef, message: String) {
        if self.refused.insert(pod.uid) {
            self.report(StepReport::EvictionRefused { pod: pod.name, message });
        }
    }

    pub(super) fn report(&mut self, report: StepReport) {
        self.reports.push(report);
    }
}
