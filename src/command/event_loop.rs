//! The event loop of `status` and `step`: waits for events, passes them to an engine, prints its reports and executes its
//! tasks.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use super::stop_signals::StopSignals;
use crate::cluster::observe::Observer;
use crate::cluster::source::Cluster;
use crate::error::Error;
use crate::model::cause::container_logs::{LogLines, LogRef};
use crate::model::engine::{Effects, Engine, Now, TargetEvent, TargetId};
use crate::model::kind::Workload;
use crate::render::ui::Ui;
use crate::world::Signals;

/// How many lines of a container's log are read.
pub(super) const LOG_LINES: usize = 10;

/// How long the end of a command waits for logs that were requested. They usually explain a failure.
const LOG_DRAIN_TIMEOUT: Duration = Duration::from_secs(3);

/// The last lines of a container's log, or why they cannot be read.
type LogAnswer = (TargetId, LogRef, Result<Vec<String>, Error>);

/// Executes the tasks of an engine.
pub(super) trait Executor<E: Engine> {
    /// Executes a task, or starts to. Returns the events that are known already.
    async fn execute(
        &mut self,
        task: E::Task,
        engine: &E,
        events: &mut EventSource<'_>,
        ui: &mut Ui,
    ) -> Vec<E::Event>;

    /// Waits for the events of a task that was started. Cancel safe; never completes without such a task.
    async fn results(&mut self) -> Vec<E::Event> {
        std::future::pending().await
    }

    /// Returns the events of the engine for a change of a target.
    fn engine_events(&mut self, target: TargetId, change: TargetEvent) -> Vec<E::Event>;

    /// Called after each event.
    fn after_event(&mut self, _engine: &E) {}

    /// Returns the event to apply once when stdout cannot be written any more; none ends the loop.
    fn without_output(&self) -> Option<E::Event>;
}

/// Prints the reports of an engine while its event loop runs.
pub(super) trait Reporter<E: Engine> {
    /// Returns the `Ui` that the reporter prints on.
    fn ui(&mut self) -> &mut Ui;

    /// Prints one report.
    fn report(&mut self, engine: &E, report: &E::Report, now: Now);

    /// Redraws the frame if a redraw is due. Called after all reports so far were printed.
    fn redraw_if_due(&mut self, _engine: &E, _now: Now) {}

    /// Returns when the next redraw is due, as the time since the loop started.
    fn next_redraw(&self) -> Option<Duration> {
        None
    }
}

/// Where the events of one command come from: container logs, timers and watches.
pub(super) struct EventSource<'a> {
    cluster: &'a Arc<Cluster>,
    observer: Observer,
    logs: JoinSet<LogAnswer>,
    started: Instant,
}

impl<'a> EventSource<'a> {
    /// Starts to watch workloads from the state in which they were found.
    fn new(cluster: &'a Arc<Cluster>, found: &[Workload]) -> Self {
        let observer = Observer::of_found(Arc::clone(cluster), found);
        Self { cluster, observer, logs: JoinSet::new(), started: Instant::now() }
    }

    /// Returns the current time, by the monotonic clock and by the API server's clock.
    pub(super) fn now(&self) -> Now {
        Now { elapsed: self.started.elapsed(), server_time: self.cluster.now() }
    }

    /// Reads everything about a target again.
    pub(super) fn refresh(&mut self, target: TargetId) {
        self.observer.refresh(target);
    }

    /// Starts to watch warning events.
    pub(super) fn watch_warnings(&mut self) {
        self.observer.watch_warnings();
    }

    /// Reads the last [`LOG_LINES`] lines of a container in the background.
    pub(super) fn read_log(&mut self, target: TargetId, workload: &Workload, place: LogRef) {
        let namespace = workload.object().namespace().to_owned();
        let cluster = Arc::clone(self.cluster);
        self.logs.spawn(async move {
            let lines = cluster.log_tail(&namespace, &place, LOG_LINES).await;
            (target, place, lines)
        });
    }
}

