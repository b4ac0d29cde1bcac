//! The event loop of `step`: passes events to the stepper, executes its tasks and prints its reports.

use super::executor::Executor;
use super::pending_requests::PendingRequests;
use crate::cluster::observe::WatchScope;
use crate::command::follow::event_loop::Reporter;
use crate::command::follow::event_source::{EventSource, Received};
use crate::model::follow::{FollowerEvent, Now, StopSignal, TargetEvent, TargetId};
use crate::model::step::{StepEvent, StepOutcome, StepReport, Stepper, StepperOutput, Task};
use crate::world::Signals;

/// The only target.
const TARGET: TargetId = TargetId(0);

/// A stepper whose command ended.
pub(super) struct Ended {
    pub(super) stepper: Stepper,
    pub(super) outcome: StepOutcome,
    pub(super) now: Now,
}

/// Steps a workload until the command ends.
pub(super) async fn step<'w>(
    stepper: Stepper,
    executor: Executor,
    signals: Signals,
    reporter: &mut impl Reporter<'w, Stepper, StepReport>,
) -> Ended {
    let cluster = executor.cluster().clone();
    let source = EventSource::new(&cluster, &[stepper.workload().clone()], WatchScope::WithPods, signals);
    let pending = PendingRequests::default();
    let mut event_loop = StepLoop { source, executor, stepper, pending, stopped: None, reporter };
    let outcome = event_loop.run().await;
    let now = event_loop.source.now();
    Ended { stepper: event_loop.stepper, outcome, now }
}

struct StepLoop<'a, T> {
    source: EventSource<'a>,
    executor: Executor,
    stepper: Stepper,
    pending: PendingRequests,
    /// The first signal. The command still releases its lease after it.
    stopped: Option<StopSignal>,
    reporter: &'a mut T,
}

impl<'w, T: Reporter<'w, Stepper, StepReport>> StepLoop<'_, T> {
    async fn run(&mut self) -> StepOutcome {
        self.apply(StepEvent::Tick);
        loop {
            if let Some(outcome) = self.stepper.outcome() {
                let outcome = outcome.clone();
                self.apply_last_logs().await;
                return outcome;
            }
            let events = tokio::select! {
                received = self.source.next(self.stepper.due(), self.reporter.next_redraw()) => self.events(received),
                events = self.pending.next() => events,
            };
            for event in events {
                if let Some(outcome) = self.outcome_of_second_signal(&event) {
                    return outcome;
                }
                self.apply(event);
            }
            if !self.reporter.has_reader() && self.stopped.is_none() {
                // The reader of stdout exited, so stop as after SIGTERM.
                self.stopped = Some(StopSignal::Terminated);
                self.apply(StepEvent::Stopped(StopSignal::Terminated));
            }
            let now = self.source.now();
            self.reporter.redraw_if_due(&self.stepper, now);
        }
    }

    /// Returns the outcome after a second signal, which ends the command before its lease is released.
    fn outcome_of_second_signal(&mut self, event: &StepEvent) -> Option<StepOutcome> {
        let StepEvent::Stopped(stop) = event else { return None };
        self.stopped.replace(*stop).map(|_| StepOutcome::Interrupted(*stop))
    }

    fn apply(&mut self, event: StepEvent) {
        let now = self.source.now();
        for output in self.stepper.apply(event, now) {
            match output {
                StepperOutput::Report(report) => self.reporter.report(&self.stepper, &report, now),
                StepperOutput::Perform(task) => self.perform(task, now),
            }
        }
    }

    fn perform(&mut self, task: Task, now: Now) {
        let workload = self.stepper.workload();
        match task {
            Task::Refresh => self.source.refresh(TARGET),
            Task::ReadLog(place) => self.source.fetch_log(TARGET, workload, place),
            Task::Write(patch) => {
                self.source.watch_warnings();
                self.executor.warn_once(workload, self.reporter.screen());
                self.pending.begin(self.executor.write(workload, *patch));
            }
            Task::DeletePods { pods, evict } => {
                self.pending.begin(self.executor.delete_pods(workload, pods, evict));
            }
            Task::RunCheck(batch) => {
                let view = self.stepper.view(now);
                self.pending.begin(self.executor.check(workload, view.as_ref(), &batch));
            }
        }
    }

    /// Returns the received events. A refresh is delayed until its nodes are read too.
    fn events(&mut self, received: Received) -> Vec<StepEvent> {
        if let Some(note) = received.note {
            self.reporter.note_once(note);
        }
        let mut events = Vec::new();
        for event in received.events {
            match event {
                FollowerEvent::Target(_, TargetEvent::Refreshed(observed)) => {
                    self.pending.begin(self.executor.read_nodes(observed));
                }
                FollowerEvent::Target(_, event) => events.push(StepEvent::Target(event)),
                FollowerEvent::Stopped(stop) => events.push(StepEvent::Stopped(stop)),
                FollowerEvent::Tick => events.push(StepEvent::Tick),
            }
        }
        events
    }

    async fn apply_last_logs(&mut self) {
        for received in self.source.drain_logs().await {
            for event in self.events(received) {
                self.apply(event);
            }
        }
    }
}
