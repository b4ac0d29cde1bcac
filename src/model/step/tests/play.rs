//! A command that steps, and the world it sees.

use std::collections::VecDeque;
use std::time::Duration;

use super::world::World;
use crate::error::{Error, ErrorKind};
use crate::model::follow::{Moment, News};
use crate::model::step::*;

/// A command, what it told, and what holds at every moment.
pub(super) struct Play {
    pub(super) stepper: Stepper,
    pub(super) world: World,
    pub(super) told: Vec<Event>,
    pub(super) acts: usize,
    /// What the check says, and when it is asked.
    pub(super) check: Checked,
    pub(super) checks: usize,
    /// How many pods may be down at a time; none not to look.
    pub(super) bound: Option<usize>,
    /// How long the next looks at everything take, in seconds.
    pub(super) looks_take: VecDeque<u64>,
    /// What the next removals are answered with, without anything happening.
    pub(super) removals: VecDeque<Removed>,
    /// Whether the server is out of reach.
    pub(super) is_away: bool,
    /// Whether writes are made, and their answers lost.
    pub(super) loses_answers: bool,
    /// After how many acts the process dies; with the answer to the last one lost.
    pub(super) dies_at: Option<usize>,
    pub(super) is_dead: bool,
    pub(super) began: u64,
}

pub(super) fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A request to go to the end, so many pods at a time.
pub(super) fn all_by(pods: u32) -> Request {
    let given = Given { batches: Some(Batches::By(Amount::Pods(pods))), ..Given::default() };
    Request { given, reach: Some(Reach::All), ..Request::default() }
}

pub(super) fn identity(holder: &str) -> Identity {
    Identity { holder: holder.to_owned(), by: Some(format!("ada@{holder}")) }
}

impl Play {
    pub(super) fn of(request: Request, world: World) -> Self {
        Self::by("one", request, world)
    }

    pub(super) fn by(holder: &str, request: Request, world: World) -> Self {
        let stepper = Stepper::new(request, identity(holder), world.workload());
        let began = world.seconds;
        let mut play = Self {
            stepper,
            world,
            told: Vec::new(),
            acts: 0,
            check: Checked::Passed,
            checks: 0,
            bound: Some(1),
            looks_take: VecDeque::new(),
            removals: VecDeque::new(),
            is_away: false,
            loses_answers: false,
            dies_at: None,
            is_dead: false,
            began,
        };
        play.see(Seen::Nothing);
        play
    }

    /// Another command after this one, on the world as it is.
    pub(super) fn then(self, holder: &str, request: Request) -> Self {
        let Self { world, bound, check, .. } = self;
        let mut next = Self::by(holder, request, world);
        (next.bound, next.check) = (bound, check);
        next
    }

    fn now(&self) -> Moment {
        Moment { elapsed: seconds(self.world.seconds - self.began), wall: self.world.wall() }
    }

    /// Hands something in, and does what is asked for.
    pub(super) fn see(&mut self, seen: Seen) {
        let mut queue = VecDeque::from([seen]);
        while let Some(seen) = queue.pop_front().filter(|_| !self.is_dead) {
            let now = self.now();
            for output in self.stepper.apply(seen, now) {
                match output {
                    Output::Event(event) => self.told.push(event),
                    Output::Act(act) => {
                        self.acts += 1;
                        let answers = self.answer(act);
                        if self.dies_at.is_some_and(|dies_at| self.acts >= dies_at) {
                            self.is_dead = true;
                            return;
                        }
                        queue.extend(answers);
                    }
                }
            }
        }
    }

    fn answer(&mut self, act: Act) -> Vec<Seen> {
        match act {
            Act::Look => {
                let look = vec![Seen::Nodes(Some(self.world.nodes())), Seen::News(self.world.look())];
                (0..self.looks_take.pop_front().unwrap_or_default()).for_each(|_| self.world.tick());
                look
            }
            Act::Write(_) if self.is_away => {
                let error = Error::new(ErrorKind::Unreachable, "out of reach");
                vec![Seen::Wrote(Wrote::Not(error))]
            }
            Act::Write(patch) if self.loses_answers => {
                self.world.write(&patch);
                let error = Error::new(ErrorKind::Unreachable, "no answer");
                vec![Seen::Wrote(Wrote::Unknown(error))]
            }
            Act::Write(patch) => vec![Seen::Wrote(self.world.write(&patch))],
            Act::Remove { .. } if !self.removals.is_empty() => {
                self.removals.pop_front().map(Seen::Removed).into_iter().collect()
            }
            Act::Remove { pod, .. } => {
                self.world.delete(&pod.name, &pod.uid);
                vec![Seen::Removed(Removed::Done)]
            }
            Act::Check(_) => {
                self.checks += 1;
                vec![Seen::Checked(self.check)]
            }
            Act::Log(_) => Vec::new(),
        }
    }

    /// Shows what a watch shows.
    fn show(&mut self) {
        let News::Look(observed) = self.world.look() else { return };
        self.see(Seen::News(News::Workload(Box::new(observed.workload))));
        self.see(Seen::News(News::Pods(observed.pods)));
    }

    /// Lets seconds go by, until it is over.
    pub(super) fn pass(&mut self, seconds_: u64) {
        for _ in 0..seconds_ {
            if self.is_over() {
                return;
            }
            self.world.tick();
            if let Some(bound) = self.bound {
                assert!(self.world.unavailable() <= bound, "{} are down", self.world.unavailable());
            }
            self.show();
            if self.stepper.due().is_some_and(|due| due <= self.now().elapsed) {
                self.see(Seen::Nothing);
            }
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_dead || self.stepper.end().is_some()
    }

    /// Lets time go by until it ends.
    pub(super) fn run(&mut self) -> End {
        self.pass(5_000);
        self.stepper.end().cloned().unwrap_or_else(|| panic!("no end after {:?}", self.told))
    }

    /// The batches that began, by their places.
    pub(super) fn begun(&self) -> Vec<String> {
        let batches = self.told.iter().filter_map(|event| match event {
            Event::Batch(batch) if batch.stage == Stage::Updating => {
                let names: Vec<&str> = batch.places.iter().map(|place| place.name.as_str()).collect();
                let canary = if batch.is_canary { "canary " } else { "" };
                Some(format!("{} {canary}{}", batch.number, names.join(" ")))
            }
            _ => None,
        });
        batches.collect()
    }

    pub(super) fn elapsed(&self) -> u64 {
        self.world.seconds - self.began
    }
}
