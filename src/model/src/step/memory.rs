//! What only this process knows of a plan. The next process has its own, and waits longer.

use std::collections::BTreeSet;
use std::mem::discriminant;
use std::time::Duration;

use super::batch_view::{BatchStage, BatchView};
use super::ownership::Ownership;
use super::request::{Request, StepOptions, StepReport};
use super::soak::{CheckMemory, Soak};
use crate::api::count::as_number;
use crate::cause::{AllowedRestarts, Cause, CauseSeverity, causes_of};
use crate::change::stuck_pods::StuckPodDeletions;
use crate::engine::{Effects, Now};
use crate::follow::CauseLedger;
use crate::hold::mechanism::State;
use crate::hold::plan::{BatchFailure, Lock, PlannedBatch};
use crate::hold::slot::Slot;
use crate::observation::Observation;
use crate::revision::Revision;
use crate::settle::{ProgressClock, Stall};
use crate::status::verdict;

/// How long a small wave of deletions waits to become larger. Each wave needs a refresh, so fewer waves mean fewer
/// reads.
pub(super) const WAVE_PAUSE: Duration = Duration::from_secs(10);

/// How long a fatal cause may last, as with `--fail-fast`.
const FATAL_CAUSE_GRACE: Duration = Duration::from_secs(30);

/// What only this process knows: its lock, the annotations that it wrote, and the times and results that it observed.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) ownership: Ownership,
    /// Whether the next batch begins although too many pods are unavailable: `--force`, until a batch has begun.
    pub(super) force: bool,
    /// Whether to skip the rest of the soak: `--skip-soak`, until a soak begins.
    pub(super) skip_soak: bool,
    /// How long the batch or the rollback in progress has been waiting for its next pod. Soaking does not count.
    pub(super) stall: Stall,
    /// The last batch that began.
    pub(super) batch: BatchMemory,
    pub(super) soak: Soak,
    /// The reported causes, and since when each fatal one lasts.
    pub(super) causes: CauseLedger,
    /// When the rollout last progressed. The grace period of a refusal begins again then.
    pub(super) rollout_progress: ProgressClock,
    /// The stuck pods that this process deleted.
    pub(super) stuck_pods: StuckPodDeletions,
    pub(super) rollback: RollbackMemory,
    /// The batches that began, or that were under way when this process acquired the lock.
    pub(super) batches: Vec<PlannedBatch>,
    /// The slots that ran the new revision in an earlier observation, or were released; none before the first one.
    pub(super) known: Option<BTreeSet<String>>,
    /// The number of slots in the last observation.
    pub(super) wanted: Option<usize>,
    /// The slots that were skipped in the last observation.
    pub(super) skipped: Vec<String>,
}

/// What a process knows of the last batch that began.
#[derive(Debug, Default)]
pub(super) struct BatchMemory {
    /// Whether `--force` began it, and it is in progress.
    pub(super) is_forced: bool,
    pub(super) check: CheckMemory,
    /// When the last wave of deletions was sent.
    pub(super) last_wave: Option<Duration>,
    /// Whether this process finished it.
    pub(super) is_finished_here: bool,
    /// The stage that was reported last.
    stage: Option<BatchStage>,
    /// The uids of the pods whose eviction was refused.
    pub(super) refused: BTreeSet<String>,
}

/// What a process knows of a failure and of the rollback after it.
#[derive(Debug, Default)]
pub(super) struct RollbackMemory {
    /// How the batch failed.
    pub(super) failure: Option<BatchFailure>,
    /// The batches that had begun when the batch failed. A rollback replaces their pods.
    pub(super) failed_batches: Vec<BatchView>,
    /// The label of the revision, once the rollback is stored. The controller gives the revision a new number then.
    pub(super) revision: Option<String>,
    /// The reason if it cannot continue.
    pub(super) blocked: Option<String>,
}

impl Memory {
    pub(super) fn new(options: &StepOptions, lock: Lock) -> Self {
        let (force, skip_soak) = (options.force, options.skip_soak);
        Self { ownership: Ownership::new(lock), force, skip_soak, ..Self::default() }
    }

