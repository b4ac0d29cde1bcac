//! The engine of `step`: decides on a fresh observation, and performs what was decided.

use std::collections::{BTreeSet, HashMap};
use std::mem::{Discriminant, discriminant, take};
use std::time::Duration;

use super::batch_view::{BatchStage, BatchView};
use super::decide::decide;
use super::memory::Memory;
use super::outcome::StepOutcome;
use super::ownership::LockState;
use super::request::{Reply, Request, Step, StepOptions, StepReport, Then};
use super::start::prepare_plan;
use super::state_of;
use super::view::{PlanView, plan_view};
use super::world::World;
use crate::engine::{Effects, Engine, LoopEvent, Now, PodRef};
use crate::error::Error;
use crate::hold::mechanism::State;
use crate::hold::plan::Lock;
use crate::kind::Workload;
use crate::observation::Observation;

/// Steps one workload.
#[derive(Debug)]
pub struct Stepper {
    pub(super) cluster: World,
    pub(super) memory: Memory,
    pub(super) options: StepOptions,
    /// The request whose reply is awaited, and when it was sent.
    pub(super) in_flight: Option<(Request, Duration)>,
    /// It does not decide before this time, because a request failed.
    pub(super) not_before: Option<Duration>,
    /// Since when every write and deletion fails, when the last one failed, and its error.
    pub(super) failing: Option<(Duration, Duration, Error)>,
    /// Since when no refresh could be decided on, because each failed or took too long.
    pub(super) unrefreshed_since: Option<Duration>,
    /// When the last refresh was requested.
    pub(super) last_refresh: Duration,
    /// How many writes in a row failed their preconditions.
    pub(super) conflicts: usize,
    /// Whether the next step needs a refresh, because a request did not end as expected.
    pub(super) must_refresh: bool,
    /// The pods whose deletion got no response, also those in the wave in flight.
    pub(super) unanswered_pods: BTreeSet<PodRef>,
    pub(super) due: Option<Duration>,
    /// The requests since the last event.
    pub(super) requests: Vec<Request>,
    /// The reports since the last event.
    pub(super) reports: Vec<StepReport>,
    /// The last report of each kind that [`report_once`](Self::report_once) made.
    reported: HashMap<Discriminant<StepReport>, StepReport>,
    /// What it waits for, and since when; no time once that is reported.
    waiting: Option<(String, Option<Duration>)>,
}

/// How long requests may fail before the lock is acquired.
pub(super) const GIVE_UP_AFTER: Duration = Duration::from_secs(60);

/// How old the last refresh may be while it waits for the controller.
const READ_AGAIN_AFTER: Duration = Duration::from_secs(30);

/// How long a wait lasts before it is reported.
const REPORT_AFTER: Duration = Duration::from_secs(5);

impl Engine for Stepper {
    type Answer = Reply;
    type Report = StepReport;
    type Task = Request;

    /// Receives one event, decides and acts.
    fn apply(&mut self, event: LoopEvent<Reply>, now: Now) -> Effects<StepReport, Request> {
        let is_fresh = self.receive(event, now);
        let cluster = self.cluster.clone();
        let state = cluster.state(self.memory.batch.is_forced, now);
        self.observe(state.as_ref(), now);
        self.proceed(is_fresh, state.as_ref(), now);
        self.due = self.next_due(state.as_ref(), now);
        Effects { reports: take(&mut self.reports), tasks: take(&mut self.requests) }
    }

    fn due(&self) -> Option<Duration> {
        self.due
    }

    fn is_finished(&self) -> bool {
        self.memory.ownership.is_finished()
    }
}

impl Stepper {
    /// Creates the stepper of a workload as it was found. It returns its first tasks from the first
    /// [`apply`](Engine::apply), which may be of [`LoopEvent::Tick`].
    #[must_use]
    pub fn new(options: StepOptions, lock: Lock, found: Workload) -> Self {
        Self {
            cluster: World::new(found),
            memory: Memory::new(&options, lock),
            options,
            in_flight: None,
            not_before: None,
            failing: None,
            last_refresh: Duration::ZERO,
            unrefreshed_since: None,
            conflicts: 0,
            must_refresh: false,
            unanswered_pods: BTreeSet::new(),
            due: Some(Duration::ZERO),
            requests: Vec::new(),
            reports: Vec::new(),
            reported: HashMap::new(),
            waiting: None,
        }
    }

