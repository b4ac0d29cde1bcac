//! Follows rollouts until each target has an outcome: events in, reports and tasks out.
//!
//! ```text
//! on an event:
//!     the follower passes it to its target        target.rs: stores an observation, which cluster/objects/ made
//!     the target records it and reports changes   memory.rs: progress.rs, cause_ledger.rs, the printed lines
//!     the rollout is judged                       judge.rs: the expected revision and the goal (options.rs), the causes,
//!                                                 the deadline
//!     on an outcome: request a refresh, start the rollback, or report the result      target.rs, undo_on_failure.rs
//!     the loop takes all reports and requests     command/follow.rs executes the requests, whose answers are events;
//!                                                 render/status/ prints the reports, the line of the status first
//! ```
//!
//! Every observation is complete, so that missed events do not matter. The follower requests a refresh before an outcome
//! that an older observation must not decide. A missed event can therefore delay an outcome, and never change it.

mod cause_ledger;
mod judge;
mod memory;
mod options;
mod progress;
mod report;
mod start_state;
mod target;
mod undo_on_failure;

#[cfg(test)]
mod tests;

pub(super) use cause_ledger::CauseLedger;
pub(super) use progress::ProgressClock;

pub use options::{FollowOptions, Goal, UndoScope};
pub use report::{
    CauseChange, FollowRequest, Outcome, Report, Rollback, RollbackResult, RolloutFailure, TargetResult,
};
pub use start_state::{NoRollback, RELEASE_AGE, StartState};
pub use target::FollowedTarget;
pub use undo_on_failure::{is_complete_and_ready, stayed_complete};

use std::sync::Arc;
use std::time::Duration;

use crate::engine::{Effects, Engine, LoopEvent, Now, TargetId};
use crate::exit::Exit;
use crate::kind::Workload;

/// The answer to [`FollowRequest::RollBack`]: the workload after the rollback was written, none if its rollout completed
/// before, or the result without a rollback to follow.
pub type FollowerAnswer = (TargetId, Result<Option<Box<Workload>>, RollbackResult>);

/// Follows a set of workloads.
#[derive(Debug)]
pub struct Follower {
    targets: Vec<FollowedTarget>,
}

impl Follower {
    /// Starts to follow workloads as they were found. [`TargetId`]s count from 0 in this order.
    #[must_use]
    pub fn new(options: FollowOptions, workloads: impl IntoIterator<Item = Workload>) -> Self {
        let options = Arc::new(options);
        let target = |found| FollowedTarget::new(Arc::clone(&options), found);
        Self { targets: workloads.into_iter().map(target).collect() }
    }

    /// Starts the rollback of each target once the rollout of one failed, with `--undo-on-failure=all`.
    fn roll_back_all_if_one_failed(&mut self, now: Now) {
        let is_failure = |target: &&FollowedTarget| {
            target.found_rollout_has_failed() && target.options().undo_on_failure == Some(UndoScope::All)
        };
        let failed = self.targets.iter().find(is_failure).map(|target| target.workload().target());
        let Some(failed) = failed else { return };
        for target in &mut self.targets {
            target.roll_back_after(&failed, now.elapsed);
        }
    }

    /// Moves the reports and tasks of the targets to those of the follower.
    fn take_effects(&mut self, all: &mut Effects<(TargetId, Report), (TargetId, FollowRequest)>) {
        for (index, target) in self.targets.iter_mut().enumerate() {
            let Effects { reports, tasks } = std::mem::take(&mut target.effects);
            all.reports.extend(reports.into_iter().map(|report| (TargetId(index), report)));
            all.tasks.extend(tasks.into_iter().map(|task| (TargetId(index), task)));
        }
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

    /// Whether a signal ends the command: no rollback is to be written any more.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.targets.iter().any(|target| target.stopped.is_some())
    }

    /// Returns the targets in the order of [`Follower::new`].
    #[must_use]
    pub fn targets(&self) -> &[FollowedTarget] {
        &self.targets
    }
}

impl Engine for Follower {
    type Answer = FollowerAnswer;
    type Report = (TargetId, Report);
    type Task = (TargetId, FollowRequest);

    fn apply(&mut self, event: LoopEvent<FollowerAnswer>, now: Now) -> Effects<Self::Report, Self::Task> {
        let was_finished = self.is_finished();
        match event {
            LoopEvent::Target(id, event) => {
                if let Some(target) = self.targets.get_mut(id.0) {
                    target.apply(event, now);
                }
            }
            LoopEvent::Answer((id, written)) => {
                if let Some(target) = self.targets.get_mut(id.0) {
                    target.apply_rollback_result(written, now);
                }
            }
            LoopEvent::Stop(stop) => self.targets.iter_mut().for_each(|target| target.stop(stop, now)),
            LoopEvent::Tick { since_answer } => {
                self.targets.iter_mut().for_each(|target| target.tick(since_answer, now));
            }
        }
        let mut all = Effects::default();
        self.take_effects(&mut all);
        self.roll_back_all_if_one_failed(now);
        if self.is_finished() && !was_finished {
            self.targets.iter_mut().for_each(FollowedTarget::end);
        }
        self.take_effects(&mut all);
        all
    }

    fn due(&self) -> Option<Duration> {
        self.targets.iter().filter_map(FollowedTarget::due).min()
    }

    /// Whether every target has an outcome.
    fn is_finished(&self) -> bool {
        self.targets.iter().all(|target| target.result().is_some())
    }
}
