//! Follows rollouts until each target has an outcome: events in, reports and tasks out.
//!
//! ```text
//! on an event:
//!     the follower passes it to its target        target.rs: stores an observation, which cluster/objects/ made
//!     the target records it and reports changes   memory.rs: progress.rs, cause_ledger.rs, the printed lines
//!     the rollout is judged                       judge.rs: the expected revision and the goal (options.rs), the causes,
//!                                                 the deadline
//!     on an outcome: request a refresh, or report the result                          target.rs
//!     on a failure:  the command takes the rollback, and answers with what it wrote   undo_on_failure.rs
//!     the loop takes all reports and requests     command/follow.rs executes the requests, whose answers are events;
//!                                                 render/status/ prints the reports, the line of the status first
//! ```
//!
//! Every observation is complete, so that missed events do not matter. The follower requests a refresh before an outcome
//! that an older observation must not decide. A missed event can therefore delay an outcome, and never change it.

mod cause_ledger;
mod expected_image;
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

pub use expected_image::ExpectedImage;
pub use options::{FollowOptions, Goal, UndoScope};
pub use report::{CauseChange, FollowRequest, Outcome, Report, RolloutFailure, TargetResult};
pub use start_state::{NoRollback, RELEASE_AGE, StartState};
pub use target::FollowedTarget;
pub use undo_on_failure::{Followed, Rollback, Rollbacks, is_complete_and_ready, stayed_complete};

use std::sync::Arc;
use std::time::Duration;

use crate::engine::{Effects, Engine, LoopEvent, Now, StopSignal, TargetContext, TargetId};
use crate::exit::Exit;
use crate::kind::Workload;

/// The answer to a rollback that the command took: the workload as it was written, and `None` if its rollout has completed since
/// its failure. Either is followed.
pub type FollowerAnswer = (TargetId, Option<Box<Workload>>);

/// Follows a set of workloads.
#[derive(Debug)]
pub struct Follower {
    targets: Vec<FollowedTarget>,
    /// The target whose failure rolls back the others, with `--undo-on-failure=all`.
    failed: Option<String>,
    /// The signal that ended the command.
    stopped: Option<StopSignal>,
}

impl Follower {
    /// Starts to follow workloads as they were found. [`TargetId`]s count from 0 in this order.
    #[must_use]
    pub fn new(options: FollowOptions, workloads: impl IntoIterator<Item = Workload>) -> Self {
        Self::of_contexts(options, [(None, workloads.into_iter().collect())])
    }

    /// Starts to follow the workloads of each context as they were found. [`TargetId`]s count from 0 in this order.
    #[must_use]
    pub fn of_contexts(
        options: FollowOptions,
        contexts: impl IntoIterator<Item = (Option<TargetContext>, Vec<Workload>)>,
    ) -> Self {
        let (options, mut targets) = (Arc::new(options), Vec::new());
        for (context, (named, workloads)) in contexts.into_iter().enumerate() {
            let named = named.map(Arc::new);
            for found in workloads {
                let id = TargetId { context, index: targets.len() };
                targets.push(FollowedTarget::new(Arc::clone(&options), id, named.clone(), found));
            }
        }
        Self { targets, failed: None, stopped: None }
    }

    /// Takes the rollbacks that are due. The command writes each, and applies [`FollowerAnswer`] if a target is to be followed
    /// again. The targets that failed come first. Without `--undo-on-failure` there is none.
    pub fn take_rollbacks(&mut self) -> Vec<(TargetId, StartState, Rollback)> {
        let take = |target: &mut FollowedTarget| {
            let (start, one) = target.take_rollback()?;
            Some((target.id(), start, one))
        };
        let mut due: Vec<_> = self.targets.iter_mut().filter_map(take).collect();
        due.sort_by_key(|(.., one)| matches!(one.failed.outcome, Outcome::OtherTargetFailed(_)));
        due
    }

    fn is_rollback_due(&self) -> bool {
        self.targets.iter().any(|target| target.due_rollback.is_some())
    }

    /// Takes the reports and tasks of the targets.
    fn take_effects(&mut self) -> Effects<(TargetId, Report), (TargetId, FollowRequest)> {
        let mut all = Effects::default();
        for target in &mut self.targets {
            let id = target.id();
            let Effects { reports, tasks } = std::mem::take(&mut target.effects);
            all.reports.extend(reports.into_iter().map(|report| (id, report)));
            all.tasks.extend(tasks.into_iter().map(|task| (id, task)));
        }
        all
    }

    /// Returns the worst exit code of all targets with their rollbacks. A target has no result when the reader of stdout exited.
    /// A signal counts even if every target has a result.
    #[must_use]
    pub fn exit(&self, rollbacks: &Rollbacks) -> Exit {
        let stopped = self.stopped.map_or(Exit::Done, StopSignal::exit);
        self.followed(rollbacks).map(|followed| followed.exit()).fold(stopped, Exit::worst)
    }

    /// Whether a signal ends the command: nothing is to be written any more.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// Returns the targets with their rollbacks.
    pub fn followed<'a>(&'a self, rollbacks: &'a Rollbacks) -> impl Iterator<Item = Followed<'a>> {
        self.targets.iter().map(|target| Followed { target, rollback: rollbacks.get(&target.id()) })
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
        match event {
            LoopEvent::Target(id, event) => {
                if let Some(target) = self.targets.get_mut(id.index) {
                    target.apply(event, target.at(now));
                }
            }
            LoopEvent::Answer((id, written)) => {
                if let Some(target) = self.targets.get_mut(id.index) {
                    match written {
                        Some(written) => *target = target.as_written(*written),
                        None => target.resume(),
                    }
                    target.advance(target.at(now), false);
                }
            }
            LoopEvent::Stop(stop) => {
                self.stopped.get_or_insert(stop);
                self.targets.iter_mut().for_each(|target| target.stop(stop, now));
            }
            LoopEvent::Tick { since_answer } => {
                for target in &mut self.targets {
                    let since_answer = since_answer.get(target.id().context).copied().unwrap_or_default();
                    target.tick(since_answer, target.at(now));
                }
            }
        }
        if self.failed.is_none() {
            let failed = self.targets.iter().find(|target| target.ends_release());
            self.failed = failed.map(FollowedTarget::name);
        }
        if let Some(failed) = &self.failed {
            self.targets.iter_mut().for_each(|target| target.end_after(failed, now.elapsed));
        }
        if !self.is_rollback_due() && self.is_finished() {
            self.targets.iter_mut().for_each(FollowedTarget::end);
        }
        self.take_effects()
    }

    fn due(&self) -> Option<Duration> {
        self.targets.iter().filter_map(FollowedTarget::due).min()
    }

    /// Whether every target has an outcome, or a rollback is due.
    fn is_finished(&self) -> bool {
        self.is_rollback_due() || self.targets.iter().all(|target| target.result().is_some())
    }
}
