//! Applies events to the stepper: watch events, results of requests, and signals.

use std::time::Duration;

use super::action::{Purpose, Write};
use super::causes::redacted;
use super::outcome::{CheckResult, StepOutcome};
use super::report::StepReport;
use super::reporter::report;
use super::stepper::{ClusterRequest, InFlight, Stepper};
use super::task::{DeletionResult, StepEvent, StepperOutput, WriteResult};
use super::timers::CheckState;
use crate::error::{Error, ErrorKind};
use crate::model::change::plan::LEASE_DURATION;
use crate::model::follow::{Now, PodRef, TargetEvent};

/// The pause before a failed request is retried.
const RETRY_AFTER: Duration = Duration::from_secs(2);

/// The pause before a refused eviction is retried.
const RETRY_EVICTION_AFTER: Duration = Duration::from_secs(5);

/// How many writes in a row may fail their preconditions.
const MAX_CONFLICTS: usize = 10;

/// How many attempts to release the lease may fail.
const MAX_RELEASES: usize = 3;

/// What `step` waits for when a refresh took longer than a lease lasts, and so is too old to decide on.
const TOO_SLOW: &str = "a refresh in less than 60s; the last one took longer";

impl Stepper {
    /// Applies an event. Returns whether it was the requested refresh.
    pub(super) fn handle(&mut self, event: StepEvent, now: Now, out: &mut Vec<StepperOutput>) -> bool {
        match event {
            // Also useful after the outcome.
            StepEvent::Target(TargetEvent::Log(log)) => {
                report(StepReport::Log(redacted(log, self.observed())), out);
            }
            _ if self.outcome.is_some() => {}
            StepEvent::Target(event) => return self.apply_target_event(event, now, out),
            StepEvent::Nodes(nodes) => self.cluster.apply_nodes(nodes),
            StepEvent::Stopped(stop) => self.stop(stop, now, out),
            StepEvent::Checked(result) => self.apply_check(result),
            StepEvent::Written(result) => self.apply_written(result, now, out),
            StepEvent::Deleted(results) => self.apply_deleted(results, now, out),
            StepEvent::Tick => {}
        }
        false
    }

    fn apply_target_event(&mut self, event: TargetEvent, now: Now, out: &mut Vec<StepperOutput>) -> bool {
        let recreated = || StepOutcome::Gone { recreated: true };
        match event {
            TargetEvent::Deleted => self.end(StepOutcome::Gone { recreated: false }, out),
            TargetEvent::Unreadable(error) => self.end(StepOutcome::Error(error), out),
            TargetEvent::Workload(workload) if self.cluster.is_recreated(&workload) => {
                self.end(recreated(), out);
            }
            TargetEvent::Refreshed(observed) if self.cluster.is_recreated(&observed.workload) => {
                self.end(recreated(), out);
            }
            TargetEvent::Workload(workload) => self.cluster.apply_workload(workload),
            TargetEvent::Refreshed(observed) => {
                let fits = self.cluster.apply_refresh(observed);
                let refresh = self.in_flight.take_if(|in_flight| in_flight.is_refresh());
                let Some(InFlight { since, .. }) = refresh else { return false };
                self.must_refresh |= !fits;
                let is_fresh = now.elapsed < since + LEASE_DURATION;
                if !is_fresh {
                    self.reporter.trouble(TOO_SLOW.to_owned(), out);
                }
                return fits && is_fresh;
            }
            event => {
                let is_refreshing = self.in_flight.as_ref().is_some_and(InFlight::is_refresh);
                self.stale_refresh.observe(&event, is_refreshing, now.elapsed);
                self.cluster.apply(event);
            }
        }
        false
    }

    fn apply_written(&mut self, result: WriteResult, now: Now, out: &mut Vec<StepperOutput>) {
        let is_write = |request: &ClusterRequest| matches!(request, ClusterRequest::Write(_));
        let in_flight = self.in_flight.take_if(|in_flight| is_write(&in_flight.request));
        let Some(ClusterRequest::Write(write)) = in_flight.map(|in_flight| in_flight.request) else { return };
        match result {
            WriteResult::Stored(workload) => {
                self.cluster.apply_workload(workload);
                self.stored(*write, now, out);
            }
            WriteResult::Conflict(conflict) if conflict.recreated => {
                self.end(StepOutcome::Gone { recreated: true }, out);
            }
            WriteResult::Conflict(_) => {
                self.must_refresh = true;
                self.conflicts += 1;
                self.count_release(out);
                if self.conflicts >= MAX_CONFLICTS && self.outcome.is_none() {
                    let message = format!("{} is being changed all the time", self.workload().target());
                    self.leave(StepOutcome::Error(Error::new(ErrorKind::Conflict, message)), now, out);
                }
            }
            WriteResult::Unknown(error) => {
                self.timers.ownership.record_unanswered(*write);
                self.must_refresh = true;
                self.retry(&error, now, out);
            }
            WriteResult::Refused(error) if error.kind() == ErrorKind::Unreachable => {
                self.retry(&error, now, out);
            }
            WriteResult::Refused(_) if write.purpose == Purpose::ReleaseLease => self.end_leaving(out),
            WriteResult::Refused(error) if self.is_rolling_back() => {
                self.timers.rollback.blocked =
                    Some(format!("the server refused the write: {}", error.sentence()));
            }
            WriteResult::Refused(error) => self.leave(StepOutcome::Error(error), now, out),
        }
    }

    /// Whether a rollback has begun or was decided on.
    fn is_rolling_back(&self) -> bool {
        self.timers.failure.is_some() || self.timers.rollback.revision.is_some()
    }

