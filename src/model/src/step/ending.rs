//! How a command ends: after an error, a signal, or a time limit; and when elapsed time alone changes its decision.

use std::time::Duration;

use super::decide::cut_short;
use super::engine::Stepper;
use super::outcome::StepOutcome;
use super::ownership::LockState;
use super::request::{Request, Then};
use crate::engine::{Engine, Now, StopSignal};
use crate::error::{Error, ErrorKind};
use crate::hold::mechanism::State;
use crate::text::go_duration;
use crate::text::shell_command::command;

/// The time limit for the end of a command: for releasing its lock, and for the controller to observe the end of the plan.
const ENDING_TIMEOUT: Duration = Duration::from_secs(5);

/// How often it decides again without events: pods become available by elapsed time alone, after `minReadySeconds`.
const POLL_EVERY: Duration = Duration::from_secs(5);

impl Stepper {
    /// Ends the command with an error; with the outcome of its rollback, if a batch failed before.
    pub(super) fn give_up(&mut self, error: Error, now: Now) {
        let outcome = cut_short(&self.memory, error.to_string(), StepOutcome::Error(error));
        self.end(outcome, now);
    }

    /// Ends the command after a signal. A second signal ends it without releasing the lock. After the end of a plan that is not
    /// complete a signal only ends the wait for the controller.
    pub(super) fn receive_signal(&mut self, signal: StopSignal, now: Now) {
        let outcome = StepOutcome::Interrupted(signal);
        if !self.memory.ownership.has_outcome() {
            self.end(outcome, now);
        } else if self.memory.ownership.may_hold_lock() || self.complete_limit().is_some() {
            self.end_now(outcome);
        } else {
            self.finish_ending();
        }
    }

    /// Ends the command. If this process may have acquired the lock, releases it before.
    pub(super) fn end(&mut self, outcome: StepOutcome, now: Now) {
        if self.is_finished() {
            return;
        }
        self.take_refresh(); // no decision needs it any more
        self.not_before = None; // that of a refused eviction may be later than the time to release the lock
        if !self.memory.ownership.may_hold_lock() && self.in_flight.is_none() {
            return self.end_now(outcome);
        }
        self.memory.ownership.begin_release(outcome, now.elapsed);
    }

    /// Ends the command, whether or not its lock is released.
    pub(super) fn end_now(&mut self, outcome: StepOutcome) {
        if !self.is_finished() {
            if let Some((Request::Patch(write), _)) = self.in_flight.take() {
                self.memory.ownership.unanswered_writes.push(*write);
                self.must_refresh = true;
            }
            self.memory.ownership.lock = LockState::Released(outcome);
        }
    }

    /// Ends a command that has its outcome, whether or not its lock is released.
    pub(super) fn finish_ending(&mut self) {
        if let LockState::Releasing { outcome, .. } = &self.memory.ownership.lock {
            self.end_now(outcome.clone());
        }
    }

    /// Enforces the time limits of the command and of its end.
    pub(super) fn check_limits(&mut self, now: Now) {
        if let Some(limit) = self.time_limit().filter(|limit| now.elapsed >= *limit) {
            let why = format!("the command timed out after {}", go_duration::write(limit));
            let outcome = cut_short(&self.memory, why, StepOutcome::TimedOut(limit));
            self.end(outcome, now);
        } else if self.ending_due().is_some_and(|due| now.elapsed >= due) {
            match self.complete_limit() {
                Some(limit) => self.end_now(self.incomplete(limit, now)),
                None => self.finish_ending(),
            }
        }
    }

    /// Returns when the command must end. A rollback that is stored has no time limit, and neither has its write while it is
    /// in flight. After the end of the plan the limit holds for the controller too.
    fn time_limit(&self) -> Option<Duration> {
        let rolls_back =
            |sent: &(Request, _)| matches!(&sent.0, Request::Patch(write) if write.then == Then::RollBack);
        let is_rolling_back =
            self.memory.rollback.revision.is_some() || self.in_flight.as_ref().is_some_and(rolls_back);
        self.options.timeout.filter(|_| !self.memory.ownership.has_outcome() && !is_rolling_back)
    }

    fn ending_due(&self) -> Option<Duration> {
        let LockState::Releasing { since, .. } = self.memory.ownership.lock else { return None };
        let Some(limit) = self.complete_limit() else { return Some(since + ENDING_TIMEOUT) };
        Some(self.options.timeout.unwrap_or(Duration::MAX).min(since.saturating_add(limit)).max(since))
    }

    /// Returns how long the controller may need after the last batch to remove outdated pods, as long as for a pod of the plan;
    /// none unless the end of a complete plan is stored and the controller has still to observe it or to remove pods.
    fn complete_limit(&self) -> Option<Duration> {
        let counts = self.workload().counts();
        let is_removing = counts.outdated() > (counts.wanted - counts.released).max(0);
        let is_awaited =
            is_removing || self.cluster.observed().is_some_and(|observed| !observed.is_observed());
        let ownership = &self.memory.ownership;
        let is_ending = matches!(ownership.lock, LockState::Releasing { outcome: StepOutcome::Complete, .. });
        let is_complete = is_ending && !ownership.may_hold_lock() && is_awaited;
        let plan = self.cluster.last_hold.as_deref().filter(|_| is_complete)?.plan.as_ref()?;
        let min_ready = u64::try_from(self.workload().min_ready_seconds()).unwrap_or_default();
        Some(plan.pace.batch_timeout.saturating_add(Duration::from_secs(min_ready)))
    }

    /// Returns the outcome of a complete plan whose update the controller has not completed in time.
    fn incomplete(&self, limit: Duration, now: Now) -> StepOutcome {
        if let Some(timeout) = self.options.timeout.filter(|timeout| now.elapsed >= *timeout) {
            return StepOutcome::TimedOut(timeout);
        }
        let (name, after) = (self.workload().target(), go_duration::short(limit));
        let sentence = format!(
            "every batch of {name} is done, and its controller has not completed the update after {after}"
        );
        let status = command("kubectl rollout2 status {}", [self.workload().command_target()]);
        StepOutcome::Error(Error::new(ErrorKind::Unreachable, sentence).hint(status))
    }

    /// Returns when elapsed time alone changes the decision; none after the end.
    pub(super) fn next_due(&self, state: Option<&State<'_>>, now: Now) -> Option<Duration> {
        if self.is_finished() {
            return None;
        }
        let (memory, state) = (&self.memory, state.filter(|_| self.memory.ownership.is_stepping()));
        let dues = [
            state.and_then(|state| memory.due(state)),
            self.ending_due(),
            self.not_before,
            self.time_limit(),
            memory.causes.dues().min(),
            memory.stuck_pods.due(),
            Some(now.elapsed + POLL_EVERY),
        ];
        dues.into_iter().flatten().filter(|due| *due > now.elapsed).min()
    }
}
