//! Follows one target.

use std::sync::Arc;
use std::time::Duration;

use super::cause_reporter::CauseReporter;
use super::container_logs::ContainerLogs;
use super::container_logs::LogLines;
use super::event::{StopSignal, TargetEvent, TargetId};
use super::first_warnings::FirstWarnings;
use super::now::Now;
use super::observation_builder::ObservationBuilder;
use super::options::{FollowMode, FollowOptions};
use super::report::Report;
use super::reported_lines::ReportedLines;
use super::result::{Outcome, Rollback, TargetResult};
use super::stability::Stability;
use super::start_state::StartState;
use crate::model::follow::eta_estimator::EtaEstimator;
use crate::model::follow::expected_revision::ExpectedRevision;
use crate::model::follow::fatal_causes::FatalCauses;
use crate::model::follow::progress_clock::ProgressClock;
use crate::model::status::cause::{Cause, without_secrets_of};
use crate::model::status::observation::Observation;
use crate::model::workload::Workload;
use crate::model::workload::counts::Counts;
use crate::model::workload::verdict::{RolloutState, Verdict};

/// How long the refresh before a timeout may take.
pub(super) const FINAL_REFRESH_TIMEOUT: Duration = Duration::from_secs(1);

/// Some causes appear without an event: a container that stays unready for too long, or a pod that
/// outlives its grace period.
const EVALUATION_INTERVAL: Duration = Duration::from_secs(5);

/// One target: its observation, what was reported about it, and its result.
#[derive(Debug)]
pub struct TargetTracker {
    pub(super) id: TargetId,
    pub(super) options: Arc<FollowOptions>,
    /// The workload as it was found, before any event.
    pub(super) found: Workload,
    pub(super) observation: ObservationBuilder,
    /// The verdict that was reported last.
    pub(super) verdict: Option<Verdict>,
    pub(super) counts: Counts,
    /// What the follower reported last that it waits for.
    pub(super) waiting_for: Option<String>,
    pub(super) expected: Option<ExpectedRevision>,
    /// The name of the revision that the causes are about.
    pub(super) revision: Option<String>,
    pub(super) lines: ReportedLines,
    pub(super) warnings: FirstWarnings,
    pub(super) causes: CauseReporter,
    pub(super) fatal_causes: FatalCauses,
    pub(super) progress: ProgressClock,
    /// Since when the goal is reached, if it is.
    pub(super) stability: Option<Stability>,
    /// Whether a requested refresh has not arrived yet.
    pub(super) refresh_requested: bool,
    /// When the refresh before the timeout was requested.
    pub(super) final_refresh: Option<Duration>,
    /// When the target was last evaluated.
    pub(super) evaluated_at: Duration,
    pub(super) start_state: Option<StartState>,
    pub(super) eta: EtaEstimator,
    /// The last log lines of its containers.
    logs: ContainerLogs,
    /// The rollback, once the target failed and a rollback was requested.
    pub(super) rollback: Option<Rollback>,
    result: Option<TargetResult>,
}

impl TargetTracker {
    pub(super) fn new(id: TargetId, options: Arc<FollowOptions>, found: Workload) -> Self {
        Self {
            id,
            options,
            found,
            observation: ObservationBuilder::new(),
            verdict: None,
            counts: Counts::default(),
            waiting_for: None,
            expected: None,
            revision: None,
            lines: ReportedLines::default(),
            warnings: FirstWarnings::default(),
            causes: CauseReporter::default(),
            fatal_causes: FatalCauses::default(),
            progress: ProgressClock::default(),
            stability: None,
            start_state: None,
            eta: EtaEstimator::default(),
            logs: ContainerLogs::default(),
            rollback: None,
            refresh_requested: false,
            final_refresh: None,
            evaluated_at: Duration::ZERO,
            result: None,
        }
    }

    /// Returns the workload as last observed, or as it was found.
    #[must_use]
    pub fn workload(&self) -> &Workload {
        self.observation().map_or(&self.found, |observation| &observation.workload)
    }

    /// Returns the observation once it is complete.
    #[must_use]
    pub fn observation(&self) -> Option<&Observation> {
        self.observation.observation()
    }

    /// Returns the verdict that was reported last.
    #[must_use]
    pub fn verdict(&self) -> Option<&Verdict> {
        self.verdict.as_ref()
    }

    /// Returns the causes that were reported and are not gone.
    pub fn causes(&self) -> impl Iterator<Item = &Cause> {
        self.causes.active()
    }

    /// Returns the last log lines of the container that the cause is about, if they were read.
    #[must_use]
    pub fn log_for(&self, cause: &Cause) -> Option<&LogLines> {
        self.logs.of(cause)
    }

    /// Returns the state at the start, once the first observation is complete.
    #[must_use]
    pub fn start_state(&self) -> Option<&StartState> {
        self.start_state.as_ref()
    }

    /// Returns the estimated time left; none if the rollout does not progress or there is no
    /// estimate.
    #[must_use]
    pub fn time_left(&self, now: Duration) -> Option<Duration> {
        let is_progressing =
            self.verdict.as_ref().is_some_and(|verdict| verdict.state == RolloutState::Progressing);
        let is_stuck = self.causes().any(|cause| !cause.is_transient);
        self.eta.time_left(now).filter(|_| is_progressing && !is_stuck && self.result.is_none())
    }

    /// Returns the result, once there is one.
    #[must_use]
    pub fn result(&self) -> Option<&TargetResult> {
        self.result.as_ref()
    }