    fn apply_deleted(
        &mut self,
        results: Vec<(PodRef, DeletionResult)>,
        now: Now,
        out: &mut Vec<StepperOutput>,
    ) {
        let is_deletion =
            |request: &ClusterRequest| matches!(request, ClusterRequest::Wave(_) | ClusterRequest::StuckPod);
        let in_flight = self.in_flight.take_if(|in_flight| is_deletion(&in_flight.request));
        let Some(request) = in_flight.map(|in_flight| in_flight.request) else { return };
        for (pod, result) in results {
            match result {
                DeletionResult::Deleted => self.apply_pod_deleted(&pod, &request, out),
                DeletionResult::Superseded => self.must_refresh = true,
                DeletionResult::Unknown(error) => {
                    self.must_refresh = true;
                    self.retry(&error, now, out);
                }
                DeletionResult::Refused(error) if error.kind() == ErrorKind::Unreachable => {
                    self.retry(&error, now, out);
                }
                DeletionResult::Refused(error) if self.timers.rollback.revision.is_some() => {
                    let why = format!("{} was not deleted: {}", pod.name, error.sentence());
                    self.timers.rollback.blocked = Some(why);
                }
                DeletionResult::Refused(error) => self.leave(StepOutcome::Error(error), now, out),
                DeletionResult::Disallowed(message) => {
                    self.retry_at = Some(now.elapsed + RETRY_EVICTION_AFTER);
                    self.reporter.eviction_refused(pod, message, out);
                }
            }
        }
    }

    fn apply_pod_deleted(&mut self, pod: &PodRef, request: &ClusterRequest, out: &mut Vec<StepperOutput>) {
        let ClusterRequest::Wave(wave) = request else {
            self.timers.stuck_pods.record(&pod.uid);
            self.timers.replaced.insert(pod.name.clone());
            return;
        };
        let batch = self.cluster.record().and_then(|record| record.plan.batch.as_ref());
        let slot = wave.iter().find(|(_, one)| one.uid == pod.uid);
        if let (Some(batch), Some((slot, _))) = (batch, slot) {
            report(StepReport::Released { batch: batch.number, slot: slot.clone() }, out);
        }
    }

    /// Schedules a retry after a transient failure. It gives up after a while, but only before the lease is acquired.
    /// An expired lease still belongs to this process until another one takes it, and every write tests that.
    fn retry(&mut self, error: &Error, now: Now, out: &mut Vec<StepperOutput>) {
        let since = *self.timers.renewed.get_or_insert(now.elapsed);
        if self.timers.leaving.is_some() {
            return self.count_release(out);
        }
        if !self.timers.ownership.has_acquired() && now.elapsed >= since + LEASE_DURATION {
            return self.end(StepOutcome::Error(error.clone()), out);
        }
        self.retry_at = Some(now.elapsed + RETRY_AFTER);
        self.reporter.trouble(format!("an answer of the server: {}", error.sentence()), out);
    }

    /// Counts a failed attempt to release the lease. After the last attempt the lease is left to expire.
    fn count_release(&mut self, out: &mut Vec<StepperOutput>) {
        let Some(leaving) = &mut self.timers.leaving else { return };
        leaving.tries += 1;
        if leaving.tries >= MAX_RELEASES {
            self.end_leaving(out);
        }
    }

    /// Records that a write is stored.
    pub(super) fn stored(&mut self, write: Write, now: Now, out: &mut Vec<StepperOutput>) {
        let timers = &mut self.timers;
        timers.ownership.record_stored(&write);
        timers.renewed = Some(now.elapsed);
        self.conflicts = 0;
        if let Some(record) = self.cluster.record() {
            self.reporter.keep_batch(record);
        }
        // The batch that is over, before the batch that begins.
        let (over, reports): (Vec<_>, Vec<_>) =
            write.reports.into_iter().partition(|one| matches!(one, StepReport::Batch(_)));
        for one in over {
            if let StepReport::Batch(batch) = one {
                self.reporter.batch_is_over(batch, out);
            }
        }
        match &write.purpose {
            Purpose::EndPlan(_) | Purpose::RenewLease | Purpose::ReleaseSlots => {}
            Purpose::BeginBatch => {
                if let Some(record) = self.cluster.record() {
                    self.reporter.begin_batch(record);
                }
                timers.begin_batch();
                if timers.leaving.is_none() {
                    self.report_stage(now, out); // report the batch before its slots
                }
            }
            Purpose::FinishBatch => timers.finish_batch(),
            // The time limit of a rollback that another process began starts again with the lease.
            Purpose::AcquireLease | Purpose::RollBack | Purpose::RestoreFields => {
                timers.rollback.since = Some(now.elapsed);
            }
            Purpose::ReleaseLease => return self.end_leaving(out),
        }
        for one in reports {
            if let StepReport::RollingBack { revision } = &one {
                self.timers.rollback.revision = Some(revision.clone());
            }
            report(one, out);
        }
        if let Purpose::EndPlan(outcome) = write.purpose {
            self.end(outcome, out);
        }
    }

    /// Records the result of the check. It is only valid if the pods were ready all the time.
    fn apply_check(&mut self, result: CheckResult) {
        if let CheckState::Running(since) = self.timers.check {
            let is_disturbed = self.timers.soak.disturbed().is_some_and(|disturbed| disturbed > since);
            let is_void = is_disturbed && result == CheckResult::Passed;
            self.timers.check = if is_void { CheckState::NotRun } else { CheckState::Finished(result) };
        }
    }
}
