//! The event loop of `status`, `list --watch` and `step`: waits for events, passes them to an engine, executes its tasks, and prints its
//! reports or draws them as live frames.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::{FutureExt, LocalBoxFuture, select_all};
use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::sync::watch;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep_until};

use super::stop_signals::{Continuations, StopSignals};
use crate::cluster::objects::observer::Observer;
use crate::cluster::source::Source;
use crate::model::engine::{Effects, Engine, LoopEvent, Now, StopSignal, TargetEvent, TargetId};
use crate::render::message_writer::Frame;
use crate::render::ui::Ui;
use crate::world::{Signals, Terminal};

/// Reports within this time share one redraw. A thousand pods may change in one second, and a remote
/// terminal shows only a few frames per second.
const REDRAW_DELAY: Duration = Duration::from_millis(100);

/// How long the end of a command waits for logs after a signal.
const LOGS_AFTER_SIGNAL: Duration = Duration::from_secs(1);

/// Executes the tasks of an engine, and shows its reports. Its requests live for `'a`.
pub(super) trait Executor<'a, E: Engine> {
    /// Whether the requests in flight are awaited even if the engine is finished, because they may be writes. Otherwise
    /// they are cancelled then. A second signal cancels all.
    const AWAITS_REQUESTS: bool = false;

    /// Starts the reads of an engine whose targets are not observed.
    fn begin(&mut self, _requests: &mut RequestsInFlight<'a, E::Answer>, _ui: &mut Ui) {}

    /// Executes a task, or starts a request that does. There is an observer of each context, and none of targets that are read
    /// once.
    fn execute(
        &mut self,
        task: E::Task,
        engine: &E,
        observers: &mut [Observer],
        requests: &mut RequestsInFlight<'a, E::Answer>,
        now: Now,
        ui: &mut Ui,
    );

    /// Returns an answer for the engine about all that was observed, after the changes of targets.
    fn observed(&mut self, _observer: &mut Observer, _ui: &mut Ui) -> Option<E::Answer> {
        None
    }

    /// Returns a change of a target for the engine; `None` if a request completes it, and answers then.
    fn pass_on(
        &mut self,
        change: TargetEvent,
        _requests: &mut RequestsInFlight<'a, E::Answer>,
    ) -> Option<TargetEvent> {
        Some(change)
    }

    /// Whether a request may begin no write any more.
    fn must_stop_writing(engine: &E) -> bool;

    /// Returns the signal that stands for a stdout that cannot be written any more; `None` ends the loop.
    fn without_output(&self) -> Option<StopSignal> {
        None
    }

    /// Whether live frames show what happens. Otherwise each report is printed.
    fn draws(&self, engine: &E) -> bool;

    /// Prints one report; with frames only what no frame shows, above the frame.
    fn report(&mut self, engine: &E, report: &E::Report, now: Now, ui: &mut Ui);

    /// Returns after how much silence of the output the executor prints a sign of life, if it prints any.
    fn heartbeat(&self) -> Option<Duration> {
        None
    }

    /// Prints what is awaited, because nothing was printed for a while.
    fn print_heartbeat(&mut self, _engine: &E, _now: Now, _ui: &mut Ui) {}

    /// Whether a report is a result. The last ones are printed below the logs that explain them.
    fn is_result(_report: &E::Report) -> bool {
        false
    }

    /// Returns the frame at a moment, for a terminal of a size.
    fn frame(&self, engine: &E, now: Now, size: Terminal) -> Frame;
}

/// Futures of which any may end first.
pub(super) type Futures<'a, T> = FuturesUnordered<LocalBoxFuture<'a, T>>;

/// The requests of an executor that have no answer yet. Dropping them cancels them.
pub(super) struct RequestsInFlight<'a, A> {
    requests: Futures<'a, Option<A>>,
    /// The reads of targets that are not observed.
    reads: Futures<'a, Vec<(TargetId, TargetEvent)>>,
    must_stop_writing: watch::Sender<bool>,
}

