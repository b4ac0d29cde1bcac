//! The engine of `step`: decides on a fresh observation, and performs what was decided.

use std::collections::BTreeSet;
use std::mem::{replace, take};
use std::time::Duration;

use super::action::{Action, Decision};
use super::cluster_view::ClusterView;
use super::event::{StepReport, Task};
use super::memory::Memory;
use super::outcome::{RollbackOutcome, StepOutcome};
use super::reconcile::{reconcile, release_lock};
use super::reporter::ChangeReporter;
use super::state::State;
use super::view::{Batch, BatchStage, PlanView};
use super::view_builder::{batch, plan_view};
use crate::error::{Error, ErrorKind};
use crate::model::follow::{Now, Output};
use crate::model::hold::plan::OnFailure;
use crate::model::text::go_duration;

/// How long requests may fail before the lock is acquired.
pub(super) const GIVE_UP_AFTER: Duration = Duration::from_secs(60);

/// The time limit for releasing the lock at the end of a command.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(5);

/// How often it decides again without events: pods become available by elapsed time alone, after `minReadySeconds`.
const POLL_EVERY: Duration = Duration::from_secs(5);

/// Decides and performs. [`Doing`] says what it is doing.
#[derive(Debug)]
pub(super) struct Engine {
    pub(super) memory: Memory,
    pub(super) reporter: ChangeReporter,
    pub(super) doing: Doing,
    /// When the first request failed. It matters until the lock is acquired.
    pub(super) failing_since: Option<Duration>,
    /// How many writes in a row failed their preconditions.
    pub(super) conflicts: usize,
    /// Whether the next action needs a refresh, because a request did not end as expected.
    pub(super) must_refresh: bool,
    /// The pods whose deletion got no response.
    pub(super) unanswered: BTreeSet<String>,
    pub(super) due: Option<Duration>,
}

/// What the engine is doing.
#[derive(Debug)]
pub(super) enum Doing {
    /// It decides on the next fresh observation; after a failed request not before this time.
    Deciding { not_before: Option<Duration> },
    /// It awaits the answer of a request.
    Awaiting(InFlight),
    /// The command has its outcome. Its lock is to be released after the answer of the request in flight.
    Releasing {
        outcome: StepOutcome,
        since: Duration,
        /// How many attempts to release the lock failed.
        tries: usize,
        in_flight: Option<InFlight>,
    },
    /// The command ended.
    Done(StepOutcome),
}

/// An action whose answer is awaited, and the time at which its request was sent.
#[derive(Debug)]
pub(super) struct InFlight {
    pub(super) action: Action,
    pub(super) since: Duration,
}

impl Engine {
    pub(super) fn new(memory: Memory) -> Self {
        Self {
            memory,
            reporter: ChangeReporter::default(),
            doing: Doing::Deciding { not_before: None },
            failing_since: None,
            conflicts: 0,
            must_refresh: false,
            unanswered: BTreeSet::new(),
            due: Some(Duration::ZERO),
        }
    }

    /// Records the observation, and reports its changes. What another process does that took the plan over is not
    /// reported.
    pub(super) fn observe(&mut self, cluster: &ClusterView, state: Option<&State<'_>>, now: Now) {
        let holder = cluster.record().and_then(|record| record.lock.as_ref()).map(|lock| &lock.holder);
        let is_ours = holder == Some(&self.memory.lock.holder) && self.is_stepping();
        let Some(observed) = cluster.observed().filter(|_| is_ours) else { return };
        let memory = &mut self.memory;
        memory.causes.observe(observed, now, &mut self.reporter.out);
        memory.stuck_pods.observe(observed, now.elapsed);
        let Some(state) = state else { return };
        if state.plan().is_rolling_back() {
            return memory.rollback.observe(state);
        }
        let interruption = memory.observe(state);
        self.reporter.observe(state, interruption);
    }

    /// Decides and acts until it must wait. An action is only performed on a fresh observation.
    pub(super) fn proceed(
        &mut self,
        is_fresh: bool,
        cluster: &ClusterView,
        state: &mut Option<State<'_>>,
        now: Now,
    ) {
        self.check_limits(cluster, now);
        while self.may_decide(now) {
            let Decision { action, why } = self.decide(cluster, state.as_ref(), now);
            let needs_refresh = cluster.observed().is_none() || self.must_refresh || action.needs_refresh();
            if needs_refresh && !is_fresh {
                self.perform(Action::Refresh, state, now);
                break;
            }
            self.must_refresh = false;
            if self.memory.request.explains {
                self.reporter.decision(why);
            }
            let is_wait = action.is_wait();
            self.perform(action, state, now);
            if is_wait {
                break;
            }
        }
        self.report_stage_and_due(state.as_ref(), now);
    }

