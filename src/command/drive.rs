//! The only loop over time: hands a follower what is seen, does what it asks for, tells what it says.

use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use super::stops::Stops;
use super::undo_failure::{delete_stuck, undo_failure};
use crate::cluster::live::Cluster;
use crate::cluster::observe::{Breadth, Observer};
use crate::error::{Error, ErrorKind};
use crate::exit::Exit;
use crate::model::follow::{
    Ask, End, Event, Failure, Follower, LogLines, LogPlace, Moment, News, Options, Outcome, PodPlace, Seen,
    TargetId, Telling, Undone,
};
use crate::model::verdict::State;
use crate::model::workload::Workload;
use crate::render::screen::Screen;
use crate::world::Signals;

/// Enough of a crash to see what it was.
const LAST_LINES: usize = 10;

/// How long we wait at the end for the last words of a container, which are worth most then.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// Hears what happens while workloads are followed.
pub trait Tell<'w> {
    /// Where it tells.
    fn screen(&mut self) -> &mut Screen<'w>;

    /// Something happened, so long after following began.
    fn event(&mut self, follower: &Follower, event: &Event, elapsed: Duration);

    /// Something is done without.
    fn note_once(&mut self, line: &str);

    /// Whether anybody still hears it.
    fn is_heard(&self) -> bool;

    /// All that happened by now was told. What is told again and again is told here.
    fn lull(&mut self, _follower: &Follower, _now: Moment) {}

    /// When there is to be a lull although nothing happens, so long after following began.
    fn due(&self) -> Option<Duration> {
        None
    }
}

/// Follows workloads until each has its final verdict.
pub async fn follow(
    cluster: &Cluster,
    options: Options,
    found: Vec<Workload>,
    signals: Signals,
    tell: &mut impl Tell<'_>,
) -> Follower {
    let breadth = match options.telling {
        Telling::Ours => Breadth::All,
        Telling::Kubectl => Breadth::WorkloadOnly,
    };
    let observer = cluster.observe(&found, breadth);
    let follower = Follower::new(options, found);
    let started = Instant::now();
    let warned = breadth == Breadth::WorkloadOnly;
    let mut drive = Drive {
        cluster,
        observer,
        follower,
        started,
        logs: JoinSet::new(),
        warned,
        to_undo: Vec::new(),
        to_delete: Vec::new(),
        tell,
    };
    drive.run(&mut Stops::new(signals)).await;
    drive.follower
}

struct Drive<'a, T> {
    cluster: &'a Cluster,
    observer: Observer,
    follower: Follower,
    started: Instant,
    logs: JoinSet<(TargetId, Result<LogLines, Error>)>,
    /// Whether warnings are watched, or need not be.
    warned: bool,
    /// What failed, and is to go back.
    to_undo: Vec<TargetId>,
    /// What the way back waits for in vain.
    to_delete: Vec<(TargetId, PodPlace)>,
    tell: &'a mut T,
}