impl<'a, A> RequestsInFlight<'a, A> {
    fn new() -> Self {
        let (requests, reads) = (FuturesUnordered::new(), FuturesUnordered::new());
        Self { requests, reads, must_stop_writing: watch::channel(false).0 }
    }

    /// Starts a request. Its answer, if it has one, is an event.
    pub(super) fn start(&mut self, request: impl Future<Output = Option<A>> + 'a) {
        self.requests.push(Box::pin(request));
    }

    /// Starts a read, whose results are events of targets.
    pub(super) fn read(&mut self, read: impl Future<Output = Vec<(TargetId, TargetEvent)>> + 'a) {
        self.reads.push(Box::pin(read));
    }

    /// Returns whether no write may begin any more. A request looks it up before each write.
    pub(super) fn must_stop_writing(&self) -> watch::Receiver<bool> {
        self.must_stop_writing.subscribe()
    }
}

/// Drives an engine until it is finished, with what an observer of each context observes, or else with what the executor reads once. Returns the
/// engine and the time of its end.
pub(super) async fn drive<'a, E: Engine>(
    engine: E,
    executor: &mut impl Executor<'a, E>,
    observers: Vec<Observer>,
    source: &Source,
    signals: Signals,
    ui: &mut Ui,
) -> (E, Now) {
    let mut event_loop = EventLoop::new(engine, executor, observers, source, signals, ui);
    event_loop.run().await;
    event_loop.end().await
}

/// Waits until one of these ends. Cancel safe; never completes without one.
async fn next_of<T>(futures: &mut Futures<'_, T>) -> T {
    match futures.next().await {
        Some(ended) => ended,
        None => std::future::pending().await,
    }
}

/// Waits for changes that one of the observers observed. Cancel safe; never completes without an observer.
async fn next_changes(observers: &mut [Observer]) -> Vec<(TargetId, TargetEvent)> {
    match observers {
        [] => std::future::pending().await,
        [only] => only.next().await,
        several => select_all(several.iter_mut().map(|observer| Box::pin(observer.next()))).await.0,
    }
}

/// A run of an engine: its events come from an observer, from requests, timers and signals.
pub(super) struct EventLoop<'a, 'l, E: Engine, X> {
    pub(super) engine: E,
    pub(super) executor: &'l mut X,
    pub(super) requests: RequestsInFlight<'a, E::Answer>,
    source: &'l Source,
    observers: Vec<Observer>,
    started: Instant,
    pub(super) ui: &'l mut Ui,
    stops: StopSignals,
    continuations: Continuations,
    /// The first signal, or the one that stands for it.
    pub(super) stopped: Option<StopSignal>,
    /// How many signals arrived.
    signals: usize,
    /// The last results, which are not printed yet.
    results: Vec<E::Report>,
    /// When the frame on the terminal was drawn.
    drawn: Option<Duration>,
    /// Whether a report arrived since the last frame.
    needs_redraw: bool,
}

