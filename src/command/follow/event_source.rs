//! The events of an event loop: watches, container logs, signals and timers.

use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use crate::cluster::live::Cluster;
use crate::cluster::observe::{Observer, WatchScope};
use crate::command::stop_signals::StopSignals;
use crate::error::Error;
use crate::model::follow::{FollowerEvent, LogLines, LogRef, Now, TargetEvent, TargetId};
use crate::model::workload::Workload;
use crate::world::Signals;

/// How many lines of a container's log are read.
const LOG_LINES: usize = 10;

/// How long the end of a command waits for logs that were requested. They usually explain a failure.
const LOG_DRAIN_TIMEOUT: Duration = Duration::from_secs(3);

/// Waits for all events of one command.
pub(in crate::command) struct EventSource<'a> {
    cluster: &'a Cluster,
    observer: Observer,
    logs: JoinSet<(TargetId, LogRef, Result<Vec<String>, Error>)>,
    stops: StopSignals,
    started: Instant,
    /// Whether warning events are watched already, or never will be.
    watches_warnings: bool,
}

/// What one wait returned: events, and a note about data that could not be read.
#[derive(Debug, Default)]
pub(in crate::command) struct Received {
    pub(in crate::command) events: Vec<FollowerEvent>,
    pub(in crate::command) note: Option<&'static str>,
}

impl<'a> EventSource<'a> {
    /// Starts to watch workloads from the state in which they were found.
    pub(in crate::command) fn new(
        cluster: &'a Cluster,
        found: &[Workload],
        scope: WatchScope,
        signals: Signals,
    ) -> Self {
        Self {
            cluster,
            observer: cluster.observe(found, scope),
            logs: JoinSet::new(),
            stops: StopSignals::new(signals),
            started: Instant::now(),
            watches_warnings: scope == WatchScope::WorkloadOnly,
        }
    }

    /// Waits for the next events. Returns a tick at `due` and nothing at `redraw`, both counted from the
    /// start of the source. Cancel safe: a dropped wait loses no event.
    pub(in crate::command) async fn next(
        &mut self,
        due: Option<Duration>,
        redraw: Option<Duration>,
    ) -> Received {
        let (due, redraw) = (due.map(|due| self.started + due), redraw.map(|redraw| self.started + redraw));
        let events = tokio::select! {
            stop = self.stops.next() => vec![FollowerEvent::Stopped(stop)],
            events = self.observer.next() => events,
            Some(log) = self.logs.join_next() => return received_log(log.ok()),
            () = sleep_until(due.unwrap_or(self.started)), if due.is_some() => vec![FollowerEvent::Tick],
            () = sleep_until(redraw.unwrap_or(self.started)), if redraw.is_some() => Vec::new(),
        };
        Received { events, note: None }
    }

    /// Waits for the logs that were requested and not received yet, for at most [`LOG_DRAIN_TIMEOUT`].
    pub(in crate::command) async fn drain_logs(&mut self) -> Vec<Received> {
        let mut received = Vec::new();
        let all = async {
            while let Some(log) = self.logs.join_next().await {
                received.push(received_log(log.ok()));
            }
        };
        let _ = timeout(LOG_DRAIN_TIMEOUT, all).await; // later logs are dropped
        received
    }

    /// Returns the current time, by the monotonic clock and by the API server's clock.
    pub(in crate::command) fn now(&self) -> Now {
        Now { elapsed: self.started.elapsed(), server_time: self.cluster.now() }
    }

    /// Reads everything about a target again.
    pub(in crate::command) fn refresh(&mut self, target: TargetId) {
        self.observer.refresh(target);
    }

    /// Starts to watch warning events. They are not watched from the start, because most rollouts
    /// complete without one.
    pub(in crate::command) fn watch_warnings(&mut self) {
        if !self.watches_warnings {
            self.watches_warnings = true;
            self.observer.watch_warnings();
        }
    }

    /// Reads the last [`LOG_LINES`] lines of a container in the background.
    pub(in crate::command) fn fetch_log(&mut self, target: TargetId, workload: &Workload, place: LogRef) {
        let namespace = workload.object().namespace().to_owned();
        let cluster = self.cluster.clone();
        self.logs.spawn(async move {
            let lines = cluster.log_tail(&namespace, &place, LOG_LINES).await;
            (target, place, lines)
        });
    }
}

/// Returns the event for a log, without lines if it cannot be read; a forbidden one gives a note.
fn received_log(read: Option<(TargetId, LogRef, Result<Vec<String>, Error>)>) -> Received {
    let Some((target, LogRef { pod, container, .. }, lines)) = read else { return Received::default() };
    let is_withheld = lines.as_ref().is_err_and(Error::is_withheld);
    let log = LogLines { pod, container, lines: lines.unwrap_or_default() };
    Received {
        events: if is_withheld {
            Vec::new()
        } else {
            vec![FollowerEvent::Target(target, TargetEvent::Log(log))]
        },
        note: is_withheld.then_some("note: container logs are not shown: cannot read logs"),
    }
}
