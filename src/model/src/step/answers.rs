//! What the engine receives: watch events and the replies to its requests.

use std::time::Duration;

use super::engine::{GIVE_UP_AFTER, Stepper};
use super::outcome::{RollbackOutcome, StepOutcome};
use super::ownership::LockState;
use super::request::{Reply, Request, StepReport, Then, Write};
use crate::cause::container_logs::LogLines;
use crate::cause::last_lines_without_secrets;
use crate::change::written::{DeletionResult, MAX_CONFLICTS, Written};
use crate::engine::{Engine, LoopEvent, Now, PodRef, TargetEvent};
use crate::error::{Error, ErrorKind};
use crate::hold::plan::CheckResult;
use crate::observation::Observation;
use crate::settle::Stall;

/// The pause before a failed request is retried.
const RETRY_AFTER: Duration = Duration::from_secs(2);

/// The pause before a refused eviction is retried.
const RETRY_EVICTION_AFTER: Duration = Duration::from_secs(5);

/// How old a refresh may be when it is decided on. Its pods may have become unavailable meanwhile.
const MAX_REFRESH: Duration = Duration::from_secs(60);

/// What `step` waits for after a refresh that took longer.
const TOO_SLOW: &str = "a refresh in less than 60s; the last one took longer";

/// How long every write may fail once the lock is acquired, as with an admission webhook that is down; and how long there may be
/// no refresh to decide on.
const FAILURE_LIMIT: Duration = Duration::from_secs(300);

impl Stepper {
    /// Applies an event. Returns whether it was the requested refresh, on which an action can be decided.
    pub(super) fn receive(&mut self, event: LoopEvent<Reply>, now: Now) -> bool {
        let (mut is_fresh, mut stored) = (false, None);
        match event {
            // Also useful after the outcome.
            LoopEvent::Target(_, TargetEvent::Log(log)) => {
                let lines = last_lines_without_secrets(self.cluster.observed(), &log.lines);
                self.reports.push(StepReport::Log(LogLines { lines, ..log }));
            }
            _ if self.is_finished() => {}
            LoopEvent::Target(_, event) => self.receive_target(event, now),
            LoopEvent::Answer(Reply::Refreshed { observed, nodes }) => {
                self.cluster.nodes = nodes.map(Into::into);
                is_fresh = self.receive_refresh(*observed, now);
            }
            LoopEvent::Answer(Reply::Unrefreshed(error)) => {
                if self.take_refresh().is_some() {
                    self.retry(&error, now);
                    self.receive_no_refresh(error, now);
                }
            }
            LoopEvent::Stop(signal) => self.receive_signal(signal, now),
            LoopEvent::Answer(Reply::Checked(result)) => self.receive_checked(result, now),
            LoopEvent::Answer(Reply::Written(result)) => stored = self.receive_written(result, now),
            LoopEvent::Answer(Reply::Deleted(results)) => self.receive_deleted(results, now),
            LoopEvent::Tick { .. } => {}
        }
        // A write without an answer is stored if the observation shows it.
        if let (None, false, Some(observed)) = (&stored, self.is_finished(), self.cluster.observed()) {
            stored = self.memory.ownership.resolved(&observed.workload);
        }
        if let Some(write) = &stored {
            self.apply_stored(write, now);
        }
        is_fresh
    }

    fn receive_target(&mut self, event: TargetEvent, now: Now) {
        match event {
            TargetEvent::Deleted => self.end_now(StepOutcome::Gone { recreated: false }),
            TargetEvent::Unreadable(_) if self.memory.ownership.has_outcome() => {}
            TargetEvent::Unreadable(error) => self.give_up(error, now),
            TargetEvent::Observed { observation, .. } if self.cluster.is_recreated(&observation.workload) => {
                self.end_now(StepOutcome::Gone { recreated: true });
            }
            TargetEvent::Observed { observation, .. } => {
                let _ = self.cluster.apply(*observation); // one that does not match changes nothing
            }
            // Never here: the executor completes a refresh, and `receive` handles a log.
            TargetEvent::Refreshed(_) | TargetEvent::Log(_) => {}
        }
    }

    /// Returns when the refresh was sent whose reply is awaited, which is not awaited any more.
    pub(super) fn take_refresh(&mut self) -> Option<Duration> {
        Some(self.in_flight.take_if(|sent| sent.0 == Request::Refresh)?.1)
    }

