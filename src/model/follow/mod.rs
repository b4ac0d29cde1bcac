//! Follows rollouts until each target has an outcome: events in, reports and requests out.
//!
//! A [`Follower`] does no I/O and has no clock. Its driver passes every event with its time to
//! [`Follower::apply`], carries out each [`FollowerRequest`], and calls again when
//! [`Follower::due`] says so. Every event carries a complete state, so missed events do not matter.
//! Before elapsed time or a hold decides an outcome, the follower requests a refresh. A missed
//! event can therefore delay an outcome, and never change it.

mod cause_reporter;
mod container_logs;
mod decision;
mod eta_estimator;
mod evaluate;
mod event;
mod expected_revision;
mod fatal_causes;
mod first_warnings;
mod goal;
mod kubectl_mode;
mod now;
mod observation_builder;
mod options;
mod progress_clock;
mod report;
mod reported_lines;
mod result;
mod rollback;
mod stability;
mod start_state;
mod target_tracker;

#[cfg(test)]
mod tests;

pub(super) use cause_reporter::CauseReporter;
pub(super) use fatal_causes::FatalCauses;
pub(super) use observation_builder::ObservationBuilder;
pub(super) use progress_clock::ProgressClock;

pub use container_logs::{ContainerLogs, LogLines};
pub use event::{FollowerEvent, StopSignal, TargetEvent, TargetId};
pub use goal::Goal;
pub use now::Now;
pub use options::{FollowMode, FollowOptions};
pub use report::{CauseChange, FollowerRequest, LogRef, PodRef, Report};
pub use result::{Outcome, Rollback, RollbackResult, RolloutFailure, TargetResult};
pub use start_state::StartState;
pub use target_tracker::TargetTracker;

use std::sync::Arc;
use std::time::Duration;

use super::workload::Workload;

/// Follows a set of workloads.
#[derive(Debug)]
pub struct Follower {
    targets: Vec<TargetTracker>,
}

impl Follower {
    /// Starts to follow workloads as they were found. [`TargetId`]s count from 0 in this order.
    #[must_use]
    pub fn new(options: FollowOptions, workloads: impl IntoIterator<Item = Workload>) -> Self {
        let options = Arc::new(options);
        let target = |(index, found)| TargetTracker::new(TargetId(index), Arc::clone(&options), found);
        Self { targets: workloads.into_iter().enumerate().map(target).collect() }
    }

    /// Applies one event and returns the reports and requests that follow from it, in order.
    pub fn apply(&mut self, event: FollowerEvent, now: Now) -> Vec<Report> {
        let mut reports = Vec::new();
        match event {
            FollowerEvent::Target(TargetId(index), event) => {
                if let Some(target) = self.targets.get_mut(index) {
                    target.apply(event, now, &mut reports);
                }
            }
            FollowerEvent::Stopped(stop) => {
                for target in &mut self.targets {
                    target.stop(stop, now, &mut reports);
                }
            }
            FollowerEvent::Tick => {
                for target in &mut self.targets {
                    target.tick(now, &mut reports);
                }
            }
        }
        reports
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
