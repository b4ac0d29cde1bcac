//! The event loop of `status` and `step`: waits for events, passes them to an engine, executes its tasks, and prints its
//! reports or draws them as live frames. SIGINT, SIGTERM and SIGHUP are events, here and for other verbs that wait.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, BoxStream, StreamExt};
use tokio::time::{Instant, sleep_until};

use crate::cluster::observe::Observer;
use crate::cluster::source::Cluster;
use crate::model::engine::{Effects, Engine, LoopEvent, Now, StopSignal, TargetEvent, TargetId};
use crate::model::kind::Workload;
use crate::render::message_writer::Frame;
use crate::render::ui::Ui;
use crate::world::{Signals, Terminal};

/// Reports within this time share one redraw. A thousand pods may change in one second, and a remote
/// terminal shows only a few frames per second.
const REDRAW_DELAY: Duration = Duration::from_millis(100);

/// Executes the tasks of an engine, and shows its reports.
pub(super) trait Executor<E: Engine> {
    /// Executes a task, or starts to. Returns the answer, if it is known already.
    async fn execute(
        &mut self,
        task: E::Task,
        engine: &E,
        observer: &mut Observer,
        now: Now,
        ui: &mut Ui,
    ) -> Option<E::Answer>;

    /// Waits until a task that was started ends. Returns its answer, if it has one. Cancel safe; never completes without such
    /// a task.
    async fn answer(&mut self) -> Option<E::Answer> {
        std::future::pending().await
    }

    /// Whether a task that was started has to be awaited, even after one signal: it may be a write in flight.
    fn is_busy(&self) -> bool {
        false
    }

    /// Returns a change of a target for the engine; none if the executor completes it, and answers then.
    fn pass_on(&mut self, change: TargetEvent) -> Option<TargetEvent> {
        Some(change)
    }

    /// Called after each event.
    fn after_event(&mut self, _engine: &E) {}

    /// Returns the signal that stands for a stdout that cannot be written any more; none ends the loop.
    fn without_output(&self) -> Option<StopSignal> {
        None
    }

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

/// Watches workloads from the state in which they were found, and drives an engine until it is finished. Returns the engine and
/// the time of its end.
pub(super) async fn drive<E: Engine>(
    engine: E,
    executor: &mut impl Executor<E>,
    found: &[Workload],
    cluster: &Arc<Cluster>,
    signals: Signals,
    ui: &mut Ui,
) -> (E, Now) {
    let mut event_loop = EventLoop {
        engine,
        executor,
        cluster,
        observer: Observer::of_found(Arc::clone(cluster), found),
        started: Instant::now(),
        ui,
        results: Vec::new(),
        drawn: None,
        needs_redraw: true,
    };
    event_loop.run(StopSignals::new(signals)).await;
    let now = event_loop.now();
    (event_loop.engine, now)
}

struct EventLoop<'a, E: Engine, X> {
    engine: E,
    executor: &'a mut X,
    cluster: &'a Cluster,
    observer: Observer,
    started: Instant,
    ui: &'a mut Ui,
    /// The last results, which are not printed yet.
    results: Vec<E::Report>,
    /// When the frame on the terminal was drawn.
    drawn: Option<Duration>,
    /// Whether a report arrived since the last frame.
    needs_redraw: bool,
}