    fn decide(&self, cluster: &ClusterView, state: Option<&State<'_>>, now: Now) -> Decision {
        match &self.doing {
            Doing::Releasing { outcome, .. } => release_lock(cluster, outcome, &self.memory),
            _ => reconcile(cluster, state, &self.memory, now),
        }
    }

    /// Performs an action: sends at most one request.
    fn perform(&mut self, action: Action, state: &mut Option<State<'_>>, now: Now) {
        if !matches!(action, Action::WaitFor(_) | Action::Refresh) {
            self.reporter.end_wait();
        }
        match action {
            Action::Wait => {}
            Action::WaitFor(what) => self.reporter.wait(what, now),
            Action::Refresh => {
                self.send(Action::Refresh, Task::Refresh, now);
            }
            Action::Write(write) => {
                let task = Task::Write(Box::new(write.patch.clone()));
                self.send(Action::Write(write), task, now);
            }
            Action::DeleteWave(wave) => {
                let pods = wave.iter().map(|(_, pod)| pod.clone()).collect();
                let evict = state.as_ref().is_some_and(|state| state.pace().evict);
                self.memory.batch.last_wave = Some(now.elapsed);
                self.send(Action::DeleteWave(wave), Task::DeletePods { pods, evict }, now);
            }
            Action::DeleteStuckPod(pod) => {
                self.reporter.stuck_pod(&pod);
                let task = Task::DeletePods { pods: vec![pod.clone()], evict: false };
                self.send(Action::DeleteStuckPod(pod), task, now);
            }
            Action::RunCheck => {
                if let Some(batch) = last_batch(state.as_ref(), BatchStage::Checking) {
                    self.memory.batch.check.begin(now.elapsed);
                    self.reporter.perform(Task::RunCheck(batch));
                }
            }
            Action::Tolerate(slots) => {
                self.memory.tolerated.extend(slots);
                self.memory.force = false;
                if let Some(state) = state {
                    state.tolerate(&self.memory.tolerated);
                }
            }
            Action::Fail(failure) => {
                if let Some(batch) = last_batch(state.as_ref(), BatchStage::Failed) {
                    self.reporter.batch_is_over(StepReport::Batch(batch));
                }
                self.memory.rollback.failure = Some(failure);
                let mut batches = state.as_ref().map(|state| self.view(state).batches).unwrap_or_default();
                batches.retain(|batch| batch.stage != BatchStage::Waiting);
                self.memory.rollback.failed_batches = batches;
            }
            Action::Finish(outcome) => self.leave(outcome, now),
            Action::End(outcome) => self.end(outcome),
        }
    }

    fn send(&mut self, action: Action, task: Task, now: Now) {
        let sent = InFlight { action, since: now.elapsed };
        match &mut self.doing {
            Doing::Releasing { in_flight, .. } => *in_flight = Some(sent),
            doing => *doing = Doing::Awaiting(sent),
        }
        self.reporter.perform(task);
    }

    /// Releases the lock, and then ends the command.
    pub(super) fn leave(&mut self, outcome: StepOutcome, now: Now) {
        // No decision needs a refresh any more.
        let in_flight = match replace(&mut self.doing, Doing::Deciding { not_before: None }) {
            Doing::Awaiting(sent) | Doing::Releasing { in_flight: Some(sent), .. } => {
                Some(sent).filter(|sent| !sent.is_refresh())
            }
            _ => None,
        };
        if self.memory.ownership.wrote_nothing() && in_flight.is_none() {
            return self.end(outcome);
        }
        self.doing = Doing::Releasing { outcome, since: now.elapsed, tries: 0, in_flight };
    }

    /// Ends the command, and leaves its lock where it is.
    pub(super) fn end(&mut self, outcome: StepOutcome) {
        if self.outcome().is_none() {
            self.unanswered = self.unanswered_deletions().map(str::to_owned).collect();
            self.doing = Doing::Done(outcome);
        }
    }

    /// Ends the command if it is only to release its lock, and leaves the lock where it is.
    pub(super) fn end_leaving(&mut self) {
        if let Some(outcome) = self.leaving() {
            self.end(outcome.clone());
        }
    }

