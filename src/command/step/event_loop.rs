//! The event loop of `step`: passes events to the stepper, executes its tasks and prints its reports.

use futures_util::StreamExt;
use futures_util::future::LocalBoxFuture;
use futures_util::stream::FuturesUnordered;

use super::executor::Executor;
use crate::command::follow::event_loop::{Engine, Reporter};
use crate::command::follow::event_source::{EventSource, Received};
use crate::command::stop_signals::StopSignals;
use crate::model::follow::{Now, StopSignal, TargetEvent, TargetId};
use crate::model::step::{StepEvent, StepOutcome, StepReport, Stepper, StepperOutput, Task};
use crate::world::Signals;

/// The only target.
const TARGET: TargetId = TargetId(0);

impl Engine for Stepper {
    type Report<'a> = (&'a Self, StepReport);
}

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
    reporter: &mut impl Reporter<'w, Stepper>,
) -> Ended {
    let cluster = executor.cluster().clone();
    let source = EventSource::new(&cluster, &[stepper.workload().clone()]);
    let stops = StopSignals::new(signals);
    let pending = FuturesUnordered::new();
    let mut event_loop = StepLoop { source, stops, executor, stepper, pending, stopped: None, reporter };
    let outcome = event_loop.run().await;
    let now = event_loop.source.now();
    Ended { stepper: event_loop.stepper, outcome, now }
}

struct StepLoop<'a, T> {
    source: EventSource<'a>,
    stops: StopSignals,
    executor: Executor,
    stepper: Stepper,
    /// The requests in flight: a write or a wave of deletions, and perhaps a check. Dropping them cancels them.
    pending: FuturesUnordered<LocalBoxFuture<'static, Vec<StepEvent>>>,
    /// The first signal. The command still releases its lock after it.
    stopped: Option<StopSignal>,
    reporter: &'a mut T,
}

impl<'w, T: Reporter<'w, Stepper>> StepLoop<'_, T> {
    async fn run(&mut self) -> StepOutcome {
        self.apply(StepEvent::Tick);
        loop {
            if let Some(outcome) = self.stepper.outcome() {
                let outcome = outcome.clone();
                self.apply_last_logs().await;
                return outcome;
            }
            let events = tokio::select! {
                biased;
                stop = self.stops.next() => vec![StepEvent::Stopped(stop)],
                Some(events) = self.pending.next() => events,
                received = self.source.next(self.stepper.due(), self.reporter.next_redraw()) => self.events(received),
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

    /// Returns the outcome after a second signal, which ends the command before its lock is released.
    fn outcome_of_second_signal(&mut self, event: &StepEvent) -> Option<StepOutcome> {
        let StepEvent::Stopped(stop) = event else { return None };
        self.stopped.replace(*stop).map(|_| StepOutcome::Interrupted(*stop))
    }

    fn apply(&mut self, event: StepEvent) {
        let now = self.source.now();
        for output in self.stepper.apply(event, now) {
            match output {
                StepperOutput::Report(report) => self.reporter.report(&(&self.stepper, report), now),
                StepperOutput::Perform(task) => self.perform(task, now),
            }
        }
        if self.stepper.is_leaving() {
            self.executor.end_deletions();
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
                self.pending.push(Box::pin(self.executor.write(workload, *patch)));
            }
            Task::DeletePods { pods, evict } => {
                self.pending.push(Box::pin(self.executor.delete_pods(workload, pods, evict)));
            }
            Task::RunCheck(batch) => {
                let view = self.stepper.view(now);
                self.pending.push(Box::pin(self.executor.check(workload, view.as_ref(), &batch)));
            }
        }
    }

    /// Returns the received events. A refresh is delayed until its nodes are read too.
    fn events(&mut self, received: Received) -> Vec<StepEvent> {
        let changes = match received {
            Received::Changes(changes) => changes,
            Received::Due { .. } => return vec![StepEvent::Tick],
            Received::Redraw => return Vec::new(),
            Received::Note(line) => {
                self.reporter.note_once(line);
                return Vec::new();
            }
        };
        let mut events = Vec::new();
        for (_, change) in changes {
            match change {
                TargetEvent::Refreshed(observed) => {
                    self.pending.push(Box::pin(self.executor.read_nodes(observed)));
                }
                change => events.push(StepEvent::Target(change)),
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
