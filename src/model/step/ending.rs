//! How a command ends: by its outcome, by a signal, or because something takes too long.

use std::time::Duration;

use super::batch_in_progress::WAVE_PAUSE;
use super::outcome::{RollbackOutcome, StepOutcome};
use super::report::StepReport;
use super::reporter::report;
use super::stepper::Stepper;
use super::task::StepperOutput;
use super::timers::Leaving;
use crate::error::{Error, ErrorKind};
use crate::model::change::plan::{LEASE_DURATION, OnFailure, RENEW_EVERY};
use crate::model::follow::{Now, StopSignal};
use crate::model::text::go_duration;

/// The time limit for releasing the lease at the end of a command.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(5);

/// How often it decides again without events: pods become available by elapsed time alone, after `minReadySeconds`.
const POLL_EVERY: Duration = Duration::from_secs(5);

impl Stepper {
    /// Ends the command after a signal. A second signal ends it without releasing the lease.
    pub(super) fn stop(&mut self, stop: StopSignal, now: Now, out: &mut Vec<StepperOutput>) {
        let outcome = StepOutcome::Interrupted(stop);
        match self.timers.leaving {
            Some(_) => self.end(outcome, out),
            None => self.leave(outcome, now, out),
        }
    }

    /// Releases the lease, and then ends the command.
    pub(super) fn leave(&mut self, outcome: StepOutcome, now: Now, out: &mut Vec<StepperOutput>) {
        // No decision needs the refresh any more.
        self.in_flight.take_if(|in_flight| in_flight.is_refresh());
        if self.timers.ownership.wrote_nothing() && self.in_flight.is_none() {
            return self.end(outcome, out);
        }
        self.retry_at = None;
        self.timers.leaving = Some(Leaving { outcome, since: now.elapsed, tries: 0 });
    }

    /// Ends the command and lets its lease expire.
    pub(super) fn end_leaving(&mut self, out: &mut Vec<StepperOutput>) {
        if let Some(leaving) = &self.timers.leaving {
            self.end(leaving.outcome.clone(), out);
        }
    }

    pub(super) fn end(&mut self, outcome: StepOutcome, out: &mut Vec<StepperOutput>) {
        if self.outcome.is_none() {
            self.in_flight = None;
            self.outcome = Some(outcome.clone());
            report(StepReport::Ended(outcome), out);
        }
    }

    /// Enforces the time limits of the command, of acquiring the lease, and of releasing it.
    pub(super) fn check_limits(&mut self, now: Now, out: &mut Vec<StepperOutput>) {
        let is_over = |due: Option<Duration>| due.is_some_and(|due| now.elapsed >= due);
        if let Some(limit) = self.time_limit().filter(|limit| now.elapsed >= *limit) {
            let undoes = self.cluster.record().is_some_and(|one| one.plan.pace.on_failure == OnFailure::Undo);
            let outcome = match self.timers.failure.clone().filter(|_| undoes) {
                Some(failure) => {
                    let why = format!("the command timed out after {}", go_duration::write(limit));
                    let rollback = Some(RollbackOutcome::NotStarted(why));
                    StepOutcome::Failed { failure, rollback }
                }
                None => StepOutcome::TimedOut(limit),
            };
            self.leave(outcome, now, out);
        } else if is_over(self.unanswered_due()) {
            let error = Error::new(ErrorKind::Unreachable, "the server does not answer");
            self.end(StepOutcome::Error(error), out);
        } else if is_over(self.leaving_due()) {
            self.end_leaving(out);
        }
    }

    /// Returns when the command must end. A rollback has no time limit.
    fn time_limit(&self) -> Option<Duration> {
        let is_done = self.timers.leaving.is_some() || self.timers.rollback.revision.is_some();
        self.command.request.timeout.filter(|_| !is_done && self.outcome.is_none())
    }

    /// Returns when the command gives up while the server does not respond and the lease is not acquired.
    fn unanswered_due(&self) -> Option<Duration> {
        let (renewed, in_flight) = (self.timers.renewed?, self.in_flight.as_ref()?);
        let is_waiting = !self.timers.ownership.has_acquired() && self.timers.leaving.is_none();
        is_waiting.then(|| renewed.max(in_flight.since) + LEASE_DURATION)
    }

    fn leaving_due(&self) -> Option<Duration> {
        self.timers.leaving.as_ref().map(|leaving| leaving.since + RELEASE_TIMEOUT)
    }

    /// Reports the stage of the plan, and computes when elapsed time alone changes the decision.
    pub(super) fn report_stage_and_due(&mut self, now: Now, out: &mut Vec<StepperOutput>) {
        self.due = None;
        if self.outcome.is_some() {
            return;
        }
        let mut dues = Vec::new();
        let timers = &self.timers;
        let is_ours = timers.ownership.has_acquired() && timers.leaving.is_none();
        let situation = self.cluster.situation(now).filter(|_| is_ours);
        if let Some(state) = situation.as_ref().and_then(|situation| situation.state(timers)) {
            if state.plan().is_releasing() {
                // After an external change, or a failure, there is no stage to report.
                let workload = state.context().workload();
                if timers.failure.is_none() && state.context().record.hold.is_in_force(workload) {
                    self.reporter.stage(&state, out);
                }
                let soaked = (!state.is_moving()).then(|| now.elapsed.saturating_add(state.soak_left()));
                dues.extend([soaked, timers.progress.due(state.pace().batch_timeout)]);
                dues.push(timers.last_wave.map(|last| last + WAVE_PAUSE));
            } else {
                let limit = state.pace().batch_timeout;
                dues.push(timers.rollback.since.map(|since| since.saturating_add(limit)));
            }
            dues.push(timers.renewed.map(|renewed| renewed + RENEW_EVERY));
        }
        dues.extend([
            timers.other_lease.as_ref().filter(|_| !is_ours).map(|(_, since)| *since + LEASE_DURATION),
            self.unanswered_due(),
            self.leaving_due(),
            self.retry_at,
            self.time_limit(),
            timers.causes.due(),
            Some(now.elapsed + POLL_EVERY),
        ]);
        self.due = dues.into_iter().flatten().filter(|due| *due > now.elapsed).min();
    }
}