    /// Enforces the time limits of the command, of acquiring the lock, and of releasing it.
    fn check_limits(&mut self, cluster: &ClusterView, now: Now) {
        let is_over = |due: Option<Duration>| due.is_some_and(|due| now.elapsed >= due);
        if let Some(limit) = self.time_limit().filter(|limit| now.elapsed >= *limit) {
            let undoes = cluster.record().is_some_and(|one| one.plan.pace.on_failure == OnFailure::Undo);
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
        self.memory.request.timeout.filter(|_| has_limit)
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

    /// Reports the stage of the plan, and computes when elapsed time alone changes the decision.
    fn report_stage_and_due(&mut self, state: Option<&State<'_>>, now: Now) {
        self.due = None;
        if self.outcome().is_some() {
            return;
        }
        let (memory, state) = (&self.memory, state.filter(|_| self.is_stepping()));
        // After an external change, or a failure, there is no stage to report.
        let has_stage = |state: &&State<'_>| {
            memory.rollback.failure.is_none()
                && !state.plan().is_rolling_back()
                && state.record.hold.is_in_force(state.workload())
        };
        if let Some(state) = state.filter(has_stage) {
            self.reporter.stage(state, memory);
        }
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
        self.due = dues.into_iter().flatten().filter(|due| *due > now.elapsed).min();
    }

    /// Returns the state of the plan for display.
    pub(super) fn view(&self, state: &State<'_>) -> PlanView {
        let rollback = &self.memory.rollback;
        let mut view = plan_view(state, &self.memory, self.reporter.batches());
        let outcome = self.leaving().or(self.outcome());
        let has_failed = rollback.failure.is_some() || matches!(outcome, Some(StepOutcome::Failed { .. }));
        let failed = state.plan().batch_in_progress().map(|batch| batch.number).filter(|_| has_failed);
        for batch in view.batches.iter_mut().filter(|batch| Some(batch.number) == failed) {
            batch.stage = BatchStage::Failed;
        }
        if view.is_rolling_back {
            view.batches.clone_from(&rollback.failed_batches); // the present pods are those of the rollback
            view.has_more_batches = false;
        }
        view
    }

    /// Returns the outcome, once the command ended.
    pub(super) fn outcome(&self) -> Option<&StepOutcome> {
        if let Doing::Done(outcome) = &self.doing { Some(outcome) } else { None }
    }

    /// Returns the outcome of a command that is to release its lock.
    pub(super) fn leaving(&self) -> Option<&StepOutcome> {
        if let Doing::Releasing { outcome, .. } = &self.doing { Some(outcome) } else { None }
    }

    pub(super) fn in_flight(&self) -> Option<&InFlight> {
        match &self.doing {
            Doing::Awaiting(sent) => Some(sent),
            Doing::Releasing { in_flight, .. } => in_flight.as_ref(),
            Doing::Deciding { .. } | Doing::Done(_) => None,
        }
    }

    /// Whether this process holds the lock, and has no outcome.
    fn is_stepping(&self) -> bool {
        self.memory.ownership.has_acquired() && self.leaving().is_none() && self.outcome().is_none()
    }

    fn may_decide(&self, now: Now) -> bool {
        match &self.doing {
            Doing::Deciding { not_before } => not_before.is_none_or(|not_before| now.elapsed >= not_before),
            Doing::Releasing { in_flight, .. } => in_flight.is_none(),
            Doing::Awaiting(_) | Doing::Done(_) => false,
        }
    }

    /// Returns the names of the pods whose deletion was sent and got no response.
    pub(super) fn unanswered_deletions(&self) -> impl Iterator<Item = &str> {
        let wave = self.in_flight().and_then(|sent| match &sent.action {
            Action::DeleteWave(wave) => Some(wave),
            _ => None,
        });
        let wave = wave.into_iter().flatten().map(|(_, pod)| &pod.name);
        wave.chain(&self.unanswered).map(String::as_str)
    }

    pub(super) fn take_output(&mut self) -> Output<StepReport, Task> {
        take(&mut self.reporter.out)
    }
}

impl InFlight {
    pub(super) fn is_refresh(&self) -> bool {
        matches!(self.action, Action::Refresh)
    }
}

/// Returns the batch that began last.
fn last_batch(state: Option<&State<'_>>, batch_stage: BatchStage) -> Option<Batch> {
    let state = state?;
    Some(batch(state, state.plan().batch.as_ref()?, batch_stage))
}