impl<'w, T: Tell<'w>> Drive<'_, T> {
    async fn run(&mut self, stops: &mut Stops) {
        while !self.follower.is_over() && self.tell.is_heard() {
            let due = self.follower.due().map(|due| self.started + due);
            let lull = self.tell.due().map(|due| self.started + due);
            let news = tokio::select! {
                stop = stops.next() => vec![Seen::Stopped(stop)],
                news = self.observer.next() => news,
                Some(log) = self.logs.join_next() => self.read_log(log.ok()),
                () = sleep_until(due.unwrap_or(self.started)), if due.is_some() => vec![Seen::Nothing],
                () = sleep_until(lull.unwrap_or(self.started)), if lull.is_some() => Vec::new(),
            };
            for seen in news {
                self.take(seen);
            }
            self.act().await;
            self.watch_warnings_if_needed();
            let now = self.now();
            self.tell.lull(&self.follower, now);
        }
        let last_words = async {
            while let Some(log) = self.logs.join_next().await {
                for seen in self.read_log(log.ok()) {
                    self.take(seen);
                }
            }
        };
        let _ = timeout(LAST_WORDS, last_words).await; // what is not there by then is done without
    }

    fn take(&mut self, seen: Seen) {
        let now = self.now();
        for event in self.follower.apply(seen, now) {
            match &event {
                Event::Ask(Ask::Look(target)) => self.observer.look(*target),
                Event::Ask(Ask::Log(target, place)) => self.fetch_log(*target, place.clone()),
                Event::Ask(Ask::Undo(target)) => self.to_undo.push(*target),
                Event::Ask(Ask::Delete(target, pod)) => self.to_delete.push((*target, pod.clone())),
                event => self.tell.event(&self.follower, event, now.elapsed),
            }
        }
    }

    /// A write takes a moment, in which nothing else is looked at: what is seen then is taken in after it.
    async fn act(&mut self) {
        for target in std::mem::take(&mut self.to_undo) {
            let Some(track) = self.follower.tracks().get(target.0) else { continue };
            let written = undo_failure(track, self.cluster, self.tell.screen()).await;
            self.take(Seen::News(target, News::Undone(written.map(Box::new))));
        }
        for (target, pod) in std::mem::take(&mut self.to_delete) {
            let Some(track) = self.follower.tracks().get(target.0) else { continue };
            delete_stuck(track.workload(), &pod, self.cluster, self.tell.screen()).await;
        }
    }

    fn now(&self) -> Moment {
        Moment { elapsed: self.started.elapsed(), wall: self.cluster.now() }
    }

    /// Most rollouts are done before anybody has to ask why they are not.
    fn watch_warnings_if_needed(&mut self) {
        let unfinished = |state: State| !matches!(state, State::Complete | State::Unobserved);
        let tracks = self.follower.tracks().iter();
        let needed = tracks
            .filter(|track| track.end().is_none())
            .any(|track| track.verdict().is_some_and(|verdict| unfinished(verdict.state)));
        if needed && !self.warned {
            self.warned = true;
            self.observer.watch_warnings();
        }
    }

    fn fetch_log(&mut self, target: TargetId, place: LogPlace) {
        let Some(track) = self.follower.tracks().get(target.0) else {
            return;
        };
        let namespace = track.workload().object().namespace().to_owned();
        let cluster = self.cluster.clone();
        self.logs.spawn(async move {
            let lines = cluster.last_lines(&namespace, &place, LAST_LINES).await;
            let LogPlace { pod, container, .. } = place;
            (target, lines.map(|lines| LogLines { pod, container, lines }))
        });
    }

    /// A log that cannot be read is done without; that none may be read is said once.
    fn read_log(&mut self, read: Option<(TargetId, Result<LogLines, Error>)>) -> Vec<Seen> {
        match read {
            Some((target, Ok(log))) if !log.lines.is_empty() => vec![Seen::News(target, News::Log(log))],
            Some((_, Err(error))) if error.kind() == ErrorKind::Withheld => {
                self.tell
                    .note_once("note: logs may not be read, so the last words of containers are not told");
                Vec::new()
            }
            _ => Vec::new(),
        }
    }
}

/// The exit code of a command that followed one workload to this end.
#[must_use]
pub fn exit(outcome: &Outcome) -> Exit {
    match outcome {
        Outcome::Reached => Exit::Done,
        Outcome::Held => Exit::Held,
        Outcome::Failed(Failure::Kubectl(_)) | Outcome::Deleted | Outcome::Recreated => Exit::Error,
        Outcome::Failed(_) => Exit::Failed,
        Outcome::Unreadable(error) => error.exit(),
        Outcome::TimedOut(_) => Exit::Unfinished,
        Outcome::Interrupted => Exit::Interrupted,
        Outcome::Terminated => Exit::Terminated,
    }
}

/// The exit code of a command that followed several: the worst. One that has no end was left when
/// nobody listened any more.
#[must_use]
pub fn worst_exit(follower: &Follower) -> Exit {
    let ends = follower.tracks().iter().map(|track| track.end());
    ends.map(|end| end.map_or(Exit::Unfinished, exit_of)).fold(Exit::Done, Exit::worst)
}

/// What failed has failed, however well it went back; but who interrupts that is told so.
fn exit_of(end: &End) -> Exit {
    let back = match &end.undone {
        Some(Undone::To { outcome: outcome @ (Outcome::Interrupted | Outcome::Terminated), .. }) => {
            exit(outcome)
        }
        _ => Exit::Done,
    };
    exit(&end.outcome).worst(back)
}
