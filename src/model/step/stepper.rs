//! The loop around `reconcile`: takes in events, decides, and asks for what is to be done.

use std::time::Duration;

use super::action::{Action, Command, Decision, Purpose, Write};
use super::cluster_view::ClusterView;
use super::outcome::{BatchFailure, StepOutcome};
use super::preview::{BatchStage, PlanView, batch, plan_view};
use super::reconcile::{WAVE_PAUSE, reconcile, renewal};
use super::report::StepReport;
use super::reporter::{Reporter, report};
use super::request::{Identity, Request};
use super::rollback::Returned;
use super::state::PlanState;
use super::task::{CheckResult, StepEvent, Task};
use super::timers::{CheckState, Leaving, Timers};
use crate::error::{Error, ErrorKind};
use crate::model::change::hold::{LEASE_DURATION, Lease, OnFailure, RENEW_EVERY};
use crate::model::follow::{Now, PodRef, StopSignal};
use crate::model::status::observation::Observation;
use crate::model::workload::Workload;

/// How long the command waits for its lease to be released.
pub(super) const RELEASE_TIMEOUT: Duration = Duration::from_secs(5);

/// Time alone makes pods available, after `minReadySeconds`.
const POLL_EVERY: Duration = Duration::from_secs(5);

/// Steps one workload. It does no I/O and has no clock: its driver hands in every event
/// ([`Stepper::apply`]) with the time, executes the [tasks](Task), and hands in [`StepEvent::Tick`] when it is
/// [due](Stepper::due).
#[derive(Debug)]
pub struct Stepper {
    pub(super) command: Command,
    pub(super) cluster: ClusterView,
    pub(super) timers: Timers,
    pub(super) reporter: Reporter,
    pub(super) in_flight: Option<InFlight>,
    /// How many writes in a row failed their preconditions.
    pub(super) conflicts: usize,
    /// Whether everything has to be read again first, because a request did not end as expected.
    pub(super) must_refresh: bool,
    /// When a request that failed is tried again.
    pub(super) retry_at: Option<Duration>,
    pub(super) outcome: Option<StepOutcome>,
    due: Option<Duration>,
}

/// A request whose answer is awaited, and since when.
#[derive(Debug)]
pub(super) struct InFlight {
    pub(super) request: ClusterRequest,
    pub(super) since: Duration,
}

#[derive(Debug)]
pub(super) enum ClusterRequest {
    Refresh,
    Write(Box<Write>),
    /// A wave of deletions: each slot with its pod.
    Wave(Vec<(String, PodRef)>),
    StuckPod,
}

/// What comes of an event, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Something to report.
    Report(StepReport),
    /// Something to do.
    Perform(Task),
}

impl Stepper {
    /// Begins with a workload as it was found. Asks for nothing before the first [`apply`](Self::apply), which
    /// may be of [`StepEvent::Tick`].
    #[must_use]
    pub fn new(request: Request, identity: Identity, found: Workload) -> Self {
        Self {
            timers: Timers::new(&request),
            command: Command { request, identity },
            cluster: ClusterView::new(found),
            reporter: Reporter::default(),
            in_flight: None,
            conflicts: 0,
            must_refresh: false,
            retry_at: None,
            outcome: None,
            due: Some(Duration::ZERO),
        }
    }

    /// Takes in an event. Returns what to report and what to do.
    pub fn apply(&mut self, event: StepEvent, now: Now) -> Vec<Output> {
        let mut out = Vec::new();
        let is_fresh = self.take(event, now, &mut out);
        self.settle(now, &mut out);
        self.observe(now, &mut out);
        self.proceed(is_fresh, now, &mut out);
        out
    }

    /// Returns when to hand in [`StepEvent::Tick`] if no other event comes before; none when nothing is awaited.
    #[must_use]
    pub fn due(&self) -> Option<Duration> {
        self.due
    }

    /// Returns the workload as it was observed last.
    #[must_use]
    pub fn workload(&self) -> &Workload {
        self.cluster.workload()
    }

    /// Returns all that was observed last, once everything was.
    #[must_use]
    pub fn observed(&self) -> Option<&Observation> {
        self.cluster.observed()
    }

    /// Returns how the command ended, once it did.
    #[must_use]
    pub fn outcome(&self) -> Option<&StepOutcome> {
        self.outcome.as_ref()
    }

    /// Returns the identity of this process in the lease.
    #[must_use]
    pub fn holder(&self) -> &str {
        &self.command.identity.holder
    }

    /// Returns why the plan rolls back, and the label of the revision, once the rollback is stored.
    #[must_use]
    pub fn rollback(&self) -> Option<(BatchFailure, &str)> {
        let revision = self.timers.rollback.revision.as_deref()?;
        Some((self.timers.failure.clone().unwrap_or(BatchFailure::Earlier), revision))
    }

