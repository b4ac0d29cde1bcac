//! Follows one target: applies its events, evaluates it, and reports what changed.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

use super::evaluation::{RolloutEvaluation, Warnings};
use super::options::FollowOptions;
use super::report::{Outcome, Report, Rollback, RollbackResult, RolloutFailure, TargetResult};
use super::start_state::StartState;
use crate::cause::container_logs::{ContainerLogs, LogLines};
use crate::cause::{Cause, by_importance, last_lines_without_secrets};
use crate::change::stuck_pods::StuckPodDeletions;
use crate::engine::{Now, StopSignal, TargetEvent};
use crate::kind::Workload;
use crate::kind::verdict::{RolloutState, Verdict};
use crate::observation::Observation;
use crate::revision::references::Configuration;
use crate::status::stale_configuration::{StaleConfiguration, stale_configuration};
use crate::view::RolloutView;

/// Some causes appear without an event: a container that stays unready for too long, or a pod that
/// outlives its grace period.
const EVALUATION_INTERVAL: Duration = Duration::from_secs(5);

/// The longest silence of a server that answers: it ends a watch without events after 30 s, and 5 s are for the next request.
const LONGEST_SILENCE: Duration = Duration::from_secs(35);

/// One target: its observation, what was reported about it, and its result.
#[derive(Debug)]
pub struct FollowedTarget {
    /// The workload as it was found, or as its rollback was written. An older state is not taken then.
    pub(super) found_workload: Workload,
    pub(super) observation: Option<Observation>,
    pub(super) start_state: Option<StartState>,
    pub(super) evaluation: RolloutEvaluation,
    /// When the target was last evaluated.
    evaluated_at: Duration,
    /// How long before its last evaluation the server last answered a read, if it does not answer.
    since_answer: Option<Duration>,
    logs: ContainerLogs,
    pub(super) stuck_pods: StuckPodDeletions,
    /// The rollback, once the target failed and a rollback was requested.
    pub(super) rollback: Option<Rollback>,
    /// Whether the rollout that was found failed, with `--undo-on-failure`.
    pub(super) found_rollout_failed: bool,
    /// The signal that ends the command.
    pub(super) stopped: Option<StopSignal>,
    /// The event that ends the target, if it arrived while the rollback was written.
    pub(super) deferred: Option<TargetEvent>,
    pub(super) result: Option<TargetResult>,
}

impl FollowedTarget {
    pub(super) fn new(options: Arc<FollowOptions>, found: Workload) -> Self {
        Self {
            evaluation: RolloutEvaluation::new(&found, options),
            found_workload: found,
            observation: None,
            start_state: None,
            evaluated_at: Duration::ZERO,
            since_answer: None,
            logs: ContainerLogs::default(),
            stuck_pods: StuckPodDeletions::default(),
            rollback: None,
            found_rollout_failed: false,
            stopped: None,
            deferred: None,
            result: None,
        }
    }

    /// Returns the workload as last observed, or as it was found.
    #[must_use]
    pub fn workload(&self) -> &Workload {
        self.observation().map_or(&self.found_workload, |observation| &observation.workload)
    }

    /// Returns the observation, once revisions and pods were read.
    #[must_use]
    pub fn observation(&self) -> Option<&Observation> {
        self.observation.as_ref()
    }

    /// Returns what is stale of the ConfigMaps and Secrets that the template names.
    #[must_use]
    pub fn stale_configuration(&self, objects: &[Configuration]) -> Vec<StaleConfiguration> {
        self.observation().map(|observed| stale_configuration(observed, objects)).unwrap_or_default()
    }

    /// Returns the verdict that was reported last.
    #[must_use]
    pub fn verdict(&self) -> Option<&Verdict> {
        self.evaluation.verdict()
    }

    /// Returns the causes that were reported, are not gone and that its verdict does not contradict, most important first.
    pub fn causes(&self) -> impl Iterator<Item = &Cause> {
        let is_complete = self.verdict().is_some_and(|verdict| verdict.state == RolloutState::Complete);
        let mut causes: Vec<_> = self.evaluation.causes.shown(is_complete).collect();
        causes.sort_by(|a, b| by_importance(a, b));
        causes.into_iter()
    }

