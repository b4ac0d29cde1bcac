//! Compares each observation with the last reports, so that each change is reported once.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::discriminant;
use std::time::Duration;

use super::added_pods::{AddedPods, UpdatedSlot};
use super::report::StepReport;
use super::soak::Disturbance;
use super::state::{PlanState, skipped};
use super::task::StepperOutput;
use super::view::{Batch, BatchStage};
use super::view_builder::{batch, stage};
use crate::model::change::plan::PlanRecord;
use crate::model::follow::{Now, PodRef};

/// Records the last reports.
#[derive(Debug, Default)]
pub(super) struct ChangeReporter {
    /// The stage of the batch that began last.
    stage: Option<(usize, BatchStage)>,
    waiting: Option<Waiting>,
    /// The last wait that was reported immediately, mostly for the response to a retried request.
    trouble: Option<String>,
    decision: Option<String>,
    /// The uid of the last stuck pod that was deleted.
    replaced: Option<String>,
    /// The uids of the pods whose eviction was refused.
    refused: BTreeSet<String>,
    /// The updated slots; none before the first observation.
    added: Option<AddedPods>,
    skipped: Vec<String>,
    has_final_soak: bool,
    /// The slots of the batches that this process observed, by number of the batch.
    batches: BTreeMap<usize, Vec<String>>,
    /// The batch that this process began last, with the slots that it had then, and the number of all slots.
    begun: Option<(usize, Vec<String>, usize)>,
    /// The number of slots in the last observation.
    slots: usize,
}

#[derive(Debug)]
struct Waiting {
    what: String,
    since: Duration,
    is_reported: bool,
}

/// How long a wait lasts before it is reported.
const REPORT_AFTER: Duration = Duration::from_secs(5);

impl ChangeReporter {
    /// Reports the changes since the last observation.
    pub(super) fn observe(
        &mut self,
        state: &PlanState<'_>,
        disturbance: Option<Disturbance>,
        out: &mut Vec<StepperOutput>,
    ) {
        let is_soaking = self.has_final_soak
            || matches!(self.stage, Some((_, BatchStage::Soaking { .. } | BatchStage::Checking)));
        if let Some(Disturbance { pod, why }) = disturbance.filter(|_| is_soaking) {
            report(StepReport::SoakRestarted { pod, why: why.to_owned() }, out);
        }
        // After another client changed the template, pods that never moved may count as updated.
        let context = state.context();
        let is_for_plan = context.record.plan.is_for_live_template(context.workload());
        let added = if is_for_plan { self.added(state) } else { Vec::new() };
        if !added.is_empty() {
            report(StepReport::AddedByController(added), out);
        }
        let skipped = skipped(state.all(), state.pace());
        if skipped != self.skipped {
            self.skipped.clone_from(&skipped);
            report(StepReport::Skipped(skipped), out);
        }
    }

    /// Returns the new slots on the new revision that are in no batch: the controller created their pods.
    fn added(&mut self, state: &PlanState<'_>) -> Vec<String> {
        // Scaling changes the slots of a batch of counted pods, and the controller releases those that it adds.
        let from_end = state.slots.kind.slot_names_count_from_the_end();
        let place = |name: &str, of: usize| {
            let after = name.parse::<usize>().ok().filter(|_| from_end);
            after
                .and_then(|after| of.checked_sub(after + 1))
                .map_or_else(|| name.to_owned(), |place| place.to_string())
        };
        self.slots = state.all().len();
        let number = state.plan().batch.as_ref().map(|batch| batch.number);
        let last = self.begun.as_ref().filter(|(begun, ..)| Some(*begun) == number);
        let last: Option<BTreeSet<String>> =
            last.map(|(_, slots, of)| slots.iter().map(|name| place(name, *of)).collect());
        let updated = state.all().iter().filter(|slot| slot.is_updated).map(|slot| {
            let name = place(&slot.name, self.slots);
            UpdatedSlot {
                label: slot.label(),
                is_ours: last.as_ref().map_or(slot.is_in_last_batch, |last| last.contains(&name)),
                is_created: slot.is_created(),
                name,
            }
        });
        // For a moment there may be more pods than the ReplicaSet wants: measured on a real control plane.
        let wanted = state.context().current().map(|current| current.replica_set_counts.wanted);
        let most = wanted.filter(|wanted| *wanted > 0).unwrap_or(usize::MAX); // 0 for a ControllerRevision
        let updated: Vec<_> = updated.take(most).collect();
        if let Some(added) = &mut self.added {
            return added.observe(updated);
        }
        let released = state.all().iter().filter(|slot| slot.is_updated || slot.is_released);
        let released = released.map(|slot| place(&slot.name, self.slots)).collect();
        self.added = Some(AddedPods::beginning(released, updated));
        Vec::new()
    }

