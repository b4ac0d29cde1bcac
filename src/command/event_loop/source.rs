//! The source of an event loop's events: container logs, timers and watches.

use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use crate::cluster::live::Cluster;
use crate::cluster::observe::Observer;
use crate::error::Error;
use crate::model::follow::{LogLines, LogRef, Now, TargetEvent, TargetId};
use crate::model::kind::Workload;

/// How many lines of a container's log are read.
const LOG_LINES: usize = 10;

/// How long the end of a command waits for logs that were requested. They usually explain a failure.
const LOG_DRAIN_TIMEOUT: Duration = Duration::from_secs(3);

/// Waits for the events of one command that come from the cluster or from time.
pub(in crate::command) struct EventSource<'a> {
    cluster: &'a Cluster,
    observer: Observer,
    logs: JoinSet<(TargetId, LogRef, Result<Vec<String>, Error>)>,
    started: Instant,
}

/// What one wait returned.
#[derive(Debug)]
pub(in crate::command) enum Received {
    /// Targets changed.
    Changes(Vec<(TargetId, TargetEvent)>),
    /// The wait is over.
    Due {
        /// How long ago the server last answered a read.
        answered: Duration,
    },
    /// The frame is to be redrawn.
    Redraw,
    /// Data that cannot be read, as a note.
    Note(&'static str),
}

impl<'a> EventSource<'a> {
    /// Starts to watch workloads from the state in which they were found.
    pub(in crate::command) fn new(cluster: &'a Cluster, found: &[Workload]) -> Self {
        Self { cluster, observer: cluster.observe(found), logs: JoinSet::new(), started: Instant::now() }
    }

    /// Waits for the next changes, until `due` or `redraw`, both counted from the start of the source. Cancel safe: a
    /// dropped wait loses no event.
    ///
    /// Of several that are ready the first one in this order is taken, so that a run can be repeated. Watches are last,
    /// because the others end: each requested log arrives once, and a timer that passed is not due again.
    pub(in crate::command) async fn next(
        &mut self,
        due: Option<Duration>,
        redraw: Option<Duration>,
    ) -> Received {
        let (due, redraw) = (due.map(|due| self.started + due), redraw.map(|redraw| self.started + redraw));
        tokio::select! {
            biased;
            Some(log) = self.logs.join_next() => received_log(log.ok()),
            () = sleep_until(due.unwrap_or(self.started)), if due.is_some() => {
                Received::Due { answered: self.observer.since_answer() }
            }
            () = sleep_until(redraw.unwrap_or(self.started)), if redraw.is_some() => Received::Redraw,
            changes = self.observer.next() => Received::Changes(changes),
        }
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
        self.observer.watch_warnings();
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

/// Returns the change that a log is, without lines if it cannot be read; a forbidden one is a note.
fn received_log(read: Option<(TargetId, LogRef, Result<Vec<String>, Error>)>) -> Received {
    let Some((target, LogRef { pod, container, .. }, lines)) = read else {
        return Received::Changes(Vec::new());
    };
    if lines.as_ref().is_err_and(Error::is_withheld) {
        return Received::Note("note: container logs are not shown: cannot read logs");
    }
    let log = LogLines { pod, container, lines: lines.unwrap_or_default() };
    Received::Changes(vec![(target, TargetEvent::Log(log))])
}