    /// Records that a batch is stored.
    pub(super) fn record_begun(&mut self, batch: Option<&PlannedBatch>, is_forced: bool) {
        self.batches.extend(batch.cloned());
        (self.batch, self.stall) = (BatchMemory { is_forced, ..BatchMemory::default() }, Stall::default());
        (self.skip_soak, self.force) = (false, false);
    }

    /// Records that the end of the batch is stored.
    pub(super) fn record_finished(&mut self) {
        self.batch = BatchMemory { is_finished_here: true, ..BatchMemory::default() };
        self.stall = Stall::default();
    }

    /// Records the slots of an observation: which ones are healthy, whether any pod is being replaced, and the soak.
    /// Returns the reports of what changed since the last one.
    pub(super) fn observe(&mut self, state: &State<'_>) -> Vec<StepReport> {
        let now = state.now.elapsed;
        let interruption = self.soak.observe(state.soaking(), now);
        let is_moving = state.is_moving();
        let healthy = state.soaking().filter(|slot| slot.state.is_healthy()).filter_map(|slot| slot.pod);
        // Between two batches any unavailable pod may be the one that the plan waits for.
        let is_waiting =
            is_moving || state.present_batch.is_none() && state.unavailable_slots().next().is_some();
        self.stall.observe(healthy.map(|pod| pod.uid.as_str()), is_waiting, now);
        self.skip_soak &= !is_moving; // no soak has begun that could be skipped
        let is_over = !is_moving && self.soak_left(state).is_zero();
        let before = self.soak.over_since.filter(|_| interruption.is_none());
        self.soak.over_since = is_over.then(|| before.unwrap_or(now));
        let is_soaking = matches!(self.batch.stage, Some(BatchStage::Soaking { .. } | BatchStage::Checking));
        let mut reports: Vec<_> = interruption.filter(|_| is_soaking).into_iter().collect();
        reports.extend(self.next_stage(state));
        self.observe_slots(state, &mut reports);
        let skipped = state.skipped();
        if skipped != self.skipped {
            self.skipped.clone_from(&skipped);
            reports.push(StepReport::Skipped(skipped));
        }
        reports
    }

    /// Returns the report of the last batch that began, if its stage changed. It has none after a failure, and after another
    /// client ended the hold. A batch whose slots are gone keeps its stage: the controller of a DaemonSet counts a missing pod
    /// only later.
    pub(super) fn next_stage(&mut self, state: &State<'_>) -> Option<StepReport> {
        let planned = state.plan.last_batch.as_ref().filter(|_| self.has_stage(state))?;
        let next = match state.present_batch {
            Some(_) => self.stage(state),
            None if self.batch.is_finished_here => BatchStage::Done { healthy: self.healthy(state) },
            None => return None,
        };
        let is_reported = self.batch.stage.as_ref().map(discriminant) == Some(discriminant(&next));
        if is_reported || matches!(next, BatchStage::Soaking { of, .. } if of.is_zero()) {
            return None;
        }
        self.batch.stage = Some(next.clone());
        Some(StepReport::Batch(BatchView::of(state, planned, next)))
    }

    /// Returns the stage of the present batch.
    pub(super) fn stage(&self, state: &State<'_>) -> BatchStage {
        let is_soaked = self.soak.over_since.is_some();
        match state.is_moving() {
            _ if self.rollback.failure.is_some() => BatchStage::Failed,
            true => BatchStage::Updating,
            false if is_soaked && self.batch.check.begun.is_some() => BatchStage::Checking,
            false => BatchStage::Soaking { healthy: self.healthy(state), of: self.soak_length(state) },
        }
    }

    fn has_stage(&self, state: &State<'_>) -> bool {
        self.rollback.failure.is_none() && state.hold.is_in_force(state.workload())
    }