    /// Reports the stage of the plan if it changed.
    pub(super) fn stage(&mut self, state: &PlanState<'_>, out: &mut Vec<StepperOutput>) {
        if let Some(record) = state.batch() {
            let now = stage(state);
            let is_same = |before: &BatchStage| discriminant(before) == discriminant(&now);
            let is_reported = self
                .stage
                .as_ref()
                .is_some_and(|(number, before)| *number == record.number && is_same(before));
            let soaks_for_nothing = matches!(now, BatchStage::Soaking { of, .. } if of.is_zero());
            if !is_reported && !soaks_for_nothing {
                self.stage = Some((record.number, now.clone()));
                report(StepReport::Batch(batch(state, record, now)), out);
            }
        } else if state.is_final() && !state.is_moving() && !self.has_final_soak {
            let soak = state.pace().final_soak;
            if !soak.is_zero() && !state.timers.skip_soak {
                self.has_final_soak = true;
                report(StepReport::FinalSoak(soak), out);
            }
        }
    }

    /// Reports a batch that is done, or failed.
    pub(super) fn batch_is_over(&mut self, batch: Batch, out: &mut Vec<StepperOutput>) {
        self.stage = Some((batch.number, batch.stage.clone()));
        report(StepReport::Batch(batch), out);
    }

    /// Stores the slots that a batch has when it begins.
    pub(super) fn begin_batch(&mut self, record: &PlanRecord) {
        let batch = record.plan.batch.as_ref();
        self.begun = batch.map(|batch| (batch.number, batch.slots.clone(), self.slots));
    }

    /// Stores the slots of the last batch for later views.
    pub(super) fn keep_batch(&mut self, record: &PlanRecord) {
        if let Some(batch) = &record.plan.batch {
            self.batches.insert(batch.number, batch.slots.clone());
        }
    }

    /// The slots of the batches that this process observed, by number of the batch.
    pub(super) fn batches(&self) -> &BTreeMap<usize, Vec<String>> {
        &self.batches
    }

    /// Reports a wait after [`REPORT_AFTER`].
    pub(super) fn wait(&mut self, what: String, now: Now, out: &mut Vec<StepperOutput>) {
        let waiting = self.waiting.take().filter(|waiting| waiting.what == what);
        let mut waiting = waiting.unwrap_or(Waiting { what, since: now.elapsed, is_reported: false });
        if !waiting.is_reported && now.elapsed >= waiting.since + REPORT_AFTER {
            waiting.is_reported = true;
            report(StepReport::Waiting(waiting.what.clone()), out);
        }
        self.waiting = Some(waiting);
    }

    pub(super) fn end_wait(&mut self) {
        self.waiting = None;
    }

    /// Reports a wait immediately, unless the same wait was the last one reported.
    pub(super) fn trouble(&mut self, what: String, out: &mut Vec<StepperOutput>) {
        if self.trouble.as_ref() != Some(&what) {
            report(StepReport::Waiting(what.clone()), out);
            self.trouble = Some(what);
        }
    }

    /// Reports a decision, unless it equals the last one.
    pub(super) fn decision(&mut self, why: String, out: &mut Vec<StepperOutput>) {
        if self.decision.as_ref() != Some(&why) {
            report(StepReport::Decision(why.clone()), out);
            self.decision = Some(why);
        }
    }

    /// Reports the deletion of a stuck pod, once for each pod.
    pub(super) fn stuck_pod(&mut self, pod: &PodRef, out: &mut Vec<StepperOutput>) {
        if self.replaced.replace(pod.uid.clone()).is_none_or(|uid| uid != pod.uid) {
            report(StepReport::ReplacesStuckPod(pod.name.clone()), out);
        }
    }

    /// Reports that a PodDisruptionBudget refused an eviction, once for each pod.
    pub(super) fn eviction_refused(&mut self, pod: PodRef, message: String, out: &mut Vec<StepperOutput>) {
        if self.refused.insert(pod.uid) {
            report(StepReport::EvictionRefused { pod: pod.name, message }, out);
        }
    }
}

pub(super) fn report(report: StepReport, out: &mut Vec<StepperOutput>) {
    out.push(StepperOutput::Report(report));
}