impl<'a, 'l, E: Engine, X: Executor<'a, E>> EventLoop<'a, 'l, E, X> {
    pub(super) fn new(
        engine: E,
        executor: &'l mut X,
        observers: Vec<Observer>,
        source: &'l Source,
        signals: Signals,
        ui: &'l mut Ui,
    ) -> Self {
        let mut requests = RequestsInFlight::new();
        executor.begin(&mut requests, ui);
        Self {
            engine,
            executor,
            requests,
            source,
            observers,
            started: Instant::now(),
            ui,
            stops: StopSignals::new(signals.clone()),
            continuations: Continuations::new(signals),
            stopped: None,
            signals: 0,
            results: Vec::new(),
            drawn: None,
            needs_redraw: true,
        }
    }

    /// Returns the current time, by the monotonic clock and by the API server's clock.
    pub(super) fn now(&self) -> Now {
        Now { elapsed: self.started.elapsed(), server_time: self.source.now() }
    }

    /// Runs until the engine is finished, or until a signal. Prints the results that an earlier run left first.
    ///
    /// `biased` takes the first event that is ready, in this order, so that a run can be repeated. Watches are last: they can
    /// always be ready, and would starve timers. A wait that is dropped loses no event.
    pub(super) async fn run(&mut self) {
        if !self.engine.is_finished() {
            self.print_results();
        }
        let mut closed = pin!(self.ui.closed());
        while !self.engine.is_finished() || self.must_await_requests() && self.signals < 2 {
            let started = self.started;
            let [due, redraw] = [self.engine.due(), self.next_redraw()].map(|at| at.map(|at| started + at));
            let heartbeat =
                self.executor.heartbeat().filter(|_| !self.engine.is_finished()).map(|interval| {
                    let silence = self.ui.silence().unwrap_or(Duration::MAX).min(started.elapsed());
                    Instant::now() + interval.saturating_sub(silence)
                });
            let events = tokio::select! {
                biased;
                stop = self.stops.next() => vec![LoopEvent::Stop(self.stop(stop))],
                () = self.continuations.next() => {
                    self.leave_frame();
                    Vec::new()
                }
                () = &mut closed, if self.ui.can_write() => {
                    self.ui.note_closed();
                    Vec::new()
                }
                answer = next_of(&mut self.requests.requests) => answer.map(LoopEvent::Answer).into_iter().collect(),
                () = sleep_until(due.unwrap_or(started)), if due.is_some() => {
                    let since_answer = self.observers.iter().map(Observer::since_answer).collect();
                    vec![LoopEvent::Tick { since_answer }]
                }
                () = sleep_until(redraw.unwrap_or(started)), if redraw.is_some() => Vec::new(),
                () = sleep_until(heartbeat.unwrap_or(started)), if heartbeat.is_some() => {
                    let now = self.now();
                    self.executor.print_heartbeat(&self.engine, now, self.ui);
                    Vec::new()
                }
                read = next_of(&mut self.requests.reads) => self.events_of(read),
                changes = next_changes(&mut self.observers) => self.events_of(changes),
            };
            if self.is_late() {
                yield_now().await; // the runtime reads the signals
                if self.continuations.next().now_or_never().is_some() {
                    self.leave_frame();
                }
            }
            self.apply(events);
            if self.stopped.is_none() && !self.ui.can_write() && !self.must_await_requests() {
                let Some(stop) = self.executor.without_output() else { break };
                self.stopped = Some(stop);
                self.apply(vec![LoopEvent::Stop(stop)]);
            }
            self.redraw_if_due();
        }
    }

    /// Ends the loop once the logs that the engine requested were read, or a moment after a signal. Prints the last results, and
    /// returns the engine and the time.
    pub(super) async fn end(mut self) -> (E, Now) {
        // The logs usually explain a failure. After a signal they have a moment.
        let last = Instant::now() + LOGS_AFTER_SIGNAL;
        while self.signals < 2
            && (!self.requests.reads.is_empty() || self.observers.iter().any(Observer::is_reading_logs))
        {
            let mut changes = tokio::select! {
                biased;
                _ = self.stops.next() => break,
                () = sleep_until(last), if self.stopped.is_some() => break,
                read = next_of(&mut self.requests.reads) => read,
                changes = next_changes(&mut self.observers) => changes,
            };
            changes.retain(|(_, change)| matches!(change, TargetEvent::Log(_)));
            let events = self.events_of(changes);
            self.apply(events);
        }
        self.print_results();
        let now = self.now();
        (self.engine, now)
    }

    fn print_results(&mut self) {
        let now = self.now();
        for report in std::mem::take(&mut self.results) {
            self.executor.report(&self.engine, &report, now, self.ui);
        }
    }

    /// Records a signal.
    fn stop(&mut self, stop: StopSignal) -> StopSignal {
        self.stopped.get_or_insert(stop);
        self.signals += 1;
        if stop == StopSignal::Interrupted {
            self.ui.end_echo();
        }
        stop
    }

    /// Awaits writes while no event is applied, and returns their answers. The first signal lets none begin any more, and the
    /// second one ends the wait, so that answers are missing.
    pub(super) async fn await_writes<T>(&mut self, mut writes: Futures<'a, T>) -> Vec<T> {
        let mut answers = Vec::new();
        self.needs_redraw = true;
        while !writes.is_empty() && self.signals < 2 {
            self.redraw_if_due();
            let redraw = self.next_redraw().map(|at| self.started + at);
            tokio::select! {
                biased;
                stop = self.stops.next() => {
                    self.stop(stop);
                    self.requests.must_stop_writing.send_replace(true);
                }
                answer = writes.next() => answers.extend(answer),
                () = sleep_until(redraw.unwrap_or(self.started)), if redraw.is_some() => {}
            }
        }
        answers
    }

    fn must_await_requests(&self) -> bool {
        X::AWAITS_REQUESTS && !self.requests.requests.is_empty()
    }

    fn events_of(&mut self, changes: Vec<(TargetId, TargetEvent)>) -> Vec<LoopEvent<E::Answer>> {
        let pass_on = |(target, change)| {
            Some(LoopEvent::Target(target, self.executor.pass_on(change, &mut self.requests)?))
        };
        let mut events: Vec<_> = changes.into_iter().filter_map(pass_on).collect();
        let observer = self.observers.first_mut();
        let answer = observer.and_then(|observer| self.executor.observed(observer, self.ui));
        events.extend(answer.map(LoopEvent::Answer));
        events
    }

    /// Returns when the next redraw is due, as the time since the loop started: [`REDRAW_DELAY`] after the last frame if a
    /// report arrived, else the next full second, because frames show elapsed times.
    fn next_redraw(&self) -> Option<Duration> {
        let drawn = self.drawn?;
        Some(if self.needs_redraw { drawn + REDRAW_DELAY } else { Duration::from_secs(drawn.as_secs() + 1) })
    }

    /// Whether the next frame is so late that the process may have been stopped. It then finds its timers due before SIGCONT.
    fn is_late(&self) -> bool {
        self.next_redraw().is_some_and(|due| self.now().elapsed >= due + REDRAW_DELAY)
    }

    /// Begins a new frame below what the terminal shows now.
    fn leave_frame(&mut self) {
        self.ui.leave_frame();
        self.drawn = None;
    }

    fn redraw_if_due(&mut self) {
        let now = self.now();
        if self.executor.draws(&self.engine) && self.next_redraw().is_none_or(|due| now.elapsed >= due) {
            self.ui.draw(|size| self.executor.frame(&self.engine, now, size));
            (self.drawn, self.needs_redraw) = (Some(now.elapsed), false);
        }
    }

    /// Prints a report, or keeps it as one of the last results.
    pub(super) fn report(&mut self, report: E::Report) {
        if self.engine.is_finished() && X::is_result(&report) {
            self.results.push(report);
        } else {
            let now = self.now();
            self.executor.report(&self.engine, &report, now, self.ui);
        }
    }

    /// Applies events. Those that arrive meanwhile wait in their observer.
    pub(super) fn apply(&mut self, events: Vec<LoopEvent<E::Answer>>) {
        for event in events {
            let now = self.now();
            let Effects { reports, tasks } = self.engine.apply(event, now);
            self.needs_redraw |= !reports.is_empty();
            for report in reports {
                self.report(report);
            }
            self.requests.must_stop_writing.send_replace(X::must_stop_writing(&self.engine));
            for task in tasks {
                let (engine, requests) = (&self.engine, &mut self.requests);
                self.executor.execute(task, engine, &mut self.observers, requests, now, self.ui);
            }
        }
    }
}
