//! The loop around `reconcile`: applies events, decides, and returns tasks.

use std::time::Duration;

use super::action::{Action, Decision, Purpose, Write};
use super::cluster_view::ClusterView;
use super::existing_plan::foretold_update;
use super::lease_upkeep::renewal;
use super::outcome::{BatchFailure, StepOutcome};
use super::reconcile::reconcile;
use super::report::StepReport;
use super::reporter::{ChangeReporter, report};
use super::request::{Identity, Request};
use super::rollback::Returned;
use super::situation::StepCommand;
use super::stale_refresh::StaleRefresh;
use super::state::PlanState;
use super::task::{StepEvent, StepperOutput, Task};
use super::timers::{CheckState, Timers};
use super::view::{Batch, BatchStage, PlanView};
use super::view_builder::{batch, plan_view};
use crate::model::change::plan::{LEASE_DURATION, Lease};
use crate::model::follow::{Now, PodRef};
use crate::model::status::effect::UpdatedPods;
use crate::model::status::observation::Observation;
use crate::model::workload::Workload;

/// Steps one workload. It does no I/O and has no clock. Its driver passes every event with its time to
/// [`Stepper::apply`], executes the [tasks](Task), and applies [`StepEvent::Tick`] when it is
/// [due](Stepper::due).
#[derive(Debug)]
pub struct Stepper {
    pub(super) command: StepCommand,
    pub(super) cluster: ClusterView,
    pub(super) timers: Timers,
    pub(super) reporter: ChangeReporter,
    pub(super) in_flight: Option<InFlight>,
    /// How many writes in a row failed their preconditions.
    pub(super) conflicts: usize,
    /// Whether the next action needs a refresh, because a request did not end as expected.
    pub(super) must_refresh: bool,
    pub(super) stale_refresh: StaleRefresh,
    /// When a failed request is retried.
    pub(super) retry_at: Option<Duration>,
    pub(super) outcome: Option<StepOutcome>,
    pub(super) due: Option<Duration>,
}

/// A request in flight, and the time at which it was sent.
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

impl InFlight {
    pub(super) fn is_refresh(&self) -> bool {
        matches!(self.request, ClusterRequest::Refresh)
    }
}

impl Stepper {
    /// Creates the stepper of a workload as it was found. It returns its first tasks from the first
    /// [`apply`](Self::apply), which may be of [`StepEvent::Tick`].
    #[must_use]
    pub fn new(request: Request, identity: Identity, found: Workload) -> Self {
        Self {
            timers: Timers::new(&request),
            command: StepCommand { request, identity },
            cluster: ClusterView::new(found),
            reporter: ChangeReporter::default(),
            in_flight: None,
            conflicts: 0,
            must_refresh: false,
            stale_refresh: StaleRefresh::default(),
            retry_at: None,
            outcome: None,
            due: Some(Duration::ZERO),
        }
    }

    /// Applies an event, and returns reports and tasks, in order.
    pub fn apply(&mut self, event: StepEvent, now: Now) -> Vec<StepperOutput> {
        let mut out = Vec::new();
        let is_fresh = self.handle(event, now, &mut out);
        self.settle(now, &mut out);
        self.observe(now, &mut out);
        self.proceed(is_fresh, now, &mut out);
        out
    }

    /// Returns when to apply [`StepEvent::Tick`] if no other event arrives earlier; none if only events matter.
    #[must_use]
    pub fn due(&self) -> Option<Duration> {
        self.due
    }

    /// Returns the workload as last observed.
    #[must_use]
    pub fn workload(&self) -> &Workload {
        self.cluster.workload()
    }

    /// Returns the last observation; none before the first refresh.
    #[must_use]
    pub fn observed(&self) -> Option<&Observation> {
        self.cluster.observed()
    }

    /// Returns the outcome, once the command ended.
    #[must_use]
    pub fn outcome(&self) -> Option<&StepOutcome> {
        self.outcome.as_ref()
    }

    /// Returns the identity of this process in the lease.
    #[must_use]
    pub fn holder(&self) -> &str {
        &self.command.identity.holder
    }

    /// Returns the failure that caused the rollback, and the label of its revision, once the rollback is stored.
    #[must_use]
    pub fn rollback(&self) -> Option<(BatchFailure, &str)> {
        let revision = self.timers.rollback.revision.as_deref()?;
        Some((self.timers.failure.clone().unwrap_or(BatchFailure::Earlier), revision))
    }

    /// Foretells how outdated pods will be updated; none before the first refresh.
    #[must_use]
    pub fn foretold_update(&self) -> Option<UpdatedPods> {
        self.observed().map(foretold_update)
    }

