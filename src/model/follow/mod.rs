//! Follows rollouts until each target has an outcome: events in, reports and tasks out.
//!
//! Every observation is complete, so that missed events do not matter. The follower requests a refresh before an outcome
//! that an older observation must not decide. A missed event can therefore delay an outcome, and never change it.

mod cause_ledger;
mod evaluation;
mod options;
mod progress;
mod report;
mod target;
mod undo_on_failure;

#[cfg(test)]
mod tests;

pub(super) use cause_ledger::{CauseLedger, CauseUpdate};
pub(super) use progress::ProgressClock;

pub use options::{FollowOptions, Goal, UndoScope};
pub use report::{
    CauseChange, FollowerTask, Outcome, Report, Rollback, RollbackResult, RollbackTarget, RolloutFailure,
    ShortTimeout, TargetResult,
};
pub use target::{FollowedTarget, StartState};

use std::sync::Arc;
use std::time::Duration;

use self::report::TargetEffects;
use crate::exit::Exit;
use crate::model::engine::{Effects, Engine, Now, StopSignal, TargetEvent, TargetId};
use crate::model::kind::Workload;

/// One event of the follower.
#[derive(Clone, Debug)]
pub enum FollowerEvent {
    /// A target changed.
    Target(TargetId, TargetEvent),
    /// The workload after the rollback was written, or the result without a rollback to follow: the answer to
    /// [`FollowerTask::RollBack`].
    RolledBack(TargetId, Result<Box<Workload>, RollbackResult>),
    /// The user or the system asked the process to stop.
    Stopped(StopSignal),
    /// Only time passed.
    Tick {
        /// How long ago the server last answered a read.
        since_answer: Duration,
    },
}

/// Follows a set of workloads.
#[derive(Debug)]
pub struct Follower {
    options: Arc<FollowOptions>,
    targets: Vec<FollowedTarget>,
}

impl Follower {
    /// Starts to follow workloads as they were found. [`TargetId`]s count from 0 in this order.
    #[must_use]
    pub fn new(options: FollowOptions, workloads: impl IntoIterator<Item = Workload>) -> Self {
        let options = Arc::new(options);
        let target = |found| FollowedTarget::new(Arc::clone(&options), found);
        let targets = workloads.into_iter().map(target).collect();
        Self { options, targets }
    }

    /// Starts the rollback of each target once the rollout of one failed.
    fn roll_back_all_if_one_failed(&mut self, now: Now) -> Vec<(usize, TargetEffects)> {
        let failed = self.targets.iter().find(|target| target.found_rollout_failed);
        let Some(failed) = failed.map(|target| target.workload().target()) else { return Vec::new() };
        self.each(|target, out| target.roll_back_after(&failed, now.elapsed, out))
    }

    fn one(
        &mut self,
        TargetId(index): TargetId,
        act: impl FnOnce(&mut FollowedTarget, &mut TargetEffects),
    ) -> Vec<(usize, TargetEffects)> {
        let mut out = TargetEffects::default();
        if let Some(target) = self.targets.get_mut(index) {
            act(target, &mut out);
        }
        vec![(index, out)]
    }

    fn each(&mut self, act: impl Fn(&mut FollowedTarget, &mut TargetEffects)) -> Vec<(usize, TargetEffects)> {
        let act = |target| {
            let mut out = TargetEffects::default();
            act(target, &mut out);
            out
        };
        self.targets.iter_mut().map(act).enumerate().collect()
    }

    /// Returns the worst exit code of all targets. A target has no result when the reader of stdout exited; one that is rolled
    /// back failed before.
    #[must_use]
    pub fn exit(&self) -> Exit {
        let exits = self.targets.iter().map(|target| {
            let known = target.result().or_else(|| target.rollback().map(|rollback| &rollback.failed));
            known.map_or(Exit::Unfinished, TargetResult::exit)
        });
        exits.fold(Exit::Done, Exit::worst)
    }

    /// Returns the targets in the order of [`Follower::new`].
    #[must_use]
    pub fn targets(&self) -> &[FollowedTarget] {
        &self.targets
    }
}

impl Engine for Follower {
    type Event = FollowerEvent;
    type Report = (TargetId, Report);
    type Task = (TargetId, FollowerTask);

    fn apply(&mut self, event: FollowerEvent, now: Now) -> Effects<Self::Report, Self::Task> {
        let mut effects = match event {
            FollowerEvent::Target(id, event) => self.one(id, |target, out| target.apply(event, now, out)),
            FollowerEvent::RolledBack(id, written) => {
                self.one(id, |target, out| target.apply_rollback_result(written, now, out))
            }
            FollowerEvent::Stopped(stop) => self.each(|target, out| target.stop(stop, now, out)),
            FollowerEvent::Tick { since_answer } => {
                self.each(|target, out| target.tick(since_answer, now, out))
            }
        };
        if self.options.undo_on_failure == Some(UndoScope::All) {
            effects.extend(self.roll_back_all_if_one_failed(now));
        }
        if self.is_finished() {
            effects.extend(self.each(FollowedTarget::report_result));
        }
        let mut all = Effects::default();
        for (index, TargetEffects { reports, tasks }) in effects {
            all.reports.extend(reports.into_iter().map(|report| (TargetId(index), report)));
            all.tasks.extend(tasks.into_iter().map(|task| (TargetId(index), task)));
        }
        all
    }

    fn due(&self) -> Option<Duration> {
        self.targets.iter().filter_map(FollowedTarget::due).min()
    }

    /// Whether every target has an outcome.
    fn is_finished(&self) -> bool {
        self.targets.iter().all(|target| target.result().is_some())
    }

    fn tick_event(since_answer: Duration) -> FollowerEvent {
        FollowerEvent::Tick { since_answer }
    }

    fn stop_event(signal: StopSignal) -> FollowerEvent {
        FollowerEvent::Stopped(signal)
    }
}
