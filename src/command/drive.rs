//! The loop over time of a follower: hands it what is seen, does what it asks for, tells what it says.
//! Stepping has one of its own; both hear through `hear`.

use std::time::Duration;

use super::hear::{Ears, Heard};
use super::undo_failure::{delete_stuck, undo_failure};
use crate::cluster::live::Cluster;
use crate::cluster::observe::Breadth;
use crate::exit::Exit;
use crate::model::follow::{
    Ask, End, Event, Failure, Follower, Moment, News, Options, Outcome, PodPlace, Seen, TargetId, Telling,
    Undone,
};
use crate::model::verdict::State;
use crate::model::workload::Workload;
use crate::render::screen::Screen;
use crate::world::Signals;

/// Hears what happens while something is driven: a `Follower` or a `Stepper`, with their events.
pub trait Tell<'w, Driven, Event> {
    /// Where it tells.
    fn screen(&mut self) -> &mut Screen<'w>;

    /// Something happened at a moment.
    fn event(&mut self, driven: &Driven, event: &Event, now: Moment);

    /// Something is done without.
    fn note_once(&mut self, line: &str);

    /// Whether anybody still hears it.
    fn is_heard(&self) -> bool;

    /// All that happened by now was told. What is told again and again is told here.
    fn lull(&mut self, _driven: &Driven, _now: Moment) {}

    /// When there is to be a lull although nothing happens, so long after it began.
    fn due(&self) -> Option<Duration> {
        None
    }
}

/// Follows workloads until each has its final verdict.
pub async fn follow<'w>(
    cluster: &Cluster,
    options: Options,
    found: Vec<Workload>,
    signals: Signals,
    tell: &mut impl Tell<'w, Follower, Event>,
) -> Follower {
    let breadth = match options.telling {
        Telling::Ours => Breadth::All,
        Telling::Kubectl => Breadth::WorkloadOnly,
    };
    let ears = Ears::new(cluster, &found, breadth, signals);
    let follower = Follower::new(options, found);
    let mut drive = Drive { cluster, ears, follower, to_undo: Vec::new(), to_delete: Vec::new(), tell };
    drive.run().await;
    drive.follower
}

struct Drive<'a, T> {
    cluster: &'a Cluster,
    ears: Ears<'a>,
    follower: Follower,
    /// What failed, and is to go back.
    to_undo: Vec<TargetId>,
    /// What the way back waits for in vain.
    to_delete: Vec<(TargetId, PodPlace)>,
    tell: &'a mut T,
}

impl<'w, T: Tell<'w, Follower, Event>> Drive<'_, T> {
    async fn run(&mut self) {
        while !self.follower.is_over() && self.tell.is_heard() {
            let heard = self.ears.next(self.follower.due(), self.tell.due()).await;
            self.hear(heard);
            self.act().await;
            self.watch_warnings_if_needed();
            let now = self.ears.now();
            self.tell.lull(&self.follower, now);
        }
        for heard in self.ears.last_words().await {
            self.hear(heard);
        }
    }

    fn hear(&mut self, heard: Heard) {
        if let Some(note) = heard.note {
            self.tell.note_once(note);
        }
        for seen in heard.seen {
            self.take(seen);
        }
    }

    fn take(&mut self, seen: Seen) {
        let now = self.ears.now();
        for event in self.follower.apply(seen, now) {
            match &event {
                Event::Ask(Ask::Look(target)) => self.ears.look(*target),
                Event::Ask(Ask::Log(target, place)) => {
                    if let Some(track) = self.follower.tracks().get(target.0) {
                        self.ears.fetch_log(*target, track.workload(), place.clone());
                    }
                }
                Event::Ask(Ask::Undo(target)) => self.to_undo.push(*target),
                Event::Ask(Ask::Delete(target, pod)) => self.to_delete.push((*target, pod.clone())),
                event => self.tell.event(&self.follower, event, now),
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

    fn watch_warnings_if_needed(&mut self) {
        let unfinished = |state: State| !matches!(state, State::Complete | State::Unobserved);
        let mut tracks = self.follower.tracks().iter().filter(|track| track.end().is_none());
        if tracks.any(|track| track.verdict().is_some_and(|verdict| unfinished(verdict.state))) {
            self.ears.watch_warnings();
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
