//! Compares each observation with the last reports, so that each change is reported once.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::discriminant;
use std::time::Duration;

use super::event::{BatchStage, BatchView, StepReport};
use super::memory::Memory;
use super::slot::PodSlot;
use super::soak::Interruption;
use super::state::State;
use super::view::{batch, stage};
use crate::model::engine::{Now, PodRef};
use crate::model::hold::plan::Plan;

/// Records the last reports.
#[derive(Debug, Default)]
pub(super) struct ChangeReporter {
    /// The reports since the last event.
    pub(super) reports: Vec<StepReport>,
    /// The stage of the batch that began last.
    stage: Option<(usize, BatchStage)>,
    /// What the command waits for, and since when; no time once that is reported.
    waiting: Option<(String, Option<Duration>)>,
    /// The last wait that was reported immediately, mostly for the response to a retried request.
    trouble: Option<String>,
    decision: Option<String>,
    /// The uid of the last stuck pod that was deleted.
    last_stuck_pod: Option<String>,
    /// The uids of the pods whose eviction was refused.
    refused: BTreeSet<String>,
    /// The slots that ran the new revision in an earlier observation, or were released; none before the first one.
    known: Option<BTreeSet<String>>,
    /// The number of slots in the last observation.
    wanted: Option<usize>,
    skipped: Vec<String>,
    has_final_soak: bool,
    /// The slots of the batches that this process observed, by number of the batch.
    batches: BTreeMap<usize, Vec<String>>,
}

/// How long a wait lasts before it is reported.
const REPORT_AFTER: Duration = Duration::from_secs(5);

impl ChangeReporter {
    /// Reports the changes since the last observation.
    pub(super) fn observe(&mut self, state: &State<'_>, interruption: Option<Interruption>) {
        let is_soaking = self.has_final_soak
            || matches!(self.stage, Some((_, BatchStage::Soaking { .. } | BatchStage::Checking)));
        if let Some((pod, why)) = interruption.filter(|_| is_soaking) {
            self.report(StepReport::SoakRestarted { pod, why: why.to_owned() });
        }
        self.observe_controller(state);
        let skipped = state.skipped();
        if skipped != self.skipped {
            self.skipped.clone_from(&skipped);
            self.report(StepReport::Skipped(skipped));
        }
    }

    /// Reports what the controller did beside the plan: pods on the new revision that are in no batch, or where pods are
    /// only counted, another number of them.
    fn observe_controller(&mut self, state: &State<'_>) {
        let wanted = state.slots.len();
        let before = self.wanted.replace(wanted);
        if state.kind.counts_pods() {
            if let Some(from) = before.filter(|from| *from != wanted) {
                let [from, to] = [from, wanted].map(|count| i64::try_from(count).unwrap_or(i64::MAX));
                self.report(StepReport::Scaled { from, to });
            }
            return;
        }
        let updated = state.slots.iter().filter(|slot| slot.is_updated);
        let Some(known) = &mut self.known else {
            let released = state.slots.iter().filter(|slot| slot.is_released);
            self.known = Some(updated.chain(released).map(|slot| slot.key.clone()).collect());
            return;
        };
        let is_new = updated.filter(|slot| known.insert(slot.key.clone()));
        let added: Vec<String> = is_new.filter(|slot| !slot.is_in_last_batch).map(PodSlot::label).collect();
        // After another client changed the template, pods that never moved may count as updated.
        if !added.is_empty() && state.plan().is_for_live_template(state.workload()) {
            self.report(StepReport::AddedByController(added));
        }
    }

    /// Reports the stage of the plan if it changed.
    pub(super) fn stage(&mut self, state: &State<'_>, memory: &Memory) {
        if let Some(planned) = state.present_batch() {
            let now = stage(state, memory);
            let is_same = |before: &BatchStage| discriminant(before) == discriminant(&now);
            let is_reported = self
                .stage
                .as_ref()
                .is_some_and(|(number, before)| *number == planned.number && is_same(before));
            let soaks_for_nothing = matches!(now, BatchStage::Soaking { of, .. } if of.is_zero());
            if !is_reported && !soaks_for_nothing {
                self.stage = Some((planned.number, now.clone()));
                self.report(StepReport::Batch(batch(state, planned, now)));
            }
        } else if state.is_final() && !state.is_moving() && !self.has_final_soak {
            let soak = state.pace().final_soak;
            if !soak.is_zero() && !memory.skip_soak {
                self.has_final_soak = true;
                self.report(StepReport::FinalSoak(soak));
            }
        }
    }

    /// Reports a batch that is done, or failed.
    pub(super) fn batch_is_over(&mut self, batch: BatchView) {
        self.stage = Some((batch.number, batch.stage.clone()));
        self.report(StepReport::Batch(batch));
    }

    /// Stores the slots of the last batch for later views.
    pub(super) fn keep_batch(&mut self, plan: &Plan) {
        if let Some(batch) = &plan.last_batch {
            self.batches.insert(batch.number, batch.slots.clone());
        }
    }

    /// The slots of the batches that this process observed, by number of the batch.
    pub(super) fn batches(&self) -> &BTreeMap<usize, Vec<String>> {
        &self.batches
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

    pub(super) fn end_wait(&mut self) {
        self.waiting = None;
    }

    /// Reports a wait immediately, unless the same wait was the last one reported.
    pub(super) fn trouble(&mut self, what: String) {
        if self.trouble.replace(what.clone()).as_ref() != Some(&what) {
            self.report(StepReport::Waiting(what));
        }
    }

    /// Reports a decision, unless it equals the last one.
    pub(super) fn decision(&mut self, why: String) {
        if self.decision.replace(why.clone()).as_ref() != Some(&why) {
            self.report(StepReport::Decision(why));
        }
    }

    /// Reports the deletion of a stuck pod, once for each pod.
    pub(super) fn stuck_pod(&mut self, pod: &PodRef) {
        if self.last_stuck_pod.replace(pod.uid.clone()).as_ref() != Some(&pod.uid) {
            self.report(StepReport::ReplacesStuckPod(pod.name.clone()));
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