    /// Returns the workload as last observed.
    #[must_use]
    pub fn workload(&self) -> &Workload {
        self.cluster.workload()
    }

    /// Returns the last observation; none before the first one.
    #[must_use]
    pub fn observed(&self) -> Option<&Observation> {
        self.cluster.observed()
    }

    /// Returns the identity of this process in the lock.
    #[must_use]
    pub fn holder(&self) -> &str {
        &self.memory.ownership.own.holder
    }

    /// Returns the pods whose deletion was sent and got no response, and that are still there.
    #[must_use]
    pub fn unanswered(&self) -> Vec<String> {
        let is_left = |deleted: &&PodRef| {
            let mut pods = self.cluster.observed().into_iter().flat_map(Observation::own_pods);
            pods.any(|pod| pod.is_active() && pod.uid == deleted.uid)
        };
        self.unanswered_pods.iter().filter(is_left).map(|pod| pod.name.clone()).collect()
    }

    /// Returns what the last write was to do, as an imperative, if it got no response and no refresh since shows whether it is
    /// stored; none for the release of the lock.
    #[must_use]
    pub fn unanswered_write(&self) -> Option<&'static str> {
        let last = self.memory.ownership.unanswered_writes.last().filter(|_| self.must_refresh);
        last.map(|write| &write.then).filter(|then| **then != Then::Unlock).map(Then::words)
    }

    /// Returns the state of the present plan, the last one, or else the one that the command would begin; none before the
    /// first observation.
    #[must_use]
    pub fn view(&self, now: Now) -> Option<PlanView> {
        let observed = self.cluster.observed()?;
        let planned = || Some(prepare_plan(&self.options, observed).ok()?.0);
        let hold = self.cluster.last_hold.as_deref().cloned().or_else(planned)?;
        let mut state = state_of(observed, self.cluster.nodes.as_deref(), &hold, now).ok()?;
        state.is_forced = self.memory.batch.is_forced;
        Some(plan_view(&state, &self.memory))
    }

    /// Whether no more pods of a wave may be deleted: the command has its outcome, or another client took the plan over or
    /// changed it.
    #[must_use]
    pub fn must_stop_deleting(&self) -> bool {
        let is_changed = |observed| self.memory.ownership.external_change(observed).is_some();
        self.memory.ownership.has_outcome()
            || !self.unanswered_pods.is_empty() && self.cluster.observed().is_some_and(is_changed)
    }

    /// Records the observation, and reports its changes. What another process does that took the plan over is not
    /// reported.
    fn observe(&mut self, state: Option<&State<'_>>, now: Now) {
        let memory = &mut self.memory;
        let lock = self.cluster.hold().and_then(|hold| hold.lock.as_ref());
        let is_ours =
            lock.is_some_and(|lock| memory.ownership.is_own(lock)) && memory.ownership.is_stepping();
        let Some(observed) = self.cluster.observed().filter(|_| is_ours) else { return };
        let Effects { reports, tasks } = memory.observe_causes(observed, now);
        self.reports.extend(reports);
        self.requests.extend(tasks);
        memory.stuck_pods.observe(observed, now.elapsed);
        match state {
            Some(state) if state.plan.rolling_back => self.reports.extend(memory.observe_rollback(state)),
            Some(state) => self.reports.extend(memory.observe(state)),
            None => {}
        }
    }

    /// Decides until it must wait, and performs each step. A step other than a wait rests on a refresh: on any other event, it
    /// only requests one. So does a wait for the controller that has lasted: a watch may stay open and deliver nothing. The end
    /// of a command needs no refresh: the release of the lock tests the annotation, and has little time.
    fn proceed(&mut self, is_fresh: bool, state: Option<&State<'_>>, now: Now) {
        self.must_refresh &= !is_fresh;
        self.check_limits(now);
        while self.may_decide(now) {
            let step = decide(&self.cluster, state, &self.memory, &self.options, now);
            let is_wait = matches!(step, Step::Wait(_));
            let needs_refresh = self.cluster.observed().is_none()
                || self.must_refresh
                || !is_wait && !self.memory.ownership.has_outcome()
                || self.must_read_again(&step, state, now);
            if needs_refresh && !is_fresh {
                return self.perform(Step::Ask(Request::Refresh), state, now);
            }
            if step.is_write()
                && let Some(error) = self.last_of_failures(now)
            {
                self.give_up(error, now);
                continue;
            }
            if self.options.explains {
                self.report_once(StepReport::Decision(step.words()));
            }
            self.perform(step, state, now);
            if is_wait {
                // Nothing is sent during the wait that could fail.
                self.unrefreshed_since = None;
                self.failing.take_if(|(_, last, _)| now.elapsed >= *last + GIVE_UP_AFTER);
                return;
            }
        }
    }

    /// Whether it waits for the controller, and the last refresh is [old](READ_AGAIN_AFTER). A soak needs none: its end is
    /// decided on a refresh, which shows what happened meanwhile.
    fn must_read_again(&self, step: &Step, state: Option<&State<'_>>, now: Now) -> bool {
        let awaits_controller = match step {
            Step::Wait(None) => state.is_none_or(|state| state.plan.rolling_back || state.is_moving()),
            Step::Wait(Some(_)) => true,
            _ => false,
        };
        awaits_controller && now.elapsed >= self.last_refresh + READ_AGAIN_AFTER
    }

    /// Performs a step: sends at most one request.
    fn perform(&mut self, step: Step, state: Option<&State<'_>>, now: Now) {
        if !matches!(step, Step::Wait(Some(_)) | Step::Ask(Request::Refresh)) {
            self.waiting = None;
        }
        match step {
            Step::Wait(None) => {}
            Step::Wait(Some(what)) => self.wait(what, now),
            Step::Ask(request) => {
                let is_check = matches!(request, Request::Check(_));
                self.send(request, now);
                if let Some(state) = state.filter(|_| is_check) {
                    self.reports.extend(self.memory.next_stage(state));
                }
            }
            Step::Fail(failure) => {
                if let Some((state, planned)) =
                    state.and_then(|one| Some((one, one.plan.last_batch.as_ref()?)))
                {
                    let batch = BatchView::of(state, planned, BatchStage::Failed);
                    self.reports.push(StepReport::Batch(batch));
                }
                self.memory.rollback.failure = Some(failure);
                let mut batches =
                    state.map(|state| plan_view(state, &self.memory).batches).unwrap_or_default();
                batches.retain(|batch| batch.stage != BatchStage::Waiting);
                self.memory.rollback.failed_batches = batches;
            }
            Step::End(outcome) => match &self.memory.ownership.lock {
                LockState::Releasing { outcome: known, .. } if *known == outcome => self.end_now(outcome),
                _ => self.end(outcome, now),
            },
        }
    }

    /// Sends a request, and records that its reply is awaited. A check runs beside other requests.
    fn send(&mut self, request: Request, now: Now) {
        match &request {
            Request::Check(_) => self.memory.batch.check.begin(now.elapsed),
            Request::Refresh => self.last_refresh = now.elapsed,
            Request::Delete { pods, .. } => {
                self.memory.batch.last_wave = Some(now.elapsed);
                self.unanswered_pods.extend(pods.iter().cloned());
            }
            Request::DeleteStuck(pod) => {
                self.report_once(StepReport::ReplacesStuckPod(pod.clone()));
            }
            Request::Patch(_) | Request::ReadLog(_) => {}
        }
        if !matches!(request, Request::Check(_) | Request::ReadLog(_)) {
            self.in_flight = Some((request.clone(), now.elapsed));
            self.not_before = None;
        }
        self.requests.push(request);
    }

    /// Reports a wait after [`REPORT_AFTER`].
    fn wait(&mut self, what: String, now: Now) {
        let since = match self.waiting.take() {
            Some((before, since)) if before == what => since,
            _ => Some(now.elapsed),
        };
        let is_due = since.is_some_and(|since| now.elapsed >= since + REPORT_AFTER);
        if is_due {
            self.reports.push(StepReport::Waiting(what.clone()));
        }
        self.waiting = Some((what, since.filter(|_| !is_due)));
    }

    /// Reports this unless it equals the last such report of the same kind.
    pub(super) fn report_once(&mut self, report: StepReport) {
        if self.reported.insert(discriminant(&report), report.clone()).as_ref() != Some(&report) {
            self.reports.push(report);
        }
    }

    /// Returns the outcome, once the command ended.
    #[must_use]
    pub fn outcome(&self) -> Option<&StepOutcome> {
        if let LockState::Released(outcome) = &self.memory.ownership.lock { Some(outcome) } else { None }
    }

    fn may_decide(&self, now: Now) -> bool {
        let is_due = self.not_before.is_none_or(|not_before| now.elapsed >= not_before);
        !self.is_finished() && self.in_flight.is_none() && is_due
    }
}