impl<E: Engine, X: Executor<E>> EventLoop<'_, E, X> {
    /// Returns the current time, by the monotonic clock and by the API server's clock.
    fn now(&self) -> Now {
        Now { elapsed: self.started.elapsed(), server_time: self.cluster.now() }
    }

    /// Runs until the engine is finished and the logs that it requested were read, or until a signal.
    ///
    /// `biased` takes the first event that is ready, in this order, so that a run can be repeated. Watches are last: they can
    /// always be ready, and would starve timers. A wait that is dropped loses no event.
    async fn run(&mut self, mut stops: StopSignals) {
        let (mut is_stopped, mut signals) = (false, 0);
        while !self.engine.is_finished() || self.executor.is_busy() && signals < 2 {
            let started = self.started;
            let [due, redraw] = [self.engine.due(), self.next_redraw()].map(|at| at.map(|at| started + at));
            let events = tokio::select! {
                biased;
                stop = stops.next() => {
                    (is_stopped, signals) = (true, signals + 1);
                    vec![LoopEvent::Stop(stop)]
                }
                answer = self.executor.answer() => answer.map(LoopEvent::Answer).into_iter().collect(),
                () = sleep_until(due.unwrap_or(started)), if due.is_some() => {
                    vec![LoopEvent::Tick { since_answer: self.observer.since_answer() }]
                }
                () = sleep_until(redraw.unwrap_or(started)), if redraw.is_some() => Vec::new(),
                changes = self.observer.next() => self.events_of(changes),
            };
            self.apply(events).await;
            if !is_stopped && !self.ui.can_write() && !self.executor.is_busy() {
                let Some(stop) = self.executor.without_output() else { break };
                is_stopped = true;
                self.apply(vec![LoopEvent::Stop(stop)]).await;
            }
            self.redraw_if_due();
        }
        // The logs that were requested usually explain a failure. After a signal only the result counts.
        while !is_stopped && self.observer.is_reading_logs() {
            tokio::select! {
                biased;
                _ = stops.next() => is_stopped = true,
                mut changes = self.observer.next() => {
                    changes.retain(|(_, change)| matches!(change, TargetEvent::Log(_)));
                    let events = self.events_of(changes);
                    self.apply(events).await;
                }
            }
        }
        let now = self.now();
        for report in std::mem::take(&mut self.results) {
            self.executor.report(&self.engine, &report, now, self.ui);
        }
    }

    fn events_of(&mut self, changes: Vec<(TargetId, TargetEvent)>) -> Vec<LoopEvent<E::Answer>> {
        let pass_on = |(target, change)| Some(LoopEvent::Target(target, self.executor.pass_on(change)?));
        changes.into_iter().filter_map(pass_on).collect()
    }

    /// Returns when the next redraw is due, as the time since the loop started: [`REDRAW_DELAY`] after the last frame if a
    /// report arrived, else the next full second, because frames show elapsed times.
    fn next_redraw(&self) -> Option<Duration> {
        let drawn = self.drawn?;
        Some(if self.needs_redraw { drawn + REDRAW_DELAY } else { Duration::from_secs(drawn.as_secs() + 1) })
    }

    fn redraw_if_due(&mut self) {
        let now = self.now();
        if self.executor.draws() && self.next_redraw().is_none_or(|due| now.elapsed >= due) {
            self.ui.draw(|size| self.executor.frame(&self.engine, now, size));
            (self.drawn, self.needs_redraw) = (Some(now.elapsed), false);
        }
    }

    /// Applies events, and those that follow from the tasks. Events that arrive meanwhile wait in the observer.
    async fn apply(&mut self, events: Vec<LoopEvent<E::Answer>>) {
        let mut events = VecDeque::from(events);
        while let Some(event) = events.pop_front() {
            let now = self.now();
            let Effects { reports, tasks } = self.engine.apply(event, now);
            self.needs_redraw |= !reports.is_empty();
            for report in reports {
                if self.engine.is_finished() && X::is_result(&report) {
                    self.results.push(report);
                } else {
                    self.executor.report(&self.engine, &report, now, self.ui);
                }
            }
            self.executor.after_event(&self.engine);
            for task in tasks {
                let answer =
                    self.executor.execute(task, &self.engine, &mut self.observer, now, self.ui).await;
                events.extend(answer.map(LoopEvent::Answer));
            }
        }
    }
}

/// The number of SIGHUP, the same on every Unix.
const SIGHUP: i32 = 1;

/// The number of SIGINT.
const SIGINT: i32 = 2;

/// Waits for SIGINT, SIGTERM and SIGHUP. Handles them while it exists, so that the command can print a last
/// report before it exits.
pub(super) struct StopSignals(BoxStream<'static, StopSignal>);

impl StopSignals {
    pub(super) fn new(signals: Signals) -> Self {
        Self(match signals {
            Signals::Ignored => stream::pending().boxed(),
            Signals::Process => of_this_process(),
            Signals::Sent(numbers) => {
                let next = |mut numbers: tokio::sync::watch::Receiver<i32>| async {
                    let number = numbers.changed().await.map(|()| *numbers.borrow_and_update()).ok()?;
                    let stop = match number {
                        SIGHUP => StopSignal::HungUp,
                        SIGINT => StopSignal::Interrupted,
                        _ => StopSignal::Terminated,
                    };
                    Some((stop, numbers))
                };
                stream::unfold(numbers, next).boxed()
            }
        })
    }

    /// Waits for the next signal.
    pub(super) async fn next(&mut self) -> StopSignal {
        match self.0.next().await {
            Some(stop) => stop,
            None => std::future::pending().await,
        }
    }
}

#[cfg(unix)]
fn of_this_process() -> BoxStream<'static, StopSignal> {
    use tokio::signal::unix::{SignalKind, signal};
    let hang_up = (!ignores_hang_up()).then_some((SignalKind::hangup(), StopSignal::HungUp));
    let signals = [
        (SignalKind::interrupt(), StopSignal::Interrupted),
        (SignalKind::terminate(), StopSignal::Terminated),
    ];
    let streams = signals.into_iter().chain(hang_up).filter_map(|(kind, stop)| {
        let next = move |mut signals: tokio::signal::unix::Signal| async move {
            signals.recv().await.map(|()| (stop, signals))
        };
        Some(stream::unfold(signal(kind).ok()?, next).boxed())
    });
    stream::select_all(streams).boxed()
}

#[cfg(not(unix))]
fn of_this_process() -> BoxStream<'static, StopSignal> {
    let interrupted =
        async |()| Some((tokio::signal::ctrl_c().await.map(|()| StopSignal::Interrupted).ok()?, ()));
    stream::unfold((), interrupted).boxed()
}

/// Whether the process ignores SIGHUP, as under `nohup`. Known only on Linux; false on other systems.
#[cfg(unix)]
fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & (1 << (SIGHUP - 1)) != 0)
}
