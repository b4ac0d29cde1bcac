//! The times and results that only this process knows. They can be lost at any time; then the next process waits
//! longer.

use std::collections::BTreeSet;
use std::time::Duration;

use super::causes::Causes;
use super::outcome::{BatchFailure, CheckResult, StepOutcome};
use super::ownership::Ownership;
use super::request::Request;
use super::soak::Soak;
use super::view::Batch;
use crate::model::change::plan::{Lease, Plan};
use crate::model::change::stuck_pods::StuckPodDeletions;

/// The times that this process measured, and the results of its requests.
#[derive(Debug, Default)]
pub(super) struct Timers {
    /// The annotation values that this process wrote.
    pub(super) ownership: Ownership,
    /// The lease of another process, and the time since which it is unchanged.
    pub(super) other_lease: Option<(Lease, Duration)>,
    /// The plan of that process.
    pub(super) other_plan: Option<Plan>,
    /// When this process last wrote its lease, or first tried to.
    pub(super) renewed: Option<Duration>,
    /// How long the batch has been waiting for its next pod.
    pub(super) progress: BatchProgress,
    pub(super) soak: Soak,
    /// When the last wave of deletions was sent.
    pub(super) last_wave: Option<Duration>,
    pub(super) check: CheckState,
    /// How the batch failed.
    pub(super) failure: Option<BatchFailure>,
    /// The batches that had begun when the batch failed. A rollback replaces their pods.
    pub(super) failed_batches: Vec<Batch>,
    pub(super) rollback: RollbackProgress,
    /// The stuck pods that this process deleted, by uid.
    pub(super) stuck_pods: StuckPodDeletions,
    /// The same pods by name.
    pub(super) replaced: BTreeSet<String>,
    /// The slots that were unavailable when `--force` began a batch. They do not fail the batch.
    pub(super) excused: BTreeSet<String>,
    /// Whether this process finished the last batch that began.
    pub(super) has_finished_batch: bool,
    pub(super) causes: Causes,
    /// Whether the next batch begins although too many pods are unavailable.
    pub(super) force: bool,
    /// Whether to skip the rest of the soak.
    pub(super) skip_soak: bool,
    /// The outcome of the command, while it releases its lease.
    pub(super) leaving: Option<Leaving>,
}

/// The outcome of a command that still holds the lease.
#[derive(Clone, Debug)]
pub(super) struct Leaving {
    pub(super) outcome: StepOutcome,
    pub(super) since: Duration,
    /// How many attempts to release the lease failed.
    pub(super) tries: usize,
}

/// How long a batch has been waiting for its next pod. Soaking does not count.
#[derive(Debug, Default)]
pub(super) struct BatchProgress {
    /// The highest number of slots of the batch that were ready at one time.
    furthest: usize,
    total: Duration,
    since: Option<Duration>,
}

/// How long a rollback has been waiting for its next pod.
#[derive(Debug, Default)]
pub(super) struct RollbackProgress {
    /// The highest number of pods that were rolled back at one time.
    furthest: usize,
    pub(super) since: Option<Duration>,
    /// The label of the revision, once the rollback is stored.
    pub(super) revision: Option<String>,
    /// The reason if it cannot continue.
    pub(super) blocked: Option<String>,
}

/// The check of the present batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum CheckState {
    /// It did not run.
    #[default]
    NotRun,
    /// It runs since this time.
    Running(Duration),
    /// It has this result.
    Finished(CheckResult),
}

impl Timers {
    pub(super) fn new(request: &Request) -> Self {
        Self { force: request.force, skip_soak: request.complete, ..Self::default() }
    }

    /// Records how many slots of the batch are ready, and whether any of its pods are being replaced.
    pub(super) fn observe_batch(&mut self, ready: usize, is_moving: bool, now: Duration) {
        self.progress.observe(ready, is_moving, now);
        self.skip_soak &= !is_moving; // no soak has begun that could be skipped
        if is_moving && self.check == CheckState::Finished(CheckResult::Passed) {
            self.check = CheckState::NotRun; // it was run for pods that are not ready any more
        }
    }

    /// Resets the timers of the batch when a batch begins.
    pub(super) fn begin_batch(&mut self) {
        (self.progress, self.check, self.last_wave) = (BatchProgress::default(), CheckState::NotRun, None);
        (self.skip_soak, self.force, self.has_finished_batch) = (false, false, false);
    }

    /// Resets the timers of the batch when it is done.
    pub(super) fn finish_batch(&mut self) {
        (self.progress.total, self.progress.since) = (Duration::ZERO, None);
        (self.check, self.skip_soak, self.has_finished_batch) = (CheckState::NotRun, false, true);
        self.excused.clear();
    }
}

impl BatchProgress {
    /// Restarts the time when more slots are ready than ever before. A large batch is released pod by pod. A crashing
    /// pod becomes ready repeatedly, and must not restart it.
    fn observe(&mut self, ready: usize, is_moving: bool, now: Duration) {
        if ready > self.furthest {
            *self = Self { furthest: ready, ..Self::default() };
        }
        if let Some(since) = self.since.take() {
            self.total += now.saturating_sub(since);
        }
        self.since = is_moving.then_some(now);
    }

    pub(super) fn is_over(&self, limit: Duration) -> bool {
        self.total >= limit
    }

    pub(super) fn due(&self, limit: Duration) -> Option<Duration> {
        Some(self.since? + limit.saturating_sub(self.total))
    }
}

impl RollbackProgress {
    /// Restarts the time when more pods are rolled back than ever before.
    pub(super) fn observe(&mut self, back: usize, now: Duration) {
        if self.since.is_none() || back > self.furthest {
            (self.furthest, self.since) = (back, Some(now));
        }
    }
}