/// Watches workloads and drives an engine until it is finished. Returns the engine and the time of its end.
pub(super) async fn drive<E: Engine>(
    engine: E,
    executor: impl Executor<E>,
    found: &[Workload],
    cluster: &Arc<Cluster>,
    signals: Signals,
    reporter: &mut impl Reporter<E>,
) -> (E, Now) {
    let events = EventSource::new(cluster, found);
    let mut event_loop = EventLoop { engine, executor, events, reporter };
    event_loop.run(StopSignals::new(signals)).await;
    let now = event_loop.events.now();
    (event_loop.engine, now)
}

/// Returns the event of a log, without lines if it cannot be read. None, with one note, if RBAC forbids it.
pub(super) fn event_of_log(
    place: LogRef,
    lines: Result<Vec<String>, Error>,
    ui: &mut Ui,
) -> Option<TargetEvent> {
    if lines.as_ref().is_err_and(Error::is_withheld) {
        ui.err_line_once("note: container logs are not shown: cannot read logs");
        return None;
    }
    let LogRef { pod, container, .. } = place;
    Some(TargetEvent::Log(LogLines { pod, container, lines: lines.unwrap_or_default() }))
}

struct EventLoop<'a, E, X, R> {
    engine: E,
    executor: X,
    events: EventSource<'a>,
    reporter: &'a mut R,
}

impl<E: Engine, X: Executor<E>, R: Reporter<E>> EventLoop<'_, E, X, R> {
    /// Of several events that are ready the first one in the order of `select!` is taken, so that a run can be repeated.
    /// Watches are last: they can always be ready, and would starve logs and timers, of which each comes once.
    /// A wait that is dropped loses no event.
    async fn run(&mut self, mut stops: StopSignals) {
        let mut is_stopped = false;
        while !self.engine.is_finished() {
            let started = self.events.started;
            let [due, redraw] =
                [self.engine.due(), self.reporter.next_redraw()].map(|at| at.map(|at| started + at));
            let events = tokio::select! {
                biased;
                stop = stops.next() => {
                    is_stopped = true;
                    vec![E::stopped(stop)]
                }
                events = self.executor.results() => events,
                Some(log) = self.events.logs.join_next() => self.log_events(log.ok()),
                () = sleep_until(due.unwrap_or(started)), if due.is_some() => {
                    vec![E::tick(self.events.observer.since_answer())]
                }
                () = sleep_until(redraw.unwrap_or(started)), if redraw.is_some() => Vec::new(),
                changes = self.events.observer.next() => {
                    let changes = changes.into_iter();
                    changes.flat_map(|(target, change)| self.executor.engine_events(target, change)).collect()
                }
            };
            self.apply(events).await;
            if !is_stopped && !self.reporter.ui().can_write() {
                let Some(event) = self.executor.without_output() else { break };
                is_stopped = true;
                self.apply(vec![event]).await;
            }
            self.reporter.redraw_if_due(&self.engine, self.events.now());
        }
        self.drain_logs().await;
    }

    /// Waits for the logs that were requested and not received yet, for at most [`LOG_DRAIN_TIMEOUT`], and applies them.
    async fn drain_logs(&mut self) {
        let mut read = Vec::new();
        let all = async {
            while let Some(log) = self.events.logs.join_next().await {
                read.push(log.ok());
            }
        };
        let _ = timeout(LOG_DRAIN_TIMEOUT, all).await; // later logs are dropped
        for log in read {
            let events = self.log_events(log);
            self.apply(events).await;
        }
    }

    fn log_events(&mut self, read: Option<LogAnswer>) -> Vec<E::Event> {
        let Some((target, place, lines)) = read else { return Vec::new() };
        let event = event_of_log(place, lines, self.reporter.ui());
        event.map(|event| self.executor.engine_events(target, event)).unwrap_or_default()
    }

    /// Applies events, and those that follow from the tasks. Events that arrive meanwhile wait in the source.
    async fn apply(&mut self, events: Vec<E::Event>) {
        let mut events = VecDeque::from(events);
        while let Some(event) = events.pop_front() {
            let now = self.events.now();
            let Effects { reports, tasks } = self.engine.apply(event, now);
            for report in reports {
                self.reporter.report(&self.engine, &report, now);
            }
            self.executor.after_event(&self.engine);
            for task in tasks {
                let ui = self.reporter.ui();
                events.extend(self.executor.execute(task, &self.engine, &mut self.events, ui).await);
            }
        }
    }
}
