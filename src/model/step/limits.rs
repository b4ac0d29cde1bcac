//! The time limits of a command, and when elapsed time alone changes its decision.

use std::time::Duration;

use super::engine::{Doing, Stepper};
use super::outcome::{RollbackOutcome, StepOutcome};
use super::state::State;
use crate::error::{Error, ErrorKind};
use crate::model::engine::Now;
use crate::model::hold::plan::OnFailure;
use crate::model::text::go_duration;

/// How long requests may fail before the lock is acquired.
pub(super) const GIVE_UP_AFTER: Duration = Duration::from_secs(60);

/// The time limit for releasing the lock at the end of a command.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(5);

/// How often it decides again without events: pods become available by elapsed time alone, after `minReadySeconds`.
const POLL_EVERY: Duration = Duration::from_secs(5);

impl Stepper {
    /// Enforces the time limits of the command, of acquiring the lock, and of releasing it.
    pub(super) fn check_limits(&mut self, now: Now) {
        let is_over = |due: Option<Duration>| due.is_some_and(|due| now.elapsed >= due);
        if let Some(limit) = self.time_limit().filter(|limit| now.elapsed >= *limit) {
            let undoes = self.cluster.record().is_some_and(|one| one.plan.pace.on_failure == OnFailure::Undo);
            let outcome = match self.memory.rollback.failure.clone().filter(|_| undoes) {
                Some(failure) => {
                    let why = format!("the command timed out after {}", go_duration::write(limit));
                    let rollback = Some(RollbackOutcome::NotStarted(why));
                    StepOutcome::Failed { failure, rollback }
                }
                None => StepOutcome::TimedOut(limit),
            };
            self.leave(outcome, now);
        } else if is_over(self.unanswered_due()) {
            let error = Error::new(ErrorKind::Unreachable, "the server does not answer");
            self.end(StepOutcome::Error(error));
        } else if is_over(self.leaving_due()) {
            self.end_leaving();
        }
    }

    /// Returns when the command must end. A rollback has no time limit.
    fn time_limit(&self) -> Option<Duration> {
        let has_limit = matches!(self.doing, Doing::Deciding { .. } | Doing::Awaiting(_))
            && self.memory.rollback.revision.is_none();
        self.options.timeout.filter(|_| has_limit)
    }

    /// Returns when the command gives up while the server does not respond and the lock is not acquired.
    fn unanswered_due(&self) -> Option<Duration> {
        let Doing::Awaiting(sent) = &self.doing else { return None };
        let is_acquired = self.memory.ownership.has_acquired();
        Some(self.failing_since?.max(sent.since) + GIVE_UP_AFTER).filter(|_| !is_acquired)
    }

    fn leaving_due(&self) -> Option<Duration> {
        if let Doing::Releasing { since, .. } = &self.doing { Some(*since + RELEASE_TIMEOUT) } else { None }
    }

    /// Returns when elapsed time alone changes the decision; none after the end.
    pub(super) fn next_due(&self, state: Option<&State<'_>>, now: Now) -> Option<Duration> {
        if self.outcome().is_some() {
            return None;
        }
        let (memory, state) = (&self.memory, state.filter(|_| self.is_stepping()));
        let not_before = if let Doing::Deciding { not_before } = self.doing { not_before } else { None };
        let dues = [
            state.and_then(|state| memory.due(state)),
            self.unanswered_due(),
            self.leaving_due(),
            not_before,
            self.time_limit(),
            memory.causes.due(),
            memory.stuck_pods.due(),
            Some(now.elapsed + POLL_EVERY),
        ];
        dues.into_iter().flatten().filter(|due| *due > now.elapsed).min()
    }
}
