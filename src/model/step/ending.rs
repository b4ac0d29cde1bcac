//! How a command ends: by a signal, by its outcome, or by a time limit; and when elapsed time alone changes its decision.

use std::time::Duration;

use super::engine::{InFlight, Stepper};
use super::outcome::{RollbackOutcome, StepOutcome};
use super::state::State;
use crate::model::engine::{Now, StopSignal};
use crate::model::hold::plan::OnFailure;
use crate::model::text::go_duration;

/// How long requests may fail before the lock is acquired.
pub(super) const GIVE_UP_AFTER: Duration = Duration::from_secs(60);

/// The time limit for the end of a command: for releasing its lock, and for the controller to observe the end of the plan.
const ENDING_TIMEOUT: Duration = Duration::from_secs(5);

/// How often it decides again without events: pods become available by elapsed time alone, after `minReadySeconds`.
const POLL_EVERY: Duration = Duration::from_secs(5);

impl Stepper {
    /// Ends the command after a signal. A second signal ends it without releasing the lock. After the end of the plan a
    /// signal only ends the wait for the controller.
    pub(super) fn stop(&mut self, stop: StopSignal, now: Now) {
        let outcome = StepOutcome::Interrupted(stop);
        if self.ending.is_none() {
            self.finish(outcome, now);
        } else if self.memory.ownership.may_hold_lock() {
            self.end(outcome);
        } else {
            self.end_now();
        }
    }

    /// Ends the command. If this process may have acquired the lock, releases it before.
    pub(super) fn finish(&mut self, outcome: StepOutcome, now: Now) {
        self.in_flight.take_if(|sent| InFlight::is_refresh(sent)); // no decision needs it any more
        self.not_before = None; // that of a refused eviction may be later than the time to release the lock
        if !self.memory.ownership.may_hold_lock() && self.in_flight.is_none() {
            return self.end(outcome);
        }
        let since = self.ending.take().map_or(now.elapsed, |(_, since)| since);
        self.ending = Some((outcome, since));
    }

    /// Ends the command, whether or not its lock is released.
    pub(super) fn end(&mut self, outcome: StepOutcome) {
        if self.outcome.is_none() {
            self.unanswered_pods = self.unanswered_deletions().map(str::to_owned).collect();
            (self.in_flight, self.ending, self.outcome) = (None, None, Some(outcome));
        }
    }

    /// Ends a command that has its outcome, whether or not its lock is released.
    pub(super) fn end_now(&mut self) {
        if let Some((outcome, _)) = self.ending.take() {
            self.end(outcome);
        }
    }

    /// Enforces the time limits of the command and of its end.
    pub(super) fn check_limits(&mut self, now: Now) {
        if let Some(limit) = self.time_limit().filter(|limit| now.elapsed >= *limit) {
            let undoes = self.cluster.plan().is_some_and(|plan| plan.pace.on_failure == OnFailure::Undo);
            let outcome = match self.memory.rollback.failure.clone().filter(|_| undoes) {
                None => StepOutcome::TimedOut(limit),
                failure => {
                    let why = format!("the command timed out after {}", go_duration::write(limit));
                    StepOutcome::Failed { failure, rollback: Some(RollbackOutcome::NotStarted(why)) }
                }
            };
            self.finish(outcome, now);
        } else if self.ending_due().is_some_and(|due| now.elapsed >= due) {
            self.end_now();
        }
    }

    /// Returns when the command must end. A rollback has no time limit.
    fn time_limit(&self) -> Option<Duration> {
        let has_outcome = self.ending.is_some() || self.outcome.is_some();
        self.options.timeout.filter(|_| !has_outcome && self.memory.rollback.revision.is_none())
    }

    fn ending_due(&self) -> Option<Duration> {
        self.ending.as_ref().map(|(_, since)| *since + ENDING_TIMEOUT)
    }

    /// Returns when elapsed time alone changes the decision; none after the end.
    pub(super) fn next_due(&self, state: Option<&State<'_>>, now: Now) -> Option<Duration> {
        if self.outcome.is_some() {
            return None;
        }
        let (memory, state) = (&self.memory, state.filter(|_| self.is_stepping()));
        let dues = [
            state.and_then(|state| memory.due(state)),
            self.ending_due(),
            self.not_before,
            self.time_limit(),
            memory.causes.due(),
            memory.stuck_pods.due(),
            Some(now.elapsed + POLL_EVERY),
        ];
        dues.into_iter().flatten().filter(|due| *due > now.elapsed).min()
    }
}
