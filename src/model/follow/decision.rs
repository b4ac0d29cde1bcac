//! Decides whether a target is finished: by its goal, its fatal causes, its deadline and the timeout.

use std::time::Duration;

use super::evaluation::{RolloutTracker, TargetDecision};
use super::options::GoalState;
use super::report::{FollowerTask, Outcome, RolloutFailure, TargetEffects};
use crate::error::{Error, ErrorKind};
use crate::model::kind::Workload;
use crate::model::kind::verdict::{RolloutState, Verdict};

/// How long to wait for the first list of warnings. Without warnings, some causes cannot be distinguished or have no
/// evidence.
const FIRST_WARNINGS_TIMEOUT: Duration = Duration::from_secs(3);

/// How long the refresh before a timeout may take.
const FINAL_REFRESH_TIMEOUT: Duration = Duration::from_secs(1);

impl RolloutTracker {
    /// Requests the warnings of a rollout that is not complete. Returns whether the causes must wait for them, because they may
    /// show other causes.
    pub(super) fn must_await_warnings(
        &mut self,
        state: RolloutState,
        now: Duration,
        out: &mut TargetEffects,
    ) -> bool {
        if !state.is_observed_and_incomplete() {
            return false;
        }
        let until = *self.warnings_until.get_or_insert_with(|| {
            out.tasks.push(FollowerTask::WatchWarnings);
            now + FIRST_WARNINGS_TIMEOUT
        });
        now < until && self.options.timeout.is_none_or(|limit| now < limit)
    }

    /// Decides by the goal, the fatal causes and the deadline. `fresh` says that the observation was read as a whole just
    /// now.
    pub(super) fn decide(
        &self,
        goal: GoalState,
        workload: &Workload,
        verdict: &Verdict,
        fresh: bool,
        now: Duration,
    ) -> TargetDecision {
        if verdict.state == RolloutState::Failed && goal != GoalState::Reached {
            let seconds = workload.object().int("/spec/progressDeadlineSeconds");
            let failure = RolloutFailure::ProgressDeadline(seconds);
            return TargetDecision::finish_if_fresh(Outcome::Failed(failure), fresh);
        }
        match goal {
            GoalState::Reached => match self.stability.settles_at {
                Some(at) if now >= at => {
                    // Without a time to wait for, the observation alone decides.
                    let is_certain = fresh || !self.options.waits_for_stability();
                    return TargetDecision::finish_if_fresh(Outcome::Reached, is_certain);
                }
                // Pods beyond the share can crash for as long as the goal is reached, and keep it from settling.
                None if self.options.goal.needed_pods(workload).is_some() => {}
                _ => return TargetDecision::Continue,
            },
            GoalState::Held if !self.options.wait_held || self.options.once => {
                return TargetDecision::finish_if_fresh(Outcome::Held, fresh);
            }
            GoalState::Unknown => return TargetDecision::Finish(Outcome::Unreadable(pods_not_readable())),
            GoalState::Held | GoalState::Pending => {}
        }
        let expired = self.causes.expired(now).next();
        let fatal = expired.map(|(cause, grace)| RolloutFailure::Cause { id: cause.id, grace });
        match fatal.or_else(|| self.exceeded_deadline(workload, verdict.state, now)) {
            Some(failure) => TargetDecision::finish_if_fresh(Outcome::Failed(failure), fresh),
            None => TargetDecision::Continue,
        }
    }

    /// Returns the failure if nothing progressed for `--deadline`. Time spent in a hold does not count.
    fn exceeded_deadline(
        &self,
        workload: &Workload,
        state: RolloutState,
        now: Duration,
    ) -> Option<RolloutFailure> {
        let is_held = matches!(state, RolloutState::Held | RolloutState::Paused);
        let deadline = self.options.deadline_for(workload).filter(|_| !is_held)?;
        (now >= self.progress.last_progress() + deadline).then_some(RolloutFailure::Deadline(deadline))
    }

    /// Decides by the timeout. The last refresh before it has a limit of its own.
    pub(super) fn time_out(&mut self, fresh: bool, now: Duration) -> TargetDecision {
        let Some(limit) = self.options.timeout.filter(|limit| now >= *limit) else {
            return TargetDecision::Continue;
        };
        match self.final_refresh {
            None => {
                self.final_refresh = Some(now);
                TargetDecision::Refresh
            }
            Some(began) if fresh || now >= began + FINAL_REFRESH_TIMEOUT => {
                self.since_answer = (self.answered_at < began).then(|| now.saturating_sub(self.answered_at));
                TargetDecision::Finish(Outcome::TimedOut(limit))
            }
            Some(_) => TargetDecision::Continue,
        }
    }

    /// Returns when elapsed time alone changes a decision.
    pub(super) fn dues(&self, workload: &Workload) -> impl Iterator<Item = Duration> {
        let dues = [
            self.final_refresh.map(|began| began + FINAL_REFRESH_TIMEOUT).or(self.options.timeout),
            self.options.deadline_for(workload).map(|deadline| self.progress.last_progress() + deadline),
            self.warnings_until,
        ];
        dues.into_iter().chain(self.stability.dues()).flatten().chain(self.causes.dues())
    }
}

fn pods_not_readable() -> Error {
    Error::new(ErrorKind::NotReadable, "pods cannot be listed, so it is unknown whether outdated pods remain")
        .hint("wait for --until complete, or request permission to list pods")
}
