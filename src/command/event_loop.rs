//! The event loop of `status` and `step`: waits for events, passes them to an engine, executes its tasks, and prints its
//! reports or draws them as live frames.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::stop_signals::StopSignals;
use crate::cluster::observe::Observer;
use crate::cluster::source::Cluster;
use crate::error::{Error, ErrorKind};
use crate::model::cause::container_logs::{LogLines, LogRef};
use crate::model::engine::{Effects, Engine, Now, TargetEvent, TargetId};
use crate::model::kind::Workload;
use crate::render::frame::Frame;
use crate::render::ui::Ui;
use crate::world::{Signals, Terminal};

/// How many lines of a container's log are read.
pub(super) const LOG_LINES: usize = 10;

/// Reports within this time share one redraw. A thousand pods may change in one second, and a remote
/// terminal shows only a few frames per second.
const REDRAW_DELAY: Duration = Duration::from_millis(100);

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
    /// Whether live frames show what happens. Otherwise each report is printed.
    fn draws(&self) -> bool;

    /// Prints one report; with frames only what no frame shows, above the frame.
    fn report(&mut self, engine: &E, report: &E::Report, now: Now, ui: &mut Ui);

    /// Whether a report is a result. The last ones are printed below the logs that explain them.
    fn is_result(_report: &E::Report) -> bool {
        false
    }

    /// Returns the frame at a moment, for a terminal of a size.
    fn frame(&self, engine: &E, now: Now, size: Terminal) -> Frame;
}

/// The watches and the container logs of one command.
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
    pub(super) fn read_log(&mut self, target: TargetId, workload: &Workload, log: LogRef) {
        let namespace = workload.object().namespace().to_owned();
        let cluster = Arc::clone(self.cluster);
        self.logs.spawn(async move {
            let lines = cluster.log_tail(&namespace, &log, LOG_LINES).await;
            (target, log, lines)
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
    ui: &mut Ui,
) -> (E, Now) {
    let events = EventSource::new(cluster, found);
    let (results, drawn, needs_redraw) = (Vec::new(), None, true);
    let mut event_loop = EventLoop { engine, executor, events, reporter, ui, results, drawn, needs_redraw };
    event_loop.run(StopSignals::new(signals)).await;
    let now = event_loop.events.now();
    (event_loop.engine, now)
}

/// Returns the event of a log, without lines if it cannot be read. None, with one note, if RBAC forbids it.
pub(super) fn event_of_log(
    log: LogRef,
    lines: Result<Vec<String>, Error>,
    ui: &mut Ui,
) -> Option<TargetEvent> {
    if lines.as_ref().is_err_and(|error| error.kind() == ErrorKind::NotReadable) {
        ui.err_line_once("note: container logs are not shown: cannot read logs");
        return None;
    }
    let LogRef { pod, container, .. } = log;
    Some(TargetEvent::Log(LogLines { pod, container, lines: lines.unwrap_or_default() }))
}

struct EventLoop<'a, E: Engine, X, R> {
    engine: E,
    executor: X,
    events: EventSource<'a>,
    reporter: &'a mut R,
    ui: &'a mut Ui,
    /// The last results, which are not printed yet.
    results: Vec<E::Report>,
    /// When the frame on the terminal was drawn.
    drawn: Option<Duration>,
    /// Whether a report arrived since the last frame.
    needs_redraw: bool,
}

impl<E: Engine, X: Executor<E>, R: Reporter<E>> EventLoop<'_, E, X, R> {
    /// Runs until the engine is finished and the logs that it requested were read, or until a signal.
    ///
    /// `biased` takes the first event that is ready, in this order, so that a run can be repeated. Watches are last: they can
    /// always be ready, and would starve logs and timers. A wait that is dropped loses no event.
    async fn run(&mut self, mut stops: StopSignals) {
        let mut is_stopped = false;
        while !self.engine.is_finished() {
            let started = self.events.started;
            let [due, redraw] = [self.engine.due(), self.next_redraw()].map(|at| at.map(|at| started + at));
            let events = tokio::select! {
                biased;
                stop = stops.next() => {
                    is_stopped = true;
                    vec![E::stop_event(stop)]
                }
                events = self.executor.results() => events,
                Some(log) = self.events.logs.join_next() => self.log_events(log.ok()),
                () = sleep_until(due.unwrap_or(started)), if due.is_some() => {
                    vec![E::tick_event(self.events.observer.since_answer())]
                }
                () = sleep_until(redraw.unwrap_or(started)), if redraw.is_some() => Vec::new(),
                changes = self.events.observer.next() => {
                    let changes = changes.into_iter();
                    changes.flat_map(|(target, change)| self.executor.engine_events(target, change)).collect()
                }
            };
            self.apply(events).await;
            if !is_stopped && !self.ui.can_write() {
                let Some(event) = self.executor.without_output() else { break };
                is_stopped = true;
                self.apply(vec![event]).await;
            }
            self.redraw_if_due();
        }
        // The logs that were requested usually explain a failure. After a signal only the result counts.
        while !is_stopped {
            tokio::select! {
                biased;
                _ = stops.next() => is_stopped = true,
                log = self.events.logs.join_next() => {
                    let Some(log) = log else { break };
                    let events = self.log_events(log.ok());
                    self.apply(events).await;
                }
            }
        }
        let now = self.events.now();
        for report in std::mem::take(&mut self.results) {
            self.reporter.report(&self.engine, &report, now, self.ui);
        }
    }

    /// Returns when the next redraw is due, as the time since the loop started: [`REDRAW_DELAY`] after the last frame if a
    /// report arrived, else the next full second, because frames show elapsed times.
    fn next_redraw(&self) -> Option<Duration> {
        let drawn = self.drawn?;
        Some(if self.needs_redraw { drawn + REDRAW_DELAY } else { Duration::from_secs(drawn.as_secs() + 1) })
    }

    fn redraw_if_due(&mut self) {
        let now = self.events.now();
        if self.reporter.draws() && self.next_redraw().is_none_or(|due| now.elapsed >= due) {
            self.ui.draw(|size| self.reporter.frame(&self.engine, now, size));
            (self.drawn, self.needs_redraw) = (Some(now.elapsed), false);
        }
    }

    fn log_events(&mut self, read: Option<LogAnswer>) -> Vec<E::Event> {
        let Some((target, log, lines)) = read else { return Vec::new() };
        let event = event_of_log(log, lines, self.ui);
        event.map(|event| self.executor.engine_events(target, event)).unwrap_or_default()
    }

    /// Applies events, and those that follow from the tasks. Events that arrive meanwhile wait in the source.
    async fn apply(&mut self, events: Vec<E::Event>) {
        let mut events = VecDeque::from(events);
        while let Some(event) = events.pop_front() {
            let now = self.events.now();
            let Effects { reports, tasks } = self.engine.apply(event, now);
            self.needs_redraw |= !reports.is_empty();
            for report in reports {
                if self.engine.is_finished() && R::is_result(&report) {
                    self.results.push(report);
                } else {
                    self.reporter.report(&self.engine, &report, now, self.ui);
                }
            }
            self.executor.after_event(&self.engine);
            for task in tasks {
                events.extend(self.executor.execute(task, &self.engine, &mut self.events, self.ui).await);
            }
        }
    }
}