    /// Applies an event of the target.
    pub(super) fn apply(&mut self, event: TargetEvent, now: Now, reports: &mut Vec<Report>) {
        match event {
            TargetEvent::Log(log) => return self.add_log(log, reports), // useful even after the end
            TargetEvent::RolledBack(written) => {
                return self.apply_rollback_result(written, now, reports);
            }
            _ if self.result.is_some() => return,
            TargetEvent::Deleted => return self.finish(Outcome::Deleted, now.elapsed, reports),
            TargetEvent::Unreadable(error) => {
                return self.finish(Outcome::Unreadable(error), now.elapsed, reports);
            }
            _ => {}
        }
        if self.options.mode == FollowMode::Kubectl {
            return self.apply_kubectl_mode(&event, now, reports);
        }
        if self.is_recreated(&event) {
            return self.finish(Outcome::Recreated, now.elapsed, reports);
        }
        if self.predates_rollback(&event) {
            return;
        }
        let fresh = matches!(event, TargetEvent::Refreshed(_));
        if matches!(event, TargetEvent::Warnings(_)) {
            self.warnings = FirstWarnings::Known;
        }
        let mut later_workloads = self.observation.apply(event);
        self.evaluate(now, fresh, reports);
        while let Some(workload) = later_workloads.pop_front().filter(|_| self.result.is_none()) {
            later_workloads.extend(self.observation.apply(TargetEvent::Workload(Box::new(workload))));
            self.evaluate(now, fresh, reports);
        }
    }

    /// Evaluates the target because time passed.
    pub(super) fn tick(&mut self, now: Now, reports: &mut Vec<Report>) {
        match self.options.mode {
            _ if self.result.is_some() => {}
            FollowMode::Native => self.evaluate(now, false, reports),
            FollowMode::Kubectl => {
                if let Some(limit) = self.options.timeout.filter(|limit| now.elapsed >= *limit) {
                    self.finish(Outcome::TimedOut(limit), now.elapsed, reports);
                }
            }
        }
    }

    /// Finishes the target because the process was asked to stop.
    pub(super) fn stop(&mut self, stop: StopSignal, now: Now, reports: &mut Vec<Report>) {
        if self.result.is_none() {
            self.finish(Outcome::Interrupted(stop), now.elapsed, reports);
        }
    }

    /// Returns when to evaluate the target again if no event arrives. Whatever was due at the last
    /// evaluation is done.
    pub(super) fn due(&self) -> Option<Duration> {
        if self.result.is_some() {
            return None;
        }
        if self.options.mode == FollowMode::Kubectl {
            return self.options.timeout;
        }
        let stable = self.stability.as_ref().map(|stability| stability.since + self.options.stable);
        let deadline = self.options.deadline_for(self.workload());
        let dues = [
            self.final_refresh.map(|began| began + FINAL_REFRESH_TIMEOUT).or(self.options.timeout),
            self.lines.due(),
            self.warnings.due(),
            self.causes.due(),
            self.fatal_causes.due(),
            stable,
            deadline.map(|deadline| self.progress.last_progress() + deadline),
            Some(self.evaluated_at + EVALUATION_INTERVAL),
        ];
        dues.into_iter().flatten().filter(|due| *due > self.evaluated_at).min()
    }

    /// Whether another object has taken the name of the target. A uid is never reused.
    fn is_recreated(&self, event: &TargetEvent) -> bool {
        let uid = match event {
            TargetEvent::Workload(workload) => workload.object().uid(),
            TargetEvent::Refreshed(observation) => observation.workload.object().uid(),
            _ => return false,
        };
        uid != self.found.object().uid()
    }

    fn add_log(&mut self, log: LogLines, reports: &mut Vec<Report>) {
        if log.lines.is_empty() {
            return self.causes.note_missing_log(&log.pod, &log.container);
        }
        let log = LogLines { lines: without_secrets_of(self.observation.observation(), &log.lines), ..log };
        self.logs.keep(log.clone());
        reports.push(Report::Log { target: self.id, log });
    }

    pub(super) fn finish(&mut self, outcome: Outcome, elapsed: Duration, reports: &mut Vec<Report>) {
        if outcome == Outcome::Reached {
            self.causes.report_gone(self.id, reports);
            self.report_last_line(reports);
        }
        let result = match &self.rollback {
            Some(rollback) => rollback.clone().end(outcome, elapsed),
            None => self.result_with(outcome, elapsed),
        };
        self.set_result(result, reports);
    }

    pub(super) fn result_with(&self, outcome: Outcome, elapsed: Duration) -> TargetResult {
        let line = self.verdict.as_ref().map(|verdict| verdict.line.clone()).unwrap_or_default();
        TargetResult { outcome, line, elapsed, rollback: None }
    }

    pub(super) fn set_result(&mut self, result: TargetResult, reports: &mut Vec<Report>) {
        self.result = Some(result.clone());
        reports.push(Report::Ended { target: self.id, result });
    }

    /// Discards every conclusion, and keeps the observation, the start state and the logs.
    pub(super) fn reset_for_rollback(&mut self, found: Workload) {
        let new = Self::new(self.id, Arc::clone(&self.options), found);
        let observation = std::mem::replace(&mut self.observation, ObservationBuilder::new());
        let (start_state, rollback, logs) =
            (self.start_state.take(), self.rollback.take(), std::mem::take(&mut self.logs));
        *self = Self {
            observation,
            start_state,
            rollback,
            logs,
            warnings: self.warnings,
            evaluated_at: self.evaluated_at,
            ..new
        };
    }
}
