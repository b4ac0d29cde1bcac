//! What only this process knows of a plan. The next process has its own, and waits longer.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::action::Action;
use super::event::{BatchView, Request, StepOptions, StepReport};
use super::ownership::Ownership;
use super::soak::{CheckMemory, Soak};
use crate::cause::{AllowedRestarts, Cause, Severity, causes_of};
use crate::change::stuck_pods::StuckPodDeletions;
use crate::engine::{Effects, Now};
use crate::follow::{CauseLedger, ProgressClock};
use crate::hold::mechanism::State;
use crate::hold::plan::{BatchFailure, Lock};
use crate::hold::slot::PodSlot;
use crate::observation::Observation;
use crate::revision::Revision;
use crate::status::verdict;

/// How long a small wave of deletions waits to become larger. Each wave needs a refresh, so fewer waves mean fewer
/// reads.
pub(super) const WAVE_PAUSE: Duration = Duration::from_secs(10);

/// How long a kubelet may need to report its pods after an outage of the API server.
const REPORT_TIME: Duration = Duration::from_secs(60);

/// What a rollback waits for instead of slots.
const ROLLBACK: &str = "rollback";

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
    pub(super) slot_waits: SlotWaits,
    /// The last batch that began.
    pub(super) batch: BatchMemory,
    pub(super) soak: Soak,
    /// How many pods were unavailable when `--force` began the batch in progress, and still are.
    pub(super) forced: Option<usize>,
    /// The reported causes, and since when each fatal one lasts.
    pub(super) causes: CauseLedger,
    /// When the rollout last progressed. The grace period of a refusal begins again then.
    pub(super) rollout_progress: ProgressClock,
    /// The stuck pods that this process deleted.
    pub(super) stuck_pods: StuckPodDeletions,
    pub(super) rollback: RollbackMemory,
}

/// What a process knows of the last batch that began.
#[derive(Debug, Default)]
pub(super) struct BatchMemory {
    pub(super) check: CheckMemory,
    /// When the last wave of deletions was sent.
    pub(super) last_wave: Option<Duration>,
    /// Whether this process finished it.
    pub(super) is_finished_here: bool,
}

/// How long a batch or a rollback has been waiting for its pods since one was ready for the first time.
#[derive(Debug, Default)]
pub(super) struct SlotWaits {
    /// The slots whose pods were ready before, by key.
    ready: BTreeSet<String>,
    /// How long each slot was awaited since then, by key. Interruptions of several pods do not add up.
    waited: BTreeMap<String, Duration>,
    /// The slots that are awaited, and when they were observed last.
    awaited: BTreeSet<String>,
    observed: Duration,
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
    pub(super) fn record_begun(&mut self, forced: Option<usize>) {
        self.forced = forced;
        (self.batch, self.slot_waits) = (BatchMemory::default(), SlotWaits::default());
        (self.skip_soak, self.force) = (false, false);
    }

    /// Records that the end of the batch is stored.
    pub(super) fn record_finished(&mut self) {
        self.batch = BatchMemory { is_finished_here: true, ..BatchMemory::default() };
        self.slot_waits = SlotWaits::default();
        self.forced = None;
    }

    /// Records the slots of an observation: which ones are healthy, whether any pod is being replaced, and the soak.
    /// Returns the report of its first interruption.
    pub(super) fn observe(&mut self, state: &State<'_>) -> Option<StepReport> {
        let now = state.now.elapsed;
        let interruption = self.soak.observe(state.soaking(), now);
        let released = state.slots.iter().filter(|slot| slot.is_released);
        let released: BTreeSet<_> = released.map(|slot| slot.key.as_str()).collect();
        self.slot_waits.ready.retain(|key| released.contains(key.as_str())); // a scale-down removed the others
        let ready = state.soaking().filter(|slot| slot.is_healthy()).map(|slot| &slot.key);
        // Between two batches any unavailable pod may be the one that the plan waits for.
        let may_be_awaited = |slot: &PodSlot<'_>| state.present_batch.is_none() && !slot.is_available;
        let awaited = state.slots.iter().filter(|slot| state.is_awaited(slot) || may_be_awaited(slot));
        self.slot_waits.observe(ready, awaited.map(|slot| slot.key.as_str()), now);
        let is_moving = state.is_moving();
        self.skip_soak &= !is_moving; // no soak has begun that could be skipped
        let is_over = !is_moving && self.soak_left(state).is_zero();
        let before = self.soak.over_since.filter(|_| interruption.is_none());
        self.soak.over_since = is_over.then(|| before.unwrap_or(now));
        self.forced = self.forced.map(|forced| forced.min(state.mechanism.unavailable(state)));
        interruption
    }