    /// Reports the slots of the present batch that were released, and what the controller did beside the plan: pods on the
    /// new revision that are in no batch, or where pods are only counted, another number of them.
    fn observe_slots(&mut self, state: &State<'_>, reports: &mut Vec<StepReport>) {
        let (wanted, counts_pods) = (state.slots.len(), state.mechanism.counts_pods());
        if let Some(from) = self.wanted.replace(wanted).filter(|from| *from != wanted && counts_pods) {
            reports.push(StepReport::Scaled { from: as_number(from), to: as_number(wanted) });
            self.known = None; // other pods have the numbers
        }
        let Some(known) = &mut self.known else {
            let known = state.slots.iter().filter(|slot| !slot.state.is_held());
            self.known = Some(known.map(|slot| slot.key.clone()).collect());
            return;
        };
        let is_new = |slot: &&Slot<'_>| {
            let is_of_plan = slot.state.is_updated() || !slot.state.is_held() && state.is_in_batch(slot);
            is_of_plan && known.insert(slot.key.clone())
        };
        let (of_batch, others): (Vec<_>, Vec<_>) =
            state.slots.iter().filter(is_new).partition(|slot| slot.batch.is_some());
        if let Some(batch) = state.present_batch.filter(|_| self.has_stage(state)) {
            let released = of_batch.into_iter().map(Slot::label);
            reports.extend(released.map(|slot| StepReport::Released { batch: batch.number, slot }));
        }
        // After another client changed the template, pods that never moved may count as updated.
        if !others.is_empty() && !counts_pods && state.plan.is_for_live_template(state.workload()) {
            reports.push(StepReport::AddedByController(others.into_iter().map(Slot::label).collect()));
        }
    }

    /// Records how many pods are rolled back. Returns the report of a new rollback.
    pub(super) fn observe_rollback(&mut self, state: &State<'_>) -> Option<StepReport> {
        let back = (0..state.returned_pods().0).map(|pod| pod.to_string());
        self.stall.observe(back, true, state.now.elapsed);
        let rollback = &mut self.rollback;
        if rollback.revision.is_some() {
            return None;
        }
        rollback.failure = rollback.failure.take().or_else(|| state.plan.failure.clone());
        rollback.revision = state.plan_revision.map(Revision::label);
        rollback.revision.clone().map(|revision| StepReport::RollingBack { revision })
    }

    /// Records the causes of an observation.
    pub(super) fn observe_causes(
        &mut self,
        observed: &Observation,
        now: Now,
    ) -> Effects<StepReport, Request> {
        self.rollout_progress.record(&observed.workload, now.elapsed);
        let (state, allowed) = (verdict(observed).state, AllowedRestarts::default());
        let mut causes = causes_of(observed, state, allowed, now.server_time);
        causes.retain(|cause| cause.severity != CauseSeverity::Hold);
        let grace = |cause: &Cause| (cause.severity == CauseSeverity::Fatal).then_some(FATAL_CAUSE_GRACE);
        let last_progress = self.rollout_progress.last_progress();
        let Effects { reports, tasks } =
            self.causes.record(&causes, observed, allowed, grace, last_progress, now);
        Effects {
            reports: reports.into_iter().map(|(cause, change)| StepReport::Cause { cause, change }).collect(),
            tasks: tasks.into_iter().map(Request::ReadLog).collect(),
        }
    }

    /// Returns when elapsed time alone changes the decision on a plan that is stepped.
    pub(super) fn due(&self, state: &State<'_>) -> Option<Duration> {
        let limit = state.batch_limit();
        if state.plan.rolling_back {
            return self.stall.due(limit);
        }
        let soaked = (!state.is_moving()).then(|| state.now.elapsed.saturating_add(self.soak_left(state)));
        let wave = self.batch.last_wave.map(|last| last + WAVE_PAUSE);
        let watch = state.pace().check.as_ref().and_then(|check| check.watch);
        let check = self.batch.check.due(watch, self.healthy(state), state.now.elapsed);
        let dues = [soaked, self.stall.due(limit), check, wave];
        dues.into_iter().flatten().filter(|due| *due > state.now.elapsed).min()
    }

    /// Returns how long the soaking slots must be healthy: in the last batch of the plan also for the final soak.
    pub(super) fn soak_length(&self, state: &State<'_>) -> Duration {
        match state.is_all_released() {
            _ if self.skip_soak => Duration::ZERO,
            true => state.pace().soak + state.pace().final_soak,
            false => state.pace().soak,
        }
    }

    /// Returns how long the soaking slots have been healthy; zero when there are none.
    pub(super) fn healthy(&self, state: &State<'_>) -> Duration {
        self.soak.healthy(state.soaking(), state.now)
    }

    /// Returns the rest of the soak.
    pub(super) fn soak_left(&self, state: &State<'_>) -> Duration {
        self.soak.left(state.soaking(), self.soak_length(state), state.now)
    }
}
