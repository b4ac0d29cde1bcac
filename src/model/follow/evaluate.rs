//! Evaluates a target: reports what changed, and decides whether the target is finished.

use std::time::Duration;

use super::decision::{FollowDecision, Judgement};
use super::goal::GoalState;
use super::now::Now;
use super::report::{FollowerRequest, Report};
use super::result::{Outcome, RolloutFailure};
use super::stability::Stability;
use super::start_state::StartState;
use super::target_tracker::{FINAL_REFRESH_TIMEOUT, TargetTracker};
use crate::error::Result;
use crate::model::follow::expected_revision::{ExpectedRevision, RevisionMatch};
use crate::model::status::cause::causes;
use crate::model::status::verdict::verdict;
use crate::model::workload::counts::Counts;
use crate::model::workload::verdict::{RolloutState, Verdict};

impl TargetTracker {
    /// Evaluates the observation and finishes the target if it is done. `fresh` says that the
    /// observation was read as a whole just now.
    pub(super) fn evaluate(&mut self, now: Now, fresh: bool, reports: &mut Vec<Report>) {
        self.evaluated_at = now.elapsed;
        self.refresh_requested &= !fresh;
        if self.is_rollback_pending() {
            return;
        }
        match self.report_and_decide(now, reports) {
            FollowDecision::Finish(outcome) => {
                return self.finish_or_roll_back(outcome, now.elapsed, reports);
            }
            FollowDecision::ConfirmFirst(outcome) if fresh => {
                return self.finish_or_roll_back(outcome, now.elapsed, reports);
            }
            FollowDecision::ConfirmFirst(_) => self.request_refresh(reports),
            FollowDecision::Continue => {}
        }
        self.delete_stuck_pod(fresh, reports);
        let Some(limit) = self.options.timeout.filter(|limit| now.elapsed >= *limit) else {
            return;
        };
        match self.final_refresh {
            None => {
                self.final_refresh = Some(now.elapsed);
                self.request_refresh(reports);
            }
            Some(began) if fresh || now.elapsed >= began + FINAL_REFRESH_TIMEOUT => {
                self.finish(Outcome::TimedOut(limit), now.elapsed, reports);
            }
            Some(_) => {}
        }
    }

    /// Evaluates the observation, reports what changed and returns the decision.
    fn report_and_decide(&mut self, now: Now, reports: &mut Vec<Report>) -> FollowDecision {
        if let Some(observation) = self.observation.observation() {
            self.start_state.get_or_insert_with(|| StartState::of(&self.found, observation));
        }
        match self.match_expected_revision() {
            None => return FollowDecision::Continue,
            Some(Err(error)) => return FollowDecision::Finish(Outcome::Unreadable(error)),
            Some(Ok(RevisionMatch::NotYet(reason))) => {
                self.report_waiting(reason, reports);
                return FollowDecision::Continue;
            }
            Some(Ok(RevisionMatch::TakenOver(line))) => {
                return FollowDecision::Finish(Outcome::Failed(RolloutFailure::TakenOver(line)));
            }
            Some(Ok(RevisionMatch::Expected)) => {}
        }
        let Some(observation) = self.observation.observation() else {
            return FollowDecision::Continue;
        };
        let verdict = verdict(observation);
        self.progress.record(&observation.workload, now.elapsed);
        self.report_verdict(&verdict, now, reports);
        self.record_revision(now.elapsed);
        let has_causes = self.report_causes(verdict.state, now, reports);
        self.decide_by_goal(&verdict, has_causes, now, reports)
    }

    /// Reports the verdict and the counters if they changed. Scripts wait for kubectl's line of success, so it is
    /// held back until the success is certain.
    fn report_verdict(&mut self, verdict: &Verdict, now: Now, reports: &mut Vec<Report>) {
        let counts = Counts::of(self.workload());
        let may_fail = |observation| self.may_still_fail(observation, now.server_time);
        let is_uncertain =
            verdict.state == RolloutState::Complete && self.observation().is_some_and(may_fail);
        let line_changed = if is_uncertain {
            self.lines.hold_back();
            false
        } else {
            self.lines.record(verdict, self.progress.last_progress(), now.elapsed)
        };
        if line_changed || self.verdict.as_ref() != Some(verdict) || self.counts != counts {
            let (target, is_rollback) = (self.id, self.rollback.is_some());
            let verdict = verdict.clone();
            reports.push(Report::Status { target, verdict, counts, line_changed, is_rollback });
        }
        (self.verdict, self.counts) = (Some(verdict.clone()), counts);
    }

