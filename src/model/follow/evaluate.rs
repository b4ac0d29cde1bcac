//! Evaluates a target: reports what changed, and decides whether the target is finished.

use super::decision::{FollowDecision, Judgement};
use super::goal::GoalState;
use super::now::Now;
use super::options::FollowOptions;
use super::report::{FollowerRequest, Report};
use super::result::{Outcome, RolloutFailure};
use super::stability::Stability;
use super::start_state::StartState;
use super::target_tracker::{FINAL_REFRESH_TIMEOUT, TargetTracker};
use crate::error::Result;
use crate::model::follow::expected_revision::{ExpectedRevision, RevisionMatch};
use crate::model::status::cause::causes;
use crate::model::status::verdict::{Counts, RolloutState, verdict};

impl TargetTracker {
    /// Evaluates the observation and finishes the target if it is done. `fresh` says that the
    /// observation was read as a whole just now.
    pub(super) fn evaluate(
        &mut self,
        now: Now,
        fresh: bool,
        options: &FollowOptions,
        reports: &mut Vec<Report>,
    ) {
        self.evaluated_at = now.elapsed;
        self.refresh_requested &= !fresh;
        if self.is_rollback_pending() {
            return;
        }
        match self.report_and_decide(now, options, reports) {
            FollowDecision::Finish(outcome) => {
                return self.finish_or_roll_back(outcome, now.elapsed, options, reports);
            }
            FollowDecision::ConfirmFirst(outcome) if fresh => {
                return self.finish_or_roll_back(outcome, now.elapsed, options, reports);
            }
            FollowDecision::ConfirmFirst(_) => self.request_refresh(reports),
            FollowDecision::Continue => {}
        }
        self.delete_stuck_pod(fresh, options, reports);
        let Some(limit) = options.timeout.filter(|limit| now.elapsed >= *limit) else {
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
    fn report_and_decide(
        &mut self,
        now: Now,
        options: &FollowOptions,
        reports: &mut Vec<Report>,
    ) -> FollowDecision {
        if let Some(observation) = self.observation.observation() {
            self.start_state.get_or_insert_with(|| StartState::of(&self.found, observation));
        }
        match self.match_expected_revision(options) {
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
        let elapsed = now.elapsed;
        let (verdict, counts) = (verdict(observation), Counts::of(&observation.workload));
        self.progress.record(&observation.workload, elapsed);
        // Scripts wait for kubectl's line of success, so it must not be printed before the success is certain.
        let is_uncertain = verdict.state == RolloutState::Complete
            && self.may_still_fail(observation, options, now.server_time);
        let line_changed = if is_uncertain {
            self.lines.hold_back();
            false
        } else {
            self.lines.record(&verdict, self.progress.last_progress(), elapsed)
        };
        if line_changed || self.verdict.as_ref() != Some(&verdict) || self.counts != counts {
            let verdict = verdict.clone();
            let (target, is_rollback) = (self.id, self.rollback.is_some());
            reports.push(Report::Status { target, verdict, counts, line_changed, is_rollback });
        }
        (self.verdict, self.counts) = (Some(verdict.clone()), counts);
        let revision = observation.revisions.current().map(|current| current.name.clone());
        if revision != self.revision {
            self.fatal_causes.reset(); // a new revision gets its own grace periods
            self.eta.reset();
            self.revision = revision;
        }
        self.eta.record(observation, elapsed);
        let is_unfinished = !matches!(verdict.state, RolloutState::Complete | RolloutState::Unobserved);
        let has_time = options.timeout.is_none_or(|limit| elapsed < limit);
        let lacks_warnings = is_unfinished && has_time && self.warnings.are_awaited(elapsed);
        if !lacks_warnings {
            let causes = causes(observation, now.server_time);
            self.causes.record(self.id, &causes, elapsed, reports);
            self.fatal_causes.record(&causes, observation, options, self.progress.last_progress(), now);
        }
        let reached = options.goal.state(observation, &verdict) == GoalState::Reached;
        let before = self.stability.take();
        self.stability = reached.then(|| Stability::extend_or_restart(before, observation, elapsed));
        let remainder = options.goal.remainder(observation, &verdict);
        // The causes must be reported before the result.
        let decision = if lacks_warnings {
            FollowDecision::Continue
        } else {
            self.decide(&Judgement { observation, verdict: &verdict, now }, options)
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
    fn match_expected_revision(&mut self, options: &FollowOptions) -> Option<Result<RevisionMatch>> {
        let observation = self.observation.observation()?;
        if self.expected.is_none() {
            self.expected = ExpectedRevision::from_options(options, &self.found);
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
