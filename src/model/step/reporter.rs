//! What is new in an observation, so that each change is reported once.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::preview::{batch, stage};
use super::report::StepReport;
use super::slot::PodSlot;
use super::soak::Disturbance;
use super::state::{PlanState, skipped};
use super::stepper::Output;
use super::timers::CheckState;
use crate::model::change::hold::PlanRecord;
use crate::model::follow::{Now, PodRef};

/// What was reported last.
#[derive(Debug, Default)]
pub(super) struct Reporter {
    /// The stage of the batch that began last.
    stage: Option<(usize, Stage)>,
    waiting: Option<Waiting>,
    /// What was waited for last without delay: as a rule an answer to a failed request.
    trouble: Option<String>,
    decision: Option<String>,
    /// The uid of the stuck pod that was deleted last.
    replaced: Option<String>,
    /// The uids of the pods whose eviction was refused.
    refused: BTreeSet<String>,
    /// The slots whose release was reported, or known from the start.
    known: Option<BTreeSet<String>>,
    skipped: Vec<String>,
    has_final_soak: bool,
    /// The slots of the batches that this process saw, by number.
    batches: BTreeMap<usize, Vec<String>>,
    /// The batch that this process began last, with the slots that it had then.
    begun: Option<(usize, Vec<String>)>,
}

#[derive(Debug)]
struct Waiting {
    what: String,
    since: Duration,
    is_reported: bool,
}

/// The stage of a batch, without its figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Updating,
    Soaking,
    Checking,
    Over,
}

/// How long a wait lasts before it is reported.
const REPORT_AFTER: Duration = Duration::from_secs(5);

impl Reporter {
    /// Reports what is new in an observation.
    pub(super) fn observe(
        &mut self,
        state: &PlanState<'_>,
        disturbance: Option<Disturbance>,
        out: &mut Vec<Output>,
    ) {
        let is_soaking =
            self.has_final_soak || matches!(self.stage, Some((_, Stage::Soaking | Stage::Checking)));
        if let Some(Disturbance { pod, why }) = disturbance.filter(|_| is_soaking) {
            report(StepReport::SoakRestarted { pod, why: why.to_owned() }, out);
        }
        let added = self.added(state);
        if !added.is_empty() {
            report(StepReport::AddedByCluster(added), out);
        }
        let skipped = skipped(state.all(), state.pace());
        if skipped != self.skipped {
            self.skipped.clone_from(&skipped);
            report(StepReport::Skipped(skipped), out);
        }
    }

    /// Returns the slots that the cluster put on the new revision: they are new, and in no batch.
    fn added(&mut self, state: &PlanState<'_>) -> Vec<String> {
        let Some(known) = &mut self.known else {
            let released = state.all().iter().filter(|slot| slot.is_updated || slot.is_released);
            self.known = Some(released.map(|slot| slot.name.clone()).collect());
            return Vec::new();
        };
        let updated = state.all().iter().filter(|slot| slot.is_updated);
        // Scaling changes the slots of a batch of counted pods, and the controller releases those that it adds.
        let number = state.plan().batch.as_ref().map(|batch| batch.number);
        let last = self.begun.as_ref().filter(|(begun, _)| Some(*begun) == number).map(|(_, slots)| slots);
        let is_ours = |slot: &PodSlot<'_>| last.map_or(slot.is_in_last_batch, |last| last.contains(&slot.name));
        let is_added = |slot: &&PodSlot<'_>| {
            !known.contains(&slot.name) && known.insert(slot.name.clone()) && !is_ours(slot)
        };
        updated.filter(is_added).map(PodSlot::label).collect()
    }

    /// Reports the stage of the plan, if it is another one.
    pub(super) fn stage(&mut self, state: &PlanState<'_>, out: &mut Vec<Output>) {
        if let Some(record) = state.batch() {
            let now = match state.timers.check {
                CheckState::Running(_) | CheckState::Finished(_) => Stage::Checking,
                _ if state.is_moving() => Stage::Updating,
                _ if state.soak().is_zero() => return,
                CheckState::NotRun => Stage::Soaking,
            };
            if self.stage != Some((record.number, now)) {
                self.stage = Some((record.number, now));
                report(StepReport::Batch(batch(state, record, stage(state))), out);
            }
        } else if state.is_final() && !state.is_moving() && !self.has_final_soak {
            let soak = state.pace().final_soak;
            if !soak.is_zero() && !state.timers.skip_soak {
                self.has_final_soak = true;
                report(StepReport::FinalSoak(soak), out);
            }
        }
    }

    /// A batch is done, or failed: its stage is reported by that.
    pub(super) fn batch_is_over(&mut self, number: usize) {
        self.stage = Some((number, Stage::Over));
    }

    /// A batch began with these slots.
    pub(super) fn begin_batch(&mut self, record: &PlanRecord) {
        self.begun = record.plan.batch.as_ref().map(|batch| (batch.number, batch.slots.clone()));
    }

    /// Keeps the slots of a batch for its view.
    pub(super) fn keep_batch(&mut self, record: &PlanRecord) {
        if let Some(batch) = &record.plan.batch {
            self.batches.insert(batch.number, batch.slots.clone());
        }
    }

    /// The slots of the batches that this process saw, by number.
    pub(super) fn batches(&self) -> &BTreeMap<usize, Vec<String>> {
        &self.batches
    }

    /// Reports a wait once it lasts.
    pub(super) fn wait(&mut self, what: String, now: Now, out: &mut Vec<Output>) {
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

    /// Reports a wait at once, but not twice in a row.
    pub(super) fn trouble(&mut self, what: String, out: &mut Vec<Output>) {
        if self.trouble.as_ref() != Some(&what) {
            report(StepReport::Waiting(what.clone()), out);
            self.trouble = Some(what);
        }
    }

    /// Reports a decision, if it is another one.
    pub(super) fn decision(&mut self, why: String, out: &mut Vec<Output>) {
        if self.decision.as_ref() != Some(&why) {
            report(StepReport::Decision(why.clone()), out);
            self.decision = Some(why);
        }
    }

    /// Reports the deletion of a stuck pod, once for each pod.
    pub(super) fn stuck_pod(&mut self, pod: &PodRef, out: &mut Vec<Output>) {
        if self.replaced.replace(pod.uid.clone()).is_none_or(|uid| uid != pod.uid) {
            report(StepReport::ReplacesStuckPod(pod.name.clone()), out);
        }
    }

    /// Reports that a PodDisruptionBudget refused an eviction, once for each pod.
    pub(super) fn eviction_refused(&mut self, pod: PodRef, message: String, out: &mut Vec<Output>) {
        if self.refused.insert(pod.uid) {
            report(StepReport::EvictionRefused { pod: pod.name, message }, out);
        }
    }
}

pub(super) fn report(report: StepReport, out: &mut Vec<Output>) {
    out.push(Output::Report(report));
}