    /// Returns the state of the plan; none before everything was observed, and where there is no plan.
    #[must_use]
    pub fn view(&self, now: Now) -> Option<PlanView> {
        let record = self.cluster.record_to_show(&self.command.request)?;
        let situation = self.cluster.situation(now)?;
        let slots = situation.slots_of(&record).ok()?;
        let mut view = plan_view(&PlanState { slots: &slots, timers: &self.timers }, self.reporter.batches());
        let outcome = self.timers.leaving.as_ref().map(|leaving| &leaving.outcome).or(self.outcome.as_ref());
        let has_failed = self.timers.failure.is_some() || matches!(outcome, Some(StepOutcome::Failed { .. }));
        let failed = record.plan.batch_under_way().map(|batch| batch.number).filter(|_| has_failed);
        for batch in view.batches.iter_mut().filter(|batch| Some(batch.number) == failed) {
            batch.stage = BatchStage::Failed;
        }
        Some(view)
    }

    /// Takes in a write without an answer that an observation shows to be stored.
    fn settle(&mut self, now: Now, out: &mut Vec<Output>) {
        let Some(workload) = self.cluster.observed().map(|observed| observed.workload.clone()) else {
            return;
        };
        if let Some(write) = self.timers.ownership.settled(&workload) {
            self.retry_at = None;
            self.stored(write, now, out);
        }
    }

    /// Measures the observation, and reports what is new in it.
    fn observe(&mut self, now: Now, out: &mut Vec<Output>) {
        let is_ours = self.timers.ownership.has_acquired() && self.timers.leaving.is_none();
        let Some(situation) = self.cluster.situation(now).filter(|_| is_ours && self.outcome.is_none())
        else {
            return;
        };
        let timers = &mut self.timers;
        timers.causes.observe(situation.observed, now, out);
        let Some(slots) = &situation.slots else { return };
        if slots.observation.record.plan.is_rolling_back() {
            return timers.rollback.observe(Returned::of(&slots.observation).count, now.elapsed);
        }
        let mut soak = std::mem::take(&mut timers.soak);
        let state = PlanState { slots, timers };
        let disturbance = soak.observe(state.soaking(), now.elapsed);
        self.reporter.observe(&state, disturbance, out);
        let ready = state.all().iter().filter(|slot| slot.is_ready() && state.is_in_batch(slot)).count();
        let is_moving = state.is_moving();
        timers.soak = soak;
        timers.observe_batch(ready, is_moving, now.elapsed);
        if !timers.excused.is_empty() {
            let available = slots.all.iter().filter(|slot| slot.is_available);
            timers.excused.retain(|name| available.clone().all(|slot| slot.name != *name));
        }
    }

    /// Decides and acts until there is something to wait for. An action is only executed on a fresh observation.
    fn proceed(&mut self, is_fresh: bool, now: Now, out: &mut Vec<Output>) {
        self.check_limits(now, out);
        self.retry_at = self.retry_at.filter(|retry_at| now.elapsed < *retry_at);
        while self.in_flight.is_none() && self.retry_at.is_none() && self.outcome.is_none() {
            let situation = self.cluster.situation(now).filter(|_| is_fresh || !self.must_refresh);
            let Some(situation) = situation else {
                self.refresh(now, out);
                break;
            };
            self.must_refresh = false;
            let decision = reconcile(&self.command, &situation, &self.timers);
            let is_idle = decision.action.is_wait() || decision.action.needs_refresh() && !is_fresh;
            let renewal = if is_idle { renewal(&self.command, &situation, &self.timers) } else { None };
            let Decision { action, why } = renewal.unwrap_or(decision);
            if action.needs_refresh() && !is_fresh {
                self.refresh(now, out);
                break;
            }
            let is_wait = action.is_wait() || matches!(action, Action::AwaitLease(_));
            if self.command.request.explains {
                self.reporter.decision(why, out);
            }
            self.execute(action, now, out);
            if is_wait {
                break;
            }
        }
        self.report_stage_and_due(now, out);
    }