    /// Records how many pods are rolled back. Returns the report of a new rollback.
    pub(super) fn observe_rollback(&mut self, state: &State<'_>) -> Option<StepReport> {
        let back = (0..state.returned_pods().0).map(|pod| pod.to_string());
        self.slot_waits.observe(back, [ROLLBACK], state.now.elapsed);
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
        causes.retain(|cause| cause.severity != Severity::Hold);
        let grace = |cause: &Cause| (cause.severity == Severity::Fatal).then_some(FATAL_CAUSE_GRACE);
        let last_progress = self.rollout_progress.last_progress();
        let Effects { reports, tasks } =
            self.causes.record(&causes, observed, allowed, grace, last_progress, now);
        Effects {
            reports: reports.into_iter().map(|(cause, change)| StepReport::Cause { cause, change }).collect(),
            tasks: tasks.into_iter().map(Request::ReadLog).collect(),
        }
    }

    /// Decides what to do for the check of a batch whose slots are healthy; none if it passed, or if nothing is to do now.
    pub(super) fn next_check(&self, state: &State<'_>, batch: usize) -> Option<Action> {
        let check = state.pace().check.as_ref()?;
        self.batch.check.next(check, batch, &self.soak, self.healthy(state), state.now.elapsed)
    }

    /// Returns when the check is to run during the soak.
    fn check_due(&self, state: &State<'_>) -> Option<Duration> {
        let watch = state.pace().check.as_ref()?.watch;
        self.batch.check.due(watch, self.healthy(state), state.now.elapsed)
    }

    /// Returns when elapsed time alone changes the decision on a plan that is stepped.
    pub(super) fn due(&self, state: &State<'_>) -> Option<Duration> {
        let limit = state.batch_limit();
        if state.plan.rolling_back {
            return self.slot_waits.due(limit);
        }
        let soaked = (!state.is_moving()).then(|| state.now.elapsed.saturating_add(self.soak_left(state)));
        let wave = self.batch.last_wave.map(|last| last + WAVE_PAUSE);
        let dues = [soaked, self.slot_waits.due(limit), self.check_due(state), wave];
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

impl SlotWaits {
    /// A longer time without an observation counts as a minute: the process was suspended.
    ///
    /// Restarts the time when a pod is ready whose slot had no ready pod before. A large batch is released pod by pod, and a
    /// StatefulSet creates the pods of a scale-up one after the other. A crashing pod becomes ready repeatedly, and must not
    /// restart it.
    fn observe<'s>(
        &mut self,
        ready: impl IntoIterator<Item = impl AsRef<str>>,
        awaited: impl IntoIterator<Item = &'s str>,
        now: Duration,
    ) {
        for key in ready {
            if !self.ready.contains(key.as_ref()) {
                self.ready.insert(key.as_ref().to_owned());
                self.waited.clear();
                self.awaited.clear();
            }
        }
        for key in std::mem::take(&mut self.awaited) {
            *self.waited.entry(key).or_default() += now.saturating_sub(self.observed).min(REPORT_TIME);
        }
        self.awaited = awaited.into_iter().map(str::to_owned).collect();
        self.observed = now;
    }

    /// Leaves the pods a minute before the limit: the kubelets could not report them while the API server was away.
    pub(super) fn continue_after_outage(&mut self, limit: Duration) {
        for waited in self.waited.values_mut() {
            *waited = limit.saturating_sub(REPORT_TIME).min(*waited);
        }
    }

    pub(super) fn is_over(&self, limit: Duration) -> bool {
        self.waited.values().any(|waited| *waited >= limit)
    }

    pub(super) fn is_late(&self, key: &str, limit: Duration) -> bool {
        self.waited.get(key).is_some_and(|waited| *waited >= limit)
    }

    pub(super) fn due(&self, limit: Duration) -> Option<Duration> {
        let waited = self.awaited.iter().map(|key| self.waited.get(key).copied().unwrap_or_default());
        let waited = waited.filter(|waited| *waited < limit);
        Some(self.observed.saturating_add(limit.saturating_sub(waited.max()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// A node pool is upgraded during a soak: each pod is away for a minute, one after the other.
    #[test]
    fn interruptions_of_several_pods_do_not_add_up() {
        const READY: [&str; 3] = ["a", "b", "c"];
        let (limit, mut waits) = (seconds(150), SlotWaits::default());
        for (now, awaited) in [(0, "a"), (60, "b"), (120, "c"), (180, "")] {
            waits.observe(READY, [awaited].into_iter().filter(|key| !key.is_empty()), seconds(now));
        }
        assert!(!waits.is_over(limit));
        // One pod that becomes ready again and again, as in a crash loop.
        for now in (200..500).step_by(20) {
            waits.observe(READY, (now % 40 == 0).then_some("a"), seconds(now));
        }
        assert!(waits.is_over(limit));
        waits.continue_after_outage(limit);
        assert!(!waits.is_over(limit));
        waits.observe(READY, ["a"], seconds(500));
        assert_eq!(waits.due(limit), Some(seconds(540)), "the kubelets have a minute, 20s of which are over");
    }
}