    /// Returns the view of the target as last evaluated, once revisions and pods were read. `now` is the server's time.
    #[must_use]
    pub fn view(&self, now: Timestamp) -> Option<RolloutView> {
        let observed = self.observation()?;
        if let Some(Outcome::Failed(RolloutFailure::Replaced(line))) = self.result().map(|one| &one.outcome) {
            // The causes that were reported are of the revision before.
            return Some(RolloutView::of(observed, now).replaced(line.clone()));
        }
        Some(RolloutView::with(observed, self.verdict()?.clone(), self.causes().cloned().collect(), now))
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

    /// Returns the time left, mostly an estimate; none if the rollout does not progress or nothing is known of it.
    #[must_use]
    pub fn time_left(&self, now: Duration) -> Option<Duration> {
        self.evaluation.time_left(now).filter(|_| self.result.is_none())
    }

    /// Returns the rollback, once it was started or refused.
    #[must_use]
    pub fn rollback(&self) -> Option<&Rollback> {
        self.rollback.as_ref()
    }

    /// Whether the rollback was written, so that the present revision is the restored one.
    #[must_use]
    pub fn is_rollback_written(&self) -> bool {
        self.rollback.as_ref().is_some_and(|rollback| rollback.is_written)
    }

    /// Returns the result, once there is one.
    #[must_use]
    pub fn result(&self) -> Option<&TargetResult> {
        self.result.as_ref()
    }

    /// Returns what it waits for.
    #[must_use]
    pub fn options(&self) -> &FollowOptions {
        &self.evaluation.options
    }

    /// Applies an event of the target.
    pub(super) fn apply(&mut self, event: TargetEvent, now: Now) {
        self.since_answer = None;
        let event = match event {
            TargetEvent::Log(log) => return self.add_log(log), // useful even after the end
            event if self.may_be_rolled_back_later() => {
                let _ = self.observe(event); // its rollback is evaluated from the present state
                return;
            }
            _ if self.result.is_some() => return,
            event if self.is_rollback_awaited() && self.is_end(&event) => {
                self.deferred = Some(event);
                return;
            }
            TargetEvent::Deleted => return self.finish(Outcome::Deleted, now.elapsed),
            TargetEvent::Unreadable(error) => {
                return self.finish(Outcome::Unreadable(error), now.elapsed);
            }
            event if self.is_recreated(&event) => {
                return self.finish(Outcome::Recreated, now.elapsed);
            }
            event => event,
        };
        if let Some(is_refresh) = self.observe(event) {
            self.advance(now, is_refresh);
        }
    }

    /// Records an observation, and returns whether it is that of a refresh; none if there is none to evaluate. After
    /// a rollback was written, a workload from before it would be judged as failed again, and is not taken.
    fn observe(&mut self, event: TargetEvent) -> Option<bool> {
        let (mut observation, is_refresh) = match event {
            TargetEvent::Observed { observation, events_answered } => {
                if events_answered {
                    self.evaluation.warnings = Warnings::Read;
                }
                (*observation, false)
            }
            TargetEvent::Refreshed(observation) => (*observation, true),
            _ => return None,
        };
        let is_older = observation.workload.object().generation() < self.found_workload.object().generation();
        if self.rollback.is_some() && is_older {
            if is_refresh {
                return None;
            }
            observation.replace_workload(self.workload().clone());
        }
        self.observation = Some(observation);
        Some(is_refresh)
    }

    /// Evaluates the target because time passed. The server last answered a read `since_answer` ago.
    pub(super) fn tick(&mut self, since_answer: Duration, now: Now) {
        self.since_answer = Some(since_answer).filter(|silence| *silence > LONGEST_SILENCE);
        if self.result.is_none() {
            self.advance(now, false);
        }
    }

    /// Finishes the target because the process was asked to stop. If its rollback is being written, it waits for the answer, or
    /// for a second signal.
    pub(super) fn stop(&mut self, stop: StopSignal, now: Now) {
        let before = self.stopped;
        self.stopped = before.or(Some(stop));
        if self.result.is_some() {
            return;
        }
        if before.is_some() && self.is_rollback_awaited() {
            let why = "a second signal ended the command before the answer to the write";
            return self.apply_rollback_result(Err(RollbackResult::Unknown(why.to_owned())), now);
        }
        self.advance(now, false);
    }

    /// Whether a rollback was requested, and it is not known yet whether it was written.
    fn is_rollback_awaited(&self) -> bool {
        self.rollback.as_ref().is_some_and(|rollback| !rollback.is_written)
    }

    /// Returns when to evaluate the target again if no event arrives. Whatever was due at the last
    /// evaluation is done.
    pub(super) fn due(&self) -> Option<Duration> {
        if self.result.is_some() {
            return None;
        }
        let dues = [self.stuck_pods.due(), Some(self.evaluated_at + EVALUATION_INTERVAL)];
        let of_evaluation = self.evaluation.dues(self.workload());
        dues.into_iter().flatten().chain(of_evaluation).filter(|due| *due > self.evaluated_at).min()
    }

    /// Whether an event ends the target: it is gone, or cannot be read.
    fn is_end(&self, event: &TargetEvent) -> bool {
        matches!(event, TargetEvent::Deleted | TargetEvent::Unreadable(_)) || self.is_recreated(event)
    }

    /// Whether another object has taken the name of the target. A uid is never reused.
    fn is_recreated(&self, event: &TargetEvent) -> bool {
        event.workload().is_some_and(|workload| workload.object().uid() != self.found_workload.object().uid())
    }

    fn add_log(&mut self, log: LogLines) {
        if log.lines.is_empty() {
            return self.evaluation.causes.note_missing_log(&log.pod, &log.container);
        }
        let log = LogLines { lines: last_lines_without_secrets(self.observation(), &log.lines), ..log };
        self.evaluation.causes.explain(&log);
        if self.logs.keep(log.clone()) {
            self.evaluation.effects.reports.push(Report::Log(log));
        }
    }

    /// Evaluates the observation, and finishes the target if it is done. `is_refresh` says that everything was read again just
    /// now. Otherwise an outcome that needs a refresh becomes one: it is decided again on the refresh.
    pub(super) fn advance(&mut self, now: Now, is_refresh: bool) {
        self.evaluated_at = now.elapsed;
        self.evaluation.refresh_requested &= !is_refresh;
        if self.is_rollback_awaited() {
            return;
        }
        if let Some(stop) = self.stopped {
            return self.finish(Outcome::Interrupted(stop), now.elapsed);
        }
        if let Some(observation) = &self.observation {
            if !self.options().once && self.start_state.is_none() {
                match StartState::of(&self.found_workload, observation, self.options(), now.server_time) {
                    Ok(start) => self.start_state = Some(start),
                    Err(error) => return self.finish(Outcome::Unreadable(error), now.elapsed),
                }
            }
            match self.evaluation.evaluate(observation, now) {
                Some(outcome) if is_refresh || !self.evaluation.needs_refresh(&outcome) => {
                    if self.is_to_be_rolled_back(&outcome) {
                        self.roll_back(outcome, now.elapsed);
                    } else {
                        self.finish(outcome, now.elapsed);
                    }
                    return;
                }
                _ if self.options().once => return self.finish(Outcome::Unfinished, now.elapsed),
                Some(_) => self.evaluation.request_refresh(),
                None => self.evaluation.report_rollback_target(self.start_state.as_ref(), observation),
            }
        }
        self.delete_stuck_pod(is_refresh, now.elapsed);
        if let Some(outcome) = self.evaluation.time_out(is_refresh, now.elapsed) {
            self.finish(outcome, now.elapsed);
        }
    }

    pub(super) fn finish(&mut self, outcome: Outcome, elapsed: Duration) {
        self.evaluation.report_end(&outcome, elapsed);
        let result = match &self.rollback {
            Some(rollback) => rollback.clone().end(outcome, elapsed),
            None => self.result_with(outcome, elapsed),
        };
        self.set_result(TargetResult { since_answer: self.since_answer, ..result });
    }

    pub(super) fn result_with(&self, outcome: Outcome, elapsed: Duration) -> TargetResult {
        let line = self.verdict().map(|verdict| verdict.line.clone()).unwrap_or_default();
        TargetResult { outcome, line, elapsed, since_answer: None, rollback: None, stopped: None }
    }

    pub(super) fn set_result(&mut self, result: TargetResult) {
        self.result = Some(TargetResult { stopped: self.stopped, ..result });
        if !self.may_be_rolled_back_later() {
            self.report_result();
        }
    }

    pub(super) fn report_result(&mut self) {
        self.evaluation.effects.reports.extend(self.result.clone().map(Report::Ended));
    }
}