    /// Records the current revision and its progress. Another revision gets its own grace periods and estimate.
    fn record_revision(&mut self, now: Duration) {
        let Some(observation) = self.observation.observation() else { return };
        let revision = observation.revisions.current().map(|current| current.name.clone());
        if revision != self.revision {
            self.fatal_causes.reset();
            self.eta.reset();
            self.revision = revision;
        }
        self.eta.record(observation, now);
    }

    /// Reports the causes that changed. Returns false while the first warnings are awaited, because they may show
    /// other causes.
    fn report_causes(&mut self, state: RolloutState, now: Now, reports: &mut Vec<Report>) -> bool {
        let Some(observation) = self.observation.observation() else { return false };
        let is_unfinished = !matches!(state, RolloutState::Complete | RolloutState::Unobserved);
        let has_time = self.options.timeout.is_none_or(|limit| now.elapsed < limit);
        if is_unfinished && has_time && self.warnings.are_awaited(now.elapsed) {
            return false;
        }
        let causes = causes(observation, now.server_time);
        self.causes.record(self.id, &causes, now.elapsed, reports);
        self.fatal_causes.record(&causes, observation, &self.options, self.progress.last_progress(), now);
        true
    }

    /// Decides whether the target is finished, once its causes are known, and reports what the goal still needs.
    fn decide_by_goal(
        &mut self,
        verdict: &Verdict,
        has_causes: bool,
        now: Now,
        reports: &mut Vec<Report>,
    ) -> FollowDecision {
        let Some(observation) = self.observation.observation() else { return FollowDecision::Continue };
        let is_reached = self.options.goal.state(observation, verdict) == GoalState::Reached;
        let before = self.stability.take();
        self.stability = is_reached.then(|| Stability::extend_or_restart(before, observation, now.elapsed));
        let remainder = self.options.goal.remainder(observation, verdict);
        let decision = if has_causes {
            self.decide(&Judgement { observation, verdict, now })
        } else {
            FollowDecision::Continue
        };
        if let Some(remainder) = remainder {
            self.report_waiting(remainder, reports);
        }
        decision
    }

    /// Reports the line of the last verdict, if another one was printed after it.
    pub(super) fn report_last_line(&self, reports: &mut Vec<Report>) {
        let verdict = self.verdict.clone().filter(|_| self.lines.is_held_back());
        reports.extend(verdict.map(|verdict| Report::Status {
            target: self.id,
            verdict,
            counts: self.counts,
            line_changed: true,
            is_rollback: self.rollback.is_some(),
        }));
    }

    /// Compares the target with the expected revision, if there is one. Returns none while the
    /// observation is incomplete.
    fn match_expected_revision(&mut self) -> Option<Result<RevisionMatch>> {
        let observation = self.observation.observation()?;
        if self.expected.is_none() {
            self.expected = ExpectedRevision::from_options(&self.options, &self.found);
        }
        Some(
            self.expected
                .as_mut()
                .map_or(Ok(RevisionMatch::Expected), |expected| expected.compare(observation)),
        )
    }

    fn report_waiting(&mut self, reason: String, reports: &mut Vec<Report>) {
        if self.waiting_for.as_ref() != Some(&reason) {
            self.waiting_for = Some(reason.clone());
            reports.push(Report::Waiting { target: self.id, reason });
        }
    }

    pub(super) fn request_refresh(&mut self, reports: &mut Vec<Report>) {
        if !self.refresh_requested {
            self.refresh_requested = true;
            reports.push(Report::Request(FollowerRequest::Refresh(self.id)));
        }
    }
}
