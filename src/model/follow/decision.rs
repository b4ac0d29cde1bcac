//! Decides whether a target is finished.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

use super::fatal_causes::can_become_fatal;
use super::goal::GoalState;
use super::now::Now;
use super::result::{Outcome, RolloutFailure};
use super::target_tracker::TargetTracker;
use crate::error::{Error, ErrorKind};
use crate::model::status::cause::has_crash_loop;
use crate::model::status::observation::Observation;
use crate::model::workload::verdict::{RolloutState, Verdict};

/// What to do with a target after an evaluation.
#[derive(Debug)]
pub(super) enum FollowDecision {
    /// Keep following it.
    Continue,
    /// Finish it: the observation alone decides.
    Finish(Outcome),
    /// Finish it if a refresh confirms the outcome. Elapsed time or several objects decide here, or
    /// the rollout failed and its cause may not have been read yet.
    ConfirmFirst(Outcome),
}

/// What a decision is based on.
pub(super) struct Judgement<'a> {
    pub(super) observation: &'a Observation,
    pub(super) verdict: &'a Verdict,
    pub(super) now: Now,
}

impl TargetTracker {
    /// Decides what to do with the target.
    pub(super) fn decide(&self, facts: &Judgement<'_>) -> FollowDecision {
        let Judgement { observation, verdict, now: Now { elapsed: now, server_time } } = *facts;
        if verdict.state == RolloutState::Failed {
            let seconds = observation.workload.object().int("/spec/progressDeadlineSeconds");
            return FollowDecision::ConfirmFirst(Outcome::Failed(RolloutFailure::ProgressDeadline(seconds)));
        }
        match self.options.goal.state(observation, verdict) {
            GoalState::Reached if self.may_still_fail(observation, server_time) => {
                return FollowDecision::Continue;
            }
            GoalState::Reached => return self.decide_when_reached(now),
            GoalState::Held if !self.options.wait_held => return FollowDecision::ConfirmFirst(Outcome::Held),
            GoalState::Unknown => return FollowDecision::Finish(Outcome::Unreadable(pods_not_readable())),
            GoalState::Held | GoalState::Pending => {}
        }
        match self.fatal_causes.expired(now).or_else(|| self.exceeded_deadline(observation, verdict, now)) {
            Some(failure) => FollowDecision::ConfirmFirst(Outcome::Failed(failure)),
            None => FollowDecision::Continue,
        }
    }

    /// Returns whether causes fail the rollout, and one of them is present or has just gone, or a container of
    /// the current revision is in a crash loop.
    pub(super) fn may_still_fail(&self, observation: &Observation, now: Timestamp) -> bool {
        let is_pending =
            self.causes.active().any(|cause| can_become_fatal(cause, observation, &self.options));
        self.options.fails_on_causes() && (is_pending || has_crash_loop(observation, now))
    }

    fn decide_when_reached(&self, now: Duration) -> FollowDecision {
        match &self.stability {
            _ if self.options.stable.is_zero() => FollowDecision::Finish(Outcome::Reached),
            Some(stability) if now >= stability.since + self.options.stable => {
                FollowDecision::ConfirmFirst(Outcome::Reached)
            }
            _ => FollowDecision::Continue,
        }
    }

    /// Returns the failure if nothing progressed for `--deadline`. Time spent in a hold
    /// does not count.
    fn exceeded_deadline(
        &self,
        observation: &Observation,
        verdict: &Verdict,
        now: Duration,
    ) -> Option<RolloutFailure> {
        let is_held = matches!(verdict.state, RolloutState::Held | RolloutState::Paused);
        let deadline = self.options.deadline_for(&observation.workload).filter(|_| !is_held)?;
        (now >= self.progress.last_progress() + deadline).then_some(RolloutFailure::Deadline(deadline))
    }
}

fn pods_not_readable() -> Error {
    Error::new(ErrorKind::NotReadable, "pods cannot be listed, so it is unknown whether outdated pods remain")
        .hint("wait for --until complete, or request permission to list pods")
}
