//! Follows rollouts until each target has an outcome: events in, reports and tasks out.
//!
//! A [`Follower`] does no I/O and has no clock. Its driver passes every event with its time to
//! [`Follower::apply`], carries out each [`FollowerTask`], and calls again when
//! [`Follower::due`] says so. Every event carries a complete state, so missed events do not matter.
//! Before elapsed time or a hold decides an outcome, the follower requests a refresh. A missed
//! event can therefore delay an outcome, and never change it.

mod causes;
mod container_logs;
mod decision;
mod evaluation;
mod event;
mod expected_revision;
mod goal;
mod options;
mod output;
mod progress;
mod reported;
mod rollback;
mod target_tracker;

#[cfg(test)]
mod tests;

pub(super) use causes::{CauseLedger, CauseUpdate, is_fatal};
pub(super) use progress::ProgressClock;

pub use container_logs::{ContainerLogs, LogLines, last_lines};
pub use event::{FollowerEvent, Now, StopSignal, TargetEvent, TargetId};
pub use goal::Goal;
pub use options::{FollowOptions, UndoScope};
pub use output::{
    CauseChange, FollowerTask, LogRef, Outcome, Output, PodRef, Report, RollbackResult, RollbackTarget,
    RolloutFailure, ShortTimeout, TargetResult,
};
pub use rollback::{Rollback, StartState};
pub use target_tracker::TargetTracker;

use std::sync::Arc;
use std::time::Duration;

use self::output::TargetOutput;
use crate::model::kind::Workload;

/// A report with the facts about its target.
#[derive(Debug)]
pub struct TargetReport<'a> {
    /// The target after the event.
    pub target: &'a TargetTracker,
    /// What to report.
    pub report: Report,
}

/// Follows a set of workloads.
#[derive(Debug)]
pub struct Follower {
    options: Arc<FollowOptions>,
    targets: Vec<TargetTracker>,
}

impl Follower {
    /// Starts to follow workloads as they were found. [`TargetId`]s count from 0 in this order.
    #[must_use]
    pub fn new(options: FollowOptions, workloads: impl IntoIterator<Item = Workload>) -> Self {
        let options = Arc::new(options);
        let target = |found| TargetTracker::new(Arc::clone(&options), found);
        let targets = workloads.into_iter().map(target).collect();
        Self { options, targets }
    }

    /// Applies one event and returns the reports and tasks that follow from it.
    pub fn apply(
        &mut self,
        event: FollowerEvent,
        now: Now,
    ) -> Output<TargetReport<'_>, (TargetId, FollowerTask)> {
        let mut outputs = match event {
            FollowerEvent::Target(TargetId(index), event) => {
                let mut out = TargetOutput::default();
                if let Some(target) = self.targets.get_mut(index) {
                    target.apply(event, now, &mut out);
                }
                vec![(index, out)]
            }
            FollowerEvent::Stopped(stop) => self.each(|target, out| target.stop(stop, now, out)),
            FollowerEvent::Tick { answered } => self.each(|target, out| target.tick(answered, now, out)),
        };
        if self.options.undo_on_failure == Some(UndoScope::All) {
            outputs.extend(self.roll_back_all_if_one_failed(now));
        }
        if self.is_finished() {
            outputs.extend(self.each(TargetTracker::report_result));
        }
        let mut all = Output::default();
        for (index, TargetOutput { reports, tasks }) in outputs {
            let Some(target) = self.targets.get(index) else { continue };
            all.reports.extend(reports.into_iter().map(|report| TargetReport { target, report }));
            all.tasks.extend(tasks.into_iter().map(|task| (TargetId(index), task)));
        }
        all
    }

    /// Starts the rollback of each target once the rollout of one failed.
    fn roll_back_all_if_one_failed(&mut self, now: Now) -> Vec<(usize, TargetOutput)> {
        let failed = self.targets.iter().find(|target| target.has_failed());
        let Some(failed) = failed.map(|target| target.workload().target()) else { return Vec::new() };
        self.each(|target, out| target.roll_back_after(&failed, now.elapsed, out))
    }

    fn each(&mut self, act: impl Fn(&mut TargetTracker, &mut TargetOutput)) -> Vec<(usize, TargetOutput)> {
        let act = |target| {
            let mut out = TargetOutput::default();
            act(target, &mut out);
            out
        };
        self.targets.iter_mut().map(act).enumerate().collect()
    }

    /// Returns when to call again with [`FollowerEvent::Tick`] if no event arrives earlier, counted
    /// from the start. Returns none if only events matter.
    #[must_use]
    pub fn due(&self) -> Option<Duration> {
        self.targets.iter().filter_map(TargetTracker::due).min()
    }

    /// Returns the targets in the order of [`Follower::new`].
    #[must_use]
    pub fn targets(&self) -> &[TargetTracker] {
        &self.targets
    }

    /// Whether every target has an outcome.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.targets.iter().all(|target| target.result().is_some())
    }
}