    fn execute(&mut self, action: Action, now: Now, out: &mut Vec<Output>) {
        let is_renewal = matches!(&action, Action::Write(write) if write.purpose == Purpose::RenewLease);
        if !action.is_wait() && !is_renewal {
            self.reporter.end_wait();
        }
        match action {
            Action::Wait => self.reporter.end_wait(),
            Action::WaitFor(what) => self.reporter.wait(what, now, out),
            Action::AwaitLease(lease) => self.await_lease(lease, now, out),
            Action::Write(write) => {
                let task = Task::Write(Box::new(write.patch.clone()));
                self.send(ClusterRequest::Write(write), task, now, out);
            }
            Action::DeleteWave(wave) => {
                let pods = wave.iter().map(|(_, pod)| pod.clone()).collect();
                let evict = self.cluster.record().is_some_and(|record| record.plan.pace.evict);
                self.timers.last_wave = Some(now.elapsed);
                self.send(ClusterRequest::Wave(wave), Task::DeletePods { pods, evict }, now, out);
            }
            Action::DeleteStuckPod(pod) => {
                self.reporter.stuck_pod(&pod, out);
                let task = Task::DeletePods { pods: vec![pod], evict: false };
                self.send(ClusterRequest::StuckPod, task, now, out);
            }
            Action::RunCheck => self.run_check(now, out),
            Action::Excuse(slots) => {
                self.timers.excused.extend(slots);
                self.timers.force = false;
            }
            Action::Fail(failure) => {
                self.report_batch(BatchStage::Failed, now, out);
                self.timers.failure = Some(failure);
            }
            Action::Finish(outcome) => self.leave(outcome, now, out),
            Action::End(outcome) => self.end(outcome, out),
        }
    }

    fn refresh(&mut self, now: Now, out: &mut Vec<Output>) {
        self.send(ClusterRequest::Refresh, Task::Refresh, now, out);
    }

    fn send(&mut self, request: ClusterRequest, task: Task, now: Now, out: &mut Vec<Output>) {
        self.in_flight = Some(InFlight { request, since: now.elapsed });
        out.push(Output::Perform(task));
    }

    fn run_check(&mut self, now: Now, out: &mut Vec<Output>) {
        if let Some(batch) = self.report_batch(BatchStage::Checking, now, out) {
            self.timers.check = CheckState::Running(now.elapsed);
            out.push(Output::Perform(Task::RunCheck(batch)));
        }
    }

    /// Reports the stage of the batch that began last. Returns the batch.
    fn report_batch(
        &mut self,
        stage: BatchStage,
        now: Now,
        out: &mut Vec<Output>,
    ) -> Option<super::preview::Batch> {
        let situation = self.cluster.situation(now)?;
        let plan = situation.state(&self.timers)?;
        let batch = batch(&plan, plan.plan().batch.as_ref()?, stage);
        if batch.stage == BatchStage::Failed {
            self.reporter.batch_is_over(batch.number);
            report(StepReport::Batch(batch.clone()), out);
        }
        Some(batch)
    }

    /// Waits for another process until it releases its lease, or lets it expire.
    fn await_lease(&mut self, lease: Lease, now: Now, out: &mut Vec<Output>) {
        self.timers.renewed = None; // what failed before was another attempt
        let other = self.timers.other_lease.as_ref().map(|(other, _)| other);
        if other.is_none_or(|other| other.holder != lease.holder) {
            report(StepReport::LeaseHeld { lease: lease.clone(), wait: LEASE_DURATION }, out);
        }
        if other != Some(&lease) {
            self.timers.other_lease = Some((lease, now.elapsed));
        }
    }

    /// Ends the command because of a signal: at once the second time.
    pub(super) fn stop(&mut self, stop: StopSignal, now: Now, out: &mut Vec<Output>) {
        let outcome = match stop {
            StopSignal::Interrupted => StepOutcome::Interrupted,
            StopSignal::Terminated | StopSignal::HungUp => StepOutcome::Terminated,
        };
        match self.timers.leaving {
            Some(_) => self.end(outcome, out),
            None => self.leave(outcome, now, out),
        }
    }

    /// Ends the command once its lease is released.
    pub(super) fn leave(&mut self, outcome: StepOutcome, now: Now, out: &mut Vec<Output>) {
        // Nothing waits for a refresh any more.
        self.in_flight.take_if(|in_flight| matches!(in_flight.request, ClusterRequest::Refresh));
        if self.timers.ownership.wrote_nothing() && self.in_flight.is_none() {
            return self.end(outcome, out);
        }
        self.retry_at = None;
        self.timers.leaving = Some(Leaving { outcome, since: now.elapsed, tries: 0 });
    }

    /// Ends the command without the release of its lease, which expires.
    pub(super) fn end_leaving(&mut self, out: &mut Vec<Output>) {
        if let Some(leaving) = &self.timers.leaving {
            self.end(leaving.outcome.clone(), out);
        }
    }

    pub(super) fn end(&mut self, outcome: StepOutcome, out: &mut Vec<Output>) {
        if self.outcome.is_none() {
            self.in_flight = None;
            self.outcome = Some(outcome.clone());
            report(StepReport::Ended(outcome), out);
        }
    }

