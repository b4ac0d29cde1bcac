//! How a command ends: by a signal, by its outcome, or by a time limit; and when elapsed time alone changes its decision.

use std::mem::replace;
use std::time::Duration;

use super::action::{Purpose, Write};
use super::engine::{Doing, Stepper};
use super::outcome::{RollbackOutcome, StepOutcome};
use super::state::State;
use crate::error::{Error, ErrorKind};
use crate::model::engine::{Now, StopSignal};
use crate::model::hold::plan::OnFailure;
use crate::model::text::go_duration;

/// How long requests may fail before the lock is acquired.
pub(super) const GIVE_UP_AFTER: Duration = Duration::from_secs(60);

/// How many attempts to release the lock may fail.
const MAX_UNLOCKS: usize = 3;

/// The time limit for releasing the lock at the end of a command.
const UNLOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// How often it decides again without events: pods become available by elapsed time alone, after `minReadySeconds`.
const POLL_EVERY: Duration = Duration::from_secs(5);

impl Stepper {
    /// Ends the command after a signal. A second signal ends it without releasing the lock.
    pub(super) fn stop(&mut self, stop: StopSignal, now: Now) {
        let outcome = StepOutcome::Interrupted(stop);
        match self.unlocking() {
            Some(_) => self.end(outcome),
            None => self.finish(outcome, now),
        }
    }

    /// Ends the command. If this process may have acquired the lock, releases it before.
    pub(super) fn finish(&mut self, outcome: StepOutcome, now: Now) {
        // No decision needs a refresh any more.
        let in_flight = match replace(&mut self.doing, Doing::Deciding { not_before: None }) {
            Doing::Awaiting(sent) | Doing::Unlocking { in_flight: Some(sent), .. } => {
                Some(sent).filter(|sent| !sent.is_refresh())
            }
            _ => None,
        };
        if self.memory.ownership.wrote_nothing() && in_flight.is_none() {
            return self.end(outcome);
        }
        self.doing = Doing::Unlocking { outcome, since: now.elapsed, tries: 0, in_flight };
    }

    /// Ends the command, and leaves its lock where it is.
    pub(super) fn end(&mut self, outcome: StepOutcome) {
        if self.outcome().is_none() {
            self.unanswered_pods = self.unanswered_deletions().map(str::to_owned).collect();
            self.doing = Doing::Done(outcome);
        }
    }

    /// Ends the command if it is only to release its lock, and leaves the lock where it is.
    pub(super) fn end_locked(&mut self) {
        if let Some(outcome) = self.unlocking() {
            self.end(outcome.clone());
        }
    }

    /// Counts a failed write if it was to release the lock. After the last attempt the lock stays.
    pub(super) fn count_failed_unlock(&mut self, write: &Write) {
        let is_unlock = write.purpose == Purpose::Unlock;
        let Doing::Unlocking { tries, .. } = &mut self.doing else { return };
        *tries += usize::from(is_unlock);
        if is_unlock && *tries >= MAX_UNLOCKS {
            self.end_locked();
        }
    }

    /// Enforces the time limits of the command, of acquiring the lock, and of releasing it.
    pub(super) fn check_limits(&mut self, now: Now) {
        let is_over = |due: Option<Duration>| due.is_some_and(|due| now.elapsed >= due);
        if let Some(limit) = self.time_limit().filter(|limit| now.elapsed >= *limit) {
            let undoes = self.cluster.plan().is_some_and(|plan| plan.pace.on_failure == OnFailure::Undo);
            let outcome = match self.memory.rollback.failure.clone().filter(|_| undoes) {
                Some(failure) => {
                    let why = format!("the command timed out after {}", go_duration::write(limit));
                    let rollback = Some(RollbackOutcome::NotStarted(why));
                    StepOutcome::Failed { failure, rollback }
                }
                None => StepOutcome::TimedOut(limit),
            };
            self.finish(outcome, now);
        } else if is_over(self.unanswered_due()) {
            let error = Error::new(ErrorKind::Unreachable, "the server does not answer");
            self.end(StepOutcome::Error(error));
        } else if is_over(self.unlocking_due()) {
            self.end_locked();
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
        let is_acquired = self.memory.ownership.has_acquired_lock();
        Some(self.failing_since?.max(sent.since) + GIVE_UP_AFTER).filter(|_| !is_acquired)
    }

    fn unlocking_due(&self) -> Option<Duration> {
        if let Doing::Unlocking { since, .. } = &self.doing { Some(*since + UNLOCK_TIMEOUT) } else { None }
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
            self.unlocking_due(),
            not_before,
            self.time_limit(),
            memory.causes.due(),
            memory.stuck_pods.due(),
            Some(now.elapsed + POLL_EVERY),
        ];
        dues.into_iter().flatten().filter(|due| *due > now.elapsed).min()
    }
}
