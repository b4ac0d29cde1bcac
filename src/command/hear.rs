//! What a loop over time waits for: news of the cluster, logs that it asked for, signals, and time itself.

use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use super::stops::Stops;
use crate::cluster::live::Cluster;
use crate::cluster::observe::{Breadth, Observer};
use crate::error::{Error, ErrorKind};
use crate::model::follow::{LogLines, LogPlace, Moment, News, Seen, TargetId};
use crate::model::workload::Workload;
use crate::world::Signals;

/// Enough of a crash to see what it was.
const LAST_LINES: usize = 10;

/// How long we wait at the end for the last words of a container, which are worth most then.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// Everything that is waited for, in one place.
pub(super) struct Ears<'a> {
    cluster: &'a Cluster,
    observer: Observer,
    logs: JoinSet<(TargetId, Result<LogLines, Error>)>,
    stops: Stops,
    started: Instant,
    /// Whether warnings are watched, or need not be.
    warned: bool,
}

/// What was heard: what was seen, and what is done without.
#[derive(Debug, Default)]
pub(super) struct Heard {
    pub(super) seen: Vec<Seen>,
    pub(super) note: Option<&'static str>,
}

impl<'a> Ears<'a> {
    /// Begins to listen to workloads as they were found.
    pub(super) fn new(cluster: &'a Cluster, found: &[Workload], breadth: Breadth, signals: Signals) -> Self {
        Self {
            cluster,
            observer: cluster.observe(found, breadth),
            logs: JoinSet::new(),
            stops: Stops::new(signals),
            started: Instant::now(),
            warned: breadth == Breadth::WorkloadOnly,
        }
    }

    /// Waits for the next thing. When `due`, nothing was seen but time; when there is to be a `lull`, not
    /// even that. Nothing is lost when it is not waited for to the end.
    pub(super) async fn next(&mut self, due: Option<Duration>, lull: Option<Duration>) -> Heard {
        let (due, lull) = (due.map(|due| self.started + due), lull.map(|lull| self.started + lull));
        let seen = tokio::select! {
            stop = self.stops.next() => vec![Seen::Stopped(stop)],
            news = self.observer.next() => news,
            Some(log) = self.logs.join_next() => return read_log(log.ok()),
            () = sleep_until(due.unwrap_or(self.started)), if due.is_some() => vec![Seen::Nothing],
            () = sleep_until(lull.unwrap_or(self.started)), if lull.is_some() => Vec::new(),
        };
        Heard { seen, note: None }
    }

    /// What containers said that nobody waited for any more.
    pub(super) async fn last_words(&mut self) -> Vec<Heard> {
        let mut heard = Vec::new();
        let all = async {
            while let Some(log) = self.logs.join_next().await {
                heard.push(read_log(log.ok()));
            }
        };
        let _ = timeout(LAST_WORDS, all).await; // what is not there by then is done without
        heard
    }

    /// This moment, by both clocks.
    pub(super) fn now(&self) -> Moment {
        Moment { elapsed: self.started.elapsed(), wall: self.cluster.now() }
    }

    /// Reads everything about a target again.
    pub(super) fn look(&mut self, target: TargetId) {
        self.observer.look(target);
    }

    /// Most rollouts are done before anybody has to ask why they are not.
    pub(super) fn watch_warnings(&mut self) {
        if !self.warned {
            self.warned = true;
            self.observer.watch_warnings();
        }
    }

    /// Reads the last lines of a container of a target.
    pub(super) fn fetch_log(&mut self, target: TargetId, workload: &Workload, place: LogPlace) {
        let namespace = workload.object().namespace().to_owned();
        let cluster = self.cluster.clone();
        self.logs.spawn(async move {
            let lines = cluster.last_lines(&namespace, &place, LAST_LINES).await;
            let LogPlace { pod, container, .. } = place;
            (target, lines.map(|lines| LogLines { pod, container, lines }))
        });
    }
}

/// A log that cannot be read is done without; that none may be read is said.
fn read_log(read: Option<(TargetId, Result<LogLines, Error>)>) -> Heard {
    match read {
        Some((target, Ok(log))) if !log.lines.is_empty() => {
            Heard { seen: vec![Seen::News(target, News::Log(log))], note: None }
        }
        Some((_, Err(error))) if error.kind() == ErrorKind::Withheld => Heard {
            seen: Vec::new(),
            note: Some("note: logs may not be read, so the last words of containers are not told"),
        },
        _ => Heard::default(),
    }
}