    /// Applies a refresh. Returns whether a decision can rest on it.
    fn receive_refresh(&mut self, observed: Observation, now: Now) -> bool {
        if self.cluster.is_recreated(&observed.workload) {
            self.end_now(StepOutcome::Gone { recreated: true });
            return false;
        }
        let fits = self.cluster.apply(observed);
        let Some(sent) = self.take_refresh() else { return false };
        if !self.memory.ownership.has_outcome() {
            self.unanswered_pods.clear();
        }
        let useless = if now.elapsed >= sent + MAX_REFRESH {
            self.report_once(StepReport::Waiting(TOO_SLOW.to_owned()));
            Some("every refresh took longer than 60s, so that no decision could rest on one")
        } else {
            (!fits).then_some("every refresh was older than what the server had answered before")
        };
        if !fits {
            self.must_refresh = true;
            self.not_before = Some(now.elapsed + RETRY_AFTER);
        }
        if let Some(message) = useless {
            self.receive_no_refresh(Error::new(ErrorKind::Unreachable, message), now);
            return false;
        }
        if self.unrefreshed_since.take().is_some()
            && let Some(state) = self.cluster.state(self.memory.batch.is_forced, now)
        {
            self.memory.stall.continue_after_outage(state.batch_limit());
        }
        true
    }

    /// Ends the command with this error if no refresh could be decided on for [`FAILURE_LIMIT`] after the first useless
    /// one. A single refresh may take longer, because it waits for a server that is unreachable.
    fn receive_no_refresh(&mut self, error: Error, now: Now) {
        let since = *self.unrefreshed_since.get_or_insert(now.elapsed);
        if now.elapsed >= since + FAILURE_LIMIT && !self.memory.ownership.has_outcome() {
            self.give_up(error, now);
        }
    }

    fn receive_written(&mut self, result: Written, now: Now) -> Option<Write> {
        let (Request::Patch(write), _) =
            self.in_flight.take_if(|sent| matches!(sent.0, Request::Patch(_)))?
        else {
            return None;
        };
        match result {
            Written::Stored(object) => {
                self.cluster.apply_workload(self.cluster.workload().with_object(object));
                return Some(*write);
            }
            Written::Conflict(conflict) if conflict.recreated => {
                self.end_now(StepOutcome::Gone { recreated: true });
            }
            Written::Conflict(_) => {
                self.must_refresh = true;
                self.failing = None;
                self.conflicts += 1;
                if self.conflicts >= MAX_CONFLICTS && !self.memory.ownership.has_outcome() {
                    let message =
                        format!("{} is being changed all the time", self.cluster.workload().target());
                    self.give_up(Error::new(ErrorKind::Conflict, message), now);
                }
            }
            Written::Unknown(error) => {
                self.memory.ownership.unanswered_writes.push(*write);
                self.must_refresh = true;
                self.retry(&error, now);
            }
            Written::Unavailable(error) => self.retry(&error, now),
            Written::NotSent => {} // of a dry run, which is no request
            Written::Refused(_) if write.then == Then::Unlock => self.finish_ending(),
            Written::Refused(_) if self.memory.ownership.has_outcome() => {}
            Written::Refused(error) => {
                let rollback = &mut self.memory.rollback;
                if rollback.failure.is_some() || rollback.revision.is_some() {
                    rollback.blocked = Some(format!("the server refused the write: {error}"));
                } else {
                    self.end(StepOutcome::Error(error), now);
                }
            }
        }
        None
    }

    /// Records the result of the check. One that runs again and again is reported when it did not pass, or passes again.
    fn receive_checked(&mut self, result: CheckResult, now: Now) {
        let check = &mut self.memory.batch.check;
        let had_failed = check.failures > 0;
        check.record(result, now.elapsed);
        let failures = check.failures;
        let plan = self.cluster.hold().and_then(|hold| hold.plan.as_ref());
        let Some((batch, watch)) =
            plan.and_then(|plan| Some((plan.last_batch.as_ref()?.number, plan.pace.check.as_ref()?.watch?)))
        else {
            return;
        };
        if had_failed || failures > 0 {
            let limit = watch.failures.get();
            self.reports.push(StepReport::Checked { batch, result, failures, limit });
        }
    }

