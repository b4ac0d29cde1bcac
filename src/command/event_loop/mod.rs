//! The event loop of `status` and `step`: passes events to an engine, prints its reports and executes its tasks.

pub(super) mod frames;
pub(super) mod source;

use std::collections::VecDeque;
use std::time::Duration;

use self::source::{EventSource, Received};
use super::stop_signals::StopSignals;
use crate::cluster::live::Cluster;
use crate::model::follow::{Now, Output, StopSignal, TargetEvent, TargetId};
use crate::model::kind::Workload;
use crate::render::ui::Ui;
use crate::world::Signals;

/// What the event loop drives: a follower or a stepper.
pub(super) trait Engine {
    /// One thing that happened.
    type Event;

    /// A report with its facts.
    type Report<'a>
    where
        Self: 'a;

    /// What the executor must do.
    type Task;

    /// Applies one event and returns the reports and tasks that follow from it.
    fn apply(&mut self, event: Self::Event, now: Now) -> Output<Self::Report<'_>, Self::Task>;

    /// Returns when to apply a tick if no other event arrives earlier, counted from the start of the loop.
    fn due(&self) -> Option<Duration>;

    /// Whether the engine has its result.
    fn is_finished(&self) -> bool;

    /// Returns the event of time that passed. The server last answered a read this long ago.
    fn tick(answered: Duration) -> Self::Event;

    /// Returns the event of a signal.
    fn stopped(signal: StopSignal) -> Self::Event;
}

/// Executes the tasks of an engine.
pub(super) trait Executor<E: Engine> {
    /// Executes a task, or starts to. Returns the events that are known already.
    async fn execute(
        &mut self,
        task: E::Task,
        engine: &E,
        source: &mut EventSource<'_>,
        ui: &mut Ui,
    ) -> Vec<E::Event>;

    /// Waits for the events of a task that was started. Cancel safe; never completes without such a task.
    async fn results(&mut self) -> Vec<E::Event> {
        std::future::pending().await
    }

    /// Returns the events of a change of a target.
    fn events_of(&mut self, target: TargetId, change: TargetEvent) -> Vec<E::Event>;

    /// Called after each event, for example to start a watch.
    fn after_event(&mut self, engine: &E, source: &mut EventSource<'_>);

    /// Returns the event to apply once when the reader of stdout exited; none ends the loop.
    fn without_reader(&self) -> Option<E::Event>;
}

/// Prints the reports of an engine while its event loop runs.
pub(super) trait Reporter<E: Engine> {
    /// Returns the `Ui` that the reporter prints on.
    fn ui(&mut self) -> &mut Ui;

    /// Prints one report.
    fn report(&mut self, report: &E::Report<'_>, now: Now);

    /// Redraws the frame if a redraw is due. Called after all reports so far were printed.
    fn redraw_if_due(&mut self, _engine: &E, _now: Now) {}

    /// Returns when the next redraw is due, as the time since the loop started.
    fn next_redraw(&self) -> Option<Duration> {
        None
    }
}

/// Watches workloads and drives an engine until it is finished. Returns the engine and the time of its end.
pub(super) async fn drive<E: Engine>(
    engine: E,
    executor: impl Executor<E>,
    found: &[Workload],
    cluster: &Cluster,
    signals: Signals,
    reporter: &mut impl Reporter<E>,
) -> (E, Now) {
    let source = EventSource::new(cluster, found);
    let mut event_loop = EventLoop { engine, executor, source, reporter };
    event_loop.run(StopSignals::new(signals)).await;
    let now = event_loop.source.now();
    (event_loop.engine, now)
}

struct EventLoop<'a, E, X, R> {
    engine: E,
    executor: X,
    source: EventSource<'a>,
    reporter: &'a mut R,
}

impl<E: Engine, X: Executor<E>, R: Reporter<E>> EventLoop<'_, E, X, R> {
    async fn run(&mut self, mut stops: StopSignals) {
        let mut is_stopped = false;
        while !self.engine.is_finished() {
            let events = tokio::select! {
                biased;
                stop = stops.next() => {
                    is_stopped = true;
                    vec![E::stopped(stop)]
                }
                events = self.executor.results() => events,
                received = self.source.next(self.engine.due(), self.reporter.next_redraw()) => self.events(received),
            };
            self.apply(events).await;
            if !is_stopped && !self.reporter.ui().is_read() {
                let Some(event) = self.executor.without_reader() else { break };
                is_stopped = true;
                self.apply(vec![event]).await;
            }
            self.reporter.redraw_if_due(&self.engine, self.source.now());
        }
        for received in self.source.drain_logs().await {
            let events = self.events(received);
            self.apply(events).await;
        }
    }

    fn events(&mut self, received: Received) -> Vec<E::Event> {
        match received {
            Received::Changes(changes) => {
                let changes = changes.into_iter();
                changes.flat_map(|(target, change)| self.executor.events_of(target, change)).collect()
            }
            Received::Due { answered } => vec![E::tick(answered)],
            Received::Redraw => Vec::new(),
            Received::Note(line) => {
                self.reporter.ui().note_once(line);
                Vec::new()
            }
        }
    }

    /// Applies events, and those that follow from the tasks. Events that arrive meanwhile wait in the source.
    async fn apply(&mut self, events: Vec<E::Event>) {
        let mut events = VecDeque::from(events);
        while let Some(event) = events.pop_front() {
            let now = self.source.now();
            let Output { reports, tasks } = self.engine.apply(event, now);
            for report in reports {
                self.reporter.report(&report, now);
            }
            self.executor.after_event(&self.engine, &mut self.source);
            for task in tasks {
                let ui = self.reporter.ui();
                events.extend(self.executor.execute(task, &self.engine, &mut self.source, ui).await);
            }
        }
    }
}