    /// Returns the state of the plan; none before the first refresh, and without a plan.
    #[must_use]
    pub fn view(&self, now: Now) -> Option<PlanView> {
        let record = self.cluster.record_to_show(&self.command.request)?;
        let situation = self.cluster.situation(now)?;
        let slots = situation.slots_of(&record).ok()?;
        let mut view = plan_view(&PlanState { slots: &slots, timers: &self.timers }, self.reporter.batches());
        let outcome = self.timers.leaving.as_ref().map(|leaving| &leaving.outcome).or(self.outcome.as_ref());
        let has_failed = self.timers.failure.is_some() || matches!(outcome, Some(StepOutcome::Failed { .. }));
        let failed = record.plan.batch_in_progress().map(|batch| batch.number).filter(|_| has_failed);
        for batch in view.batches.iter_mut().filter(|batch| Some(batch.number) == failed) {
            batch.stage = BatchStage::Failed;
        }
        if view.is_rolling_back {
            view.batches.clone_from(&self.timers.failed_batches); // the present pods are those of the rollback
            view.has_more_batches = false;
        }
        Some(view)
    }

    /// Resolves a write without a response if the observation shows that it is stored.
    fn settle(&mut self, now: Now, out: &mut Vec<StepperOutput>) {
        let Some(workload) = self.cluster.observed().map(|observed| observed.workload.clone()) else {
            return;
        };
        if let Some(write) = self.timers.ownership.settled(&workload) {
            self.retry_at = None;
            self.stored(write, now, out);
        }
    }

    /// Updates the timers with the observation, and reports its changes.
    fn observe(&mut self, now: Now, out: &mut Vec<StepperOutput>) {
        let is_ours = self.timers.ownership.has_acquired() && self.timers.leaving.is_none();
        let Some(situation) = self.cluster.situation(now).filter(|_| is_ours && self.outcome.is_none())
        else {
            return;
        };
        let timers = &mut self.timers;
        timers.causes.observe(situation.observed, now, out);
        let Some(slots) = &situation.slots else { return };
        if !slots.context.record.plan.is_releasing() {
            return timers.rollback.observe(Returned::of(&slots.context).count, now.elapsed);
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

    /// Decides and acts until it must wait. An action is only executed on a fresh observation.
    fn proceed(&mut self, is_fresh: bool, now: Now, out: &mut Vec<StepperOutput>) {
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
                if self.stale_refresh.needs_another(now.elapsed) {
                    self.refresh(now, out);
                }
                break;
            }
        }
        self.report_stage_and_due(now, out);
    }

    fn execute(&mut self, action: Action, now: Now, out: &mut Vec<StepperOutput>) {
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
                let mut batches = self.view(now).map(|view| view.batches).unwrap_or_default();
                batches.retain(|batch| batch.stage != BatchStage::Waiting);
                self.timers.failed_batches = batches;
            }
            Action::Finish(outcome) => self.leave(outcome, now, out),
            Action::End(outcome) => self.end(outcome, out),
        }
    }

    fn refresh(&mut self, now: Now, out: &mut Vec<StepperOutput>) {
        self.stale_refresh = StaleRefresh::default();
        self.send(ClusterRequest::Refresh, Task::Refresh, now, out);
    }

    fn send(&mut self, request: ClusterRequest, task: Task, now: Now, out: &mut Vec<StepperOutput>) {
        self.in_flight = Some(InFlight { request, since: now.elapsed });
        out.push(StepperOutput::Perform(task));
    }

    fn run_check(&mut self, now: Now, out: &mut Vec<StepperOutput>) {
        if let Some(batch) = self.report_batch(BatchStage::Checking, now, out) {
            self.timers.check = CheckState::Running(now.elapsed);
            out.push(StepperOutput::Perform(Task::RunCheck(batch)));
        }
    }

    /// Reports the stage of the batch that began last. Returns the batch.
    fn report_batch(&mut self, stage: BatchStage, now: Now, out: &mut Vec<StepperOutput>) -> Option<Batch> {
        let situation = self.cluster.situation(now)?;
        let plan = situation.state(&self.timers)?;
        let batch = batch(&plan, plan.plan().batch.as_ref()?, stage);
        if batch.stage == BatchStage::Failed {
            self.reporter.batch_is_over(batch.clone(), out);
        }
        Some(batch)
    }

    /// Waits until another process releases its lease, or until the lease expires.
    fn await_lease(&mut self, lease: Lease, now: Now, out: &mut Vec<StepperOutput>) {
        self.timers.renewed = None; // earlier failures belong to another attempt
        let other = self.timers.other_lease.as_ref().map(|(other, _)| other);
        if other.is_none_or(|other| other.holder != lease.holder) {
            report(StepReport::LeaseHeld { lease: lease.clone(), wait: LEASE_DURATION }, out);
        }
        if other != Some(&lease) {
            self.timers.other_lease = Some((lease, now.elapsed));
        }
        self.timers.other_plan = self.cluster.record().map(|record| record.plan.clone());
    }

    /// Reports the stage of the plan.
    pub(super) fn report_stage(&mut self, now: Now, out: &mut Vec<StepperOutput>) {
        let situation = self.cluster.situation(now);
        if let Some(state) = situation.as_ref().and_then(|situation| situation.state(&self.timers)) {
            self.reporter.stage(&state, out);
        }
    }
}