    fn receive_deleted(&mut self, results: Vec<(PodRef, DeletionResult)>, now: Now) {
        let is_deletion =
            |sent: &mut (Request, _)| matches!(sent.0, Request::Delete { .. } | Request::DeleteStuck(_));
        let Some((sent, _)) = self.in_flight.take_if(is_deletion) else { return };
        for (pod, result) in results {
            self.unanswered_pods.remove(&pod);
            match result {
                DeletionResult::Accepted if matches!(sent, Request::DeleteStuck(_)) => {
                    self.memory.stuck_pods.record(&pod);
                    self.failing = None;
                }
                DeletionResult::Accepted => self.failing = None,
                DeletionResult::NotSent => self.must_refresh = true,
                DeletionResult::Unknown(error) => {
                    self.unanswered_pods.insert(pod);
                    self.must_refresh = true;
                    if !self.memory.ownership.has_outcome() {
                        self.retry(&error, now);
                    }
                }
                _ if self.memory.ownership.has_outcome() => {} // only the lock is still to be released
                DeletionResult::Unavailable(error) => self.retry(&error, now),
                DeletionResult::Refused(error) if self.memory.rollback.revision.is_some() => {
                    let why = format!("{} was not deleted: {error}", pod.name);
                    self.memory.rollback.blocked = Some(why);
                }
                DeletionResult::Refused(error) => self.end(StepOutcome::Error(error), now),
                DeletionResult::Disallowed(message) => {
                    self.not_before = Some(now.elapsed + RETRY_EVICTION_AFTER);
                    if self.memory.batch.refused.insert(pod.uid) {
                        self.reports.push(StepReport::EvictionRefused { pod: pod.name, message });
                    }
                }
            }
        }
    }

    /// Schedules a retry after a transient failure. Before the lock is acquired it gives up after [`GIVE_UP_AFTER`]; later
    /// [`Self::last_of_failures`] decides that on a refresh, which shows that no write is stored.
    fn retry(&mut self, error: &Error, now: Now) {
        self.not_before = Some(now.elapsed + RETRY_AFTER);
        if self.memory.ownership.has_outcome() {
            return;
        }
        let since = self.failing.as_ref().map_or(now.elapsed, |(since, ..)| *since);
        self.failing = Some((since, now.elapsed, error.clone()));
        if !self.memory.ownership.is_stepping() && now.elapsed >= since + GIVE_UP_AFTER {
            return self.end_now(StepOutcome::Error(error.clone()));
        }
        let what = format!("an answer of the server: {error}");
        self.report_once(StepReport::Waiting(what));
    }

    /// Returns the last error, if this process has the lock and every write has failed for [`FAILURE_LIMIT`].
    pub(super) fn last_of_failures(&self, now: Now) -> Option<Error> {
        let (since, _, error) = self.failing.as_ref().filter(|_| self.memory.ownership.is_stepping())?;
        (now.elapsed >= *since + FAILURE_LIMIT).then(|| error.clone())
    }

    /// Records that a write is stored, and ends the command if that was its last one.
    fn apply_stored(&mut self, write: &Write, now: Now) {
        self.memory.ownership.record_stored(write);
        (self.conflicts, self.failing) = (0, None);
        self.not_before = None;
        let memory = &mut self.memory;
        let plan = write.hold.as_ref().and_then(|hold| hold.plan.as_ref());
        let last_batch = plan.and_then(|plan| plan.last_batch.as_ref());
        match &write.then {
            Then::EndPlan(outcome) => {
                let (outcome, since) = (outcome.clone(), now.elapsed);
                memory.ownership.lock = LockState::Releasing { outcome, since, stored: None };
            }
            Then::Unlock => self.finish_ending(),
            Then::ReleaseSlots => {}
            Then::BeginBatch { forced } => memory.record_begun(last_batch, *forced),
            Then::FinishBatch => memory.record_finished(),
            // The time limit of a rollback that another process began starts again with the lock.
            Then::AcquireLock(reports) => {
                self.reports.extend(reports.iter().cloned());
                memory.stall = Stall::default();
                memory.batches.extend(last_batch.cloned());
            }
            // Without a --timeout from now on. A command that has ended meanwhile has begun the rollback.
            Then::RollBack => {
                memory.stall = Stall::default();
                self.report_begun_rollback(write);
            }
        }
    }

    /// Corrects the outcome of a command that ended before it was known whether its rollback is stored.
    fn report_begun_rollback(&mut self, write: &Write) {
        let LockState::Releasing { outcome: StepOutcome::Failed { rollback: Some(rollback), .. }, .. } =
            &mut self.memory.ownership.lock
        else {
            return;
        };
        let plan = write.hold.as_ref().and_then(|hold| hold.plan.as_ref());
        let revisions = self.cluster.observed().into_iter().flat_map(|observed| observed.revisions.iter());
        let stable =
            plan.and_then(|plan| revisions.into_iter().find(|one| one.digest.hex() == plan.template));
        if let (RollbackOutcome::NotStarted(why), Some(stable)) = (&*rollback, stable) {
            *rollback = RollbackOutcome::Unfinished { revision: stable.label(), why: why.clone() };
        }
    }
}
