//! The loop of a step: hands a stepper what is seen, does what it asks for, tells what it says.

use super::act::Hands;
use super::errands::Errands;
use crate::cluster::observe::Breadth;
use crate::command::drive::Tell;
use crate::command::hear::{Ears, Heard};
use crate::model::follow::{Moment, News, Seen as Followed, Stop, TargetId};
use crate::model::step::{Act, End, Event, Output, Seen, Stepper};
use crate::world::Signals;

/// There is one target.
const TARGET: TargetId = TargetId(0);

/// A stepper that was driven to its end.
pub(super) struct Driven {
    pub(super) stepper: Stepper,
    pub(super) end: End,
    pub(super) now: Moment,
}

/// Steps a workload until that has its end.
pub(super) async fn step<'w>(
    stepper: Stepper,
    hands: Hands,
    signals: Signals,
    tell: &mut impl Tell<'w, Stepper, Event>,
) -> Driven {
    let cluster = hands.cluster().clone();
    let ears = Ears::new(&cluster, &[stepper.workload().clone()], Breadth::All, signals);
    let mut drive = Drive { ears, hands, stepper, doing: Errands::default(), stopped: None, tell };
    let end = drive.run().await;
    let now = drive.ears.now();
    Driven { stepper: drive.stepper, end, now }
}

struct Drive<'a, T> {
    ears: Ears<'a>,
    hands: Hands,
    stepper: Stepper,
    doing: Errands,
    /// Who wanted us to stop, for whom the end of it is waited for.
    stopped: Option<Stop>,
    tell: &'a mut T,
}

impl<'w, T: Tell<'w, Stepper, Event>> Drive<'_, T> {
    async fn run(&mut self) -> End {
        self.take(Seen::Nothing);
        loop {
            if let Some(end) = self.stepper.end() {
                let end = end.clone();
                self.hear_last_words().await;
                return end;
            }
            let seen = tokio::select! {
                heard = self.ears.next(self.stepper.due(), self.tell.due()) => self.understand(heard),
                done = self.doing.next() => done,
            };
            for seen in seen {
                if let Some(end) = self.insist(&seen) {
                    return end;
                }
                self.take(seen);
            }
            if !self.tell.is_heard() && self.stopped.is_none() {
                // Nobody would see what is released, so nothing more is.
                self.stopped = Some(Stop::Terminated);
                self.take(Seen::Stopped(Stop::Terminated));
            }
            let now = self.ears.now();
            self.tell.lull(&self.stepper, now);
        }
    }

    /// Who asks to stop a second time does not wait for the lease to be given back.
    fn insist(&mut self, seen: &Seen) -> Option<End> {
        let Seen::Stopped(stop) = seen else { return None };
        self.stopped.replace(*stop).map(|_| match stop {
            Stop::Interrupted => End::Interrupted,
            Stop::Terminated => End::Terminated,
        })
    }

    fn take(&mut self, seen: Seen) {
        let now = self.ears.now();
        for output in self.stepper.apply(seen, now) {
            match output {
                Output::Event(event) => self.tell.event(&self.stepper, &event, now),
                Output::Act(act) => self.act(act, now),
            }
        }
    }

    fn act(&mut self, act: Act, now: Moment) {
        match act {
            Act::Look => self.ears.look(TARGET),
            Act::Log(place) => self.ears.fetch_log(TARGET, self.stepper.workload(), place),
            Act::Write(patch) => {
                self.ears.watch_warnings();
                self.hands.warn_once(self.stepper.workload(), self.tell.screen());
                self.doing.begin(self.hands.write(self.stepper.workload(), *patch));
            }
            Act::Remove { pod, evict } => {
                self.doing.begin(self.hands.remove(self.stepper.workload(), pod, evict));
            }
            Act::Check(batch) => {
                let view = self.stepper.view(now);
                self.doing.begin(self.hands.check(self.stepper.workload(), view.as_ref(), &batch));
            }
        }
    }

    /// What was heard, as a stepper sees it. What depends on nodes is seen together with them.
    fn understand(&mut self, heard: Heard) -> Vec<Seen> {
        if let Some(note) = heard.note {
            self.tell.note_once(note);
        }
        let mut seen = Vec::new();
        for followed in heard.seen {
            match followed {
                Followed::News(_, News::Look(observed)) => {
                    self.doing.begin(self.hands.nodes_and_look(observed));
                }
                Followed::News(_, news) => seen.push(Seen::News(news)),
                Followed::Stopped(stop) => seen.push(Seen::Stopped(stop)),
                Followed::Nothing => seen.push(Seen::Nothing),
            }
        }
        seen
    }

    async fn hear_last_words(&mut self) {
        for heard in self.ears.last_words().await {
            for seen in self.understand(heard) {
                self.take(seen);
            }
        }
    }
}