    /// Ends what takes too long: the command, the wait for an answer before the lease is acquired, the release of
    /// the lease.
    fn check_limits(&mut self, now: Now, out: &mut Vec<Output>) {
        let is_over = |due: Option<Duration>| due.is_some_and(|due| now.elapsed >= due);
        if let Some(limit) = self.time_limit().filter(|limit| now.elapsed >= *limit) {
            let undoes = self.cluster.record().is_some_and(|one| one.plan.pace.on_failure == OnFailure::Undo);
            let outcome = match self.timers.failure.clone().filter(|_| undoes) {
                Some(failure) => {
                    let why = format!(
                        "the command timed out after {}",
                        crate::model::text::go_duration::write(limit)
                    );
                    let rollback = Some(super::outcome::RollbackOutcome::NotStarted(why));
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

    /// When the command has to end. A rollback is not cut short.
    fn time_limit(&self) -> Option<Duration> {
        let is_done = self.timers.leaving.is_some() || self.timers.rollback.revision.is_some();
        self.command.request.timeout.filter(|_| !is_done && self.outcome.is_none())
    }

    /// When the command gives up on an answer before it acquired the lease.
    fn unanswered_due(&self) -> Option<Duration> {
        let (renewed, in_flight) = (self.timers.renewed?, self.in_flight.as_ref()?);
        let is_waiting = !self.timers.ownership.has_acquired() && self.timers.leaving.is_none();
        is_waiting.then(|| renewed.max(in_flight.since) + LEASE_DURATION)
    }

    fn leaving_due(&self) -> Option<Duration> {
        self.timers.leaving.as_ref().map(|leaving| leaving.since + RELEASE_TIMEOUT)
    }

    /// Reports the stage of the plan, and computes when time alone changes the decision.
    fn report_stage_and_due(&mut self, now: Now, out: &mut Vec<Output>) {
        self.due = None;
        if self.outcome.is_some() {
            return;
        }
        let mut dues = Vec::new();
        let timers = &self.timers;
        let is_ours = timers.ownership.has_acquired() && timers.leaving.is_none();
        let situation = self.cluster.situation(now).filter(|_| is_ours);
        if let Some(state) = situation.as_ref().and_then(|situation| situation.state(timers)) {
            if state.plan().is_rolling_back() {
                let limit = state.pace().batch_timeout;
                dues.push(timers.rollback.since.map(|since| since.saturating_add(limit)));
            } else {
                // After an external change, or a failure, there is no stage to report.
                let workload = &state.observation().observed.workload;
                if timers.failure.is_none() && state.observation().record.hold.is_in_force(workload) {
                    self.reporter.stage(&state, out);
                }
                let soaked = (!state.is_moving()).then(|| now.elapsed.saturating_add(state.soak_left()));
                dues.extend([soaked, timers.progress.due(state.pace().batch_timeout)]);
                dues.push(timers.last_wave.map(|last| last + WAVE_PAUSE));
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

    /// Reports the stage of the plan.
    pub(super) fn report_stage(&mut self, now: Now, out: &mut Vec<Output>) {
        let situation = self.cluster.situation(now);
        if let Some(state) = situation.as_ref().and_then(|situation| situation.state(&self.timers)) {
            self.reporter.stage(&state, out);
        }
    }

    /// Takes in that a write is stored.
    pub(super) fn stored(&mut self, write: Write, now: Now, out: &mut Vec<Output>) {
        let timers = &mut self.timers;
        timers.ownership.take_stored(&write);
        timers.renewed = Some(now.elapsed);
        self.conflicts = 0;
        if let Some(record) = self.cluster.record() {
            self.reporter.keep_batch(record);
        }
        match &write.purpose {
            Purpose::EndPlan(_) | Purpose::RenewLease | Purpose::AcquireLease | Purpose::ReleaseSlots => {}
            Purpose::BeginBatch => {
                if let Some(record) = self.cluster.record() {
                    self.reporter.begin_batch(record);
                }
                timers.begin_batch();
                if timers.leaving.is_none() {
                    self.report_stage(now, out); // the batch, then its slots
                }
            }
            Purpose::FinishBatch => timers.finish_batch(),
            Purpose::RollBack => timers.rollback.since = Some(now.elapsed),
            Purpose::ReleaseLease => return self.end_leaving(out),
        }
        for one in write.reports {
            match &one {
                StepReport::RollingBack { revision } => {
                    self.timers.rollback.revision = Some(revision.clone());
                }
                StepReport::Batch(batch) => self.reporter.batch_is_over(batch.number),
                _ => {}
            }
            report(one, out);
        }
        if let Purpose::EndPlan(outcome) = write.purpose {
            self.end(outcome, out);
        }
    }

    /// Takes in the result of the check. A pass counts only for pods that were ready all the time.
    pub(super) fn take_check(&mut self, result: CheckResult) {
        if let CheckState::Running(since) = self.timers.check {
            let is_disturbed = self.timers.soak.disturbed().is_some_and(|disturbed| disturbed > since);
            let is_void = is_disturbed && result == CheckResult::Passed;
            self.timers.check = if is_void { CheckState::NotRun } else { CheckState::Finished(result) };
        }
    }
}
