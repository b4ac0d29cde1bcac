//! What must never happen while a workload is stepped, and what must happen in the end, for each of the six kinds. The
//! oracles read the changes that the cluster stored one by one, and report what is wrong. They know the rules and nothing
//! of the engine.
//!
//! Never, whoever interferes and whenever a process is killed:
//!
//! - A write without a test of the uid, the template, the replaced fields and the annotation; a deletion without a uid
//!   (`requests`).
//! - Two processes that step at once; a lock taken from a process that may still run, renewed, or left (`lock`).
//! - More pods down because of the plan than `--max-unavailable`, or a write that makes more unavailable
//!   (`max_unavailable`, `batches`, `nodes`, `counted`).
//! - A batch larger than asked, or before the pods of the last one have soaked and its check passed; a pod updated that no
//!   batch released; a node that is not ready, not selected, or of a later zone (`batches` for ordinals, `nodes` for
//!   nodes, `counted` for numbers of pods; `checks`). Reserved ordinals have no pods. Where a node is not ready, its pods are
//!   unavailable. Where the user's priorities choose the next pod, it may be an available one.
//! - A deletion that rests on a list of pods of more than two minutes ago, also if the process was suspended (`nodes`).
//! - A released pod that is held again; pods released while the workload is paused, or for another template than the
//!   plan's (`strategy`).
//! - Fields that come back other than they were, or than another client has written them since (`strategy`).
//! - An exit code that is not true when the process releases its lock or ends (`outcomes`).
//!
//! In the end, if no other client and no fault interferes (`outcomes::of_run`): a revision that works is on every pod
//! that the user's own partition releases, and no plan is left. One that does not work is held by its plan, or rolled back on every
//! pod. No lock is left. And every run ends. The same holds if nodes are not ready for a shorter time than a batch may take.

mod batches;
mod checks;
mod counted;
mod lock;
mod max_unavailable;
mod nodes;
pub(crate) mod outcomes;
mod requests;
mod strategy;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::step_proof::command::{Batches, Pace, Words};
use crate::step_proof::timeline::{By, Change, Process, Timeline};
use crate::step_proof::world::{Millis, World};

/// One change, what was there before and after it, and the options of its process.
pub(crate) struct Scene<'a> {
    pub(crate) change: &'a Change,
    pub(crate) before: &'a World,
    pub(crate) after: &'a World,
    /// What the process that made it can have seen when it decided to.
    pub(crate) views: &'a [&'a World],
    /// What it had read of the workload itself for the last time, and at which revision.
    pub(crate) read: Option<(u64, &'a World)>,
    /// What it had seen when it listed the pods for the last time, and at which revision.
    pub(crate) look: Option<(u64, &'a World)>,
    pub(crate) pace: &'a Pace,
    /// The options of the process that made it.
    pub(crate) words: Option<&'a Words>,
}

impl Scene<'_> {
    pub(crate) fn now(&self) -> Millis {
        self.change.at
    }

    /// The states that the process can have observed, newest first.
    pub(crate) fn views(&self) -> impl Iterator<Item = &World> {
        [self.before].into_iter().chain(self.views.iter().copied())
    }

    /// The process of ours that made the change.
    pub(crate) fn process(&self) -> Option<usize> {
        if let By::Process(process) = self.change.by { Some(process) } else { None }
    }

    /// The process of ours that wrote the set.
    pub(crate) fn writer(&self) -> Option<usize> {
        match (self.change.by, &self.change.what) {
            (By::Process(process), crate::step_proof::timeline::What::Set(_)) => Some(process),
            _ => None,
        }
    }

    /// Whether a process let more pods go, as a step of its plan.
    pub(crate) fn releases(&self) -> bool {
        self.writer().is_some()
            && self.after.has_plan()
            && !self.rolls_back()
            && self.after.released_count() > self.before.released_count()
    }

    /// Whether a process begins with what is held by something else, or by nothing any more.
    pub(crate) fn begins_anew(&self) -> bool {
        self.writer().is_some() && !self.before.is_stepped() && self.after.is_stepped()
    }

    /// Whether a process ended the plan.
    pub(crate) fn ends_plan(&self) -> bool {
        self.writer().is_some() && self.before.has_plan() && self.after.hold().is_none()
    }

    /// Whether a process put another template in the place of the one it released. The plan ends with that,
    /// unless pods below the set's own partition must be rolled back: then the plan stays until they are.
    pub(crate) fn rolls_back(&self) -> bool {
        self.writer().is_some() && self.before.has_plan() && self.before.image() != self.after.image()
    }
}

/// One thing that must always hold.
pub(crate) trait Oracle {
    /// A change; an error says what is wrong with it.
    fn see(&mut self, scene: &Scene<'_>) -> Result<(), String>;

    /// A process ended.
    fn ended(&mut self, _process: (usize, &Process), _world: &World) -> Result<(), String> {
        Ok(())
    }
}

/// What is wrong with what happened, each with the revision at which it was.
pub(crate) fn judge(timeline: &Timeline) -> Vec<String> {
    let mut oracles: Vec<Box<dyn Oracle>> = vec![
        Box::new(max_unavailable::MaxUnavailable::default()),
        Box::new(batches::BatchOrder::default()),
        Box::new(checks::Checks::of(&timeline.checks)),
        Box::new(nodes::Nodes::default()),
        Box::new(counted::Counted::of(timeline.is_undisturbed)),
        Box::new(lock::Locks::of(&timeline.processes)),
        Box::new(strategy::Strategies::of(&timeline.processes)),
        Box::new(outcomes::Outcomes::default()),
    ];
    let mut wrong = requests::wrong(timeline);
    let needed: BTreeSet<u64> = timeline
        .changes
        .iter()
        .flat_map(|change| change.known.clone().into_iter().chain(change.read).chain(change.looked))
        .collect();
    let (mut world, mut pace) = (timeline.start.clone(), Paces::default());
    let mut kept: BTreeMap<u64, World> = BTreeMap::new();
    let mut recent: VecDeque<(Millis, World)> = VecDeque::new();
    let mut last = timeline.start.clone();
    let mut kept_to = needed.iter().copied().peekable();
    let mut living: Vec<usize> = (0..timeline.processes.len()).collect();
    for change in &timeline.changes {
        living.retain(|number| {
            let process = &timeline.processes[*number];
            let is_over = process.ended < change.revision;
            if is_over {
                let checked = oracles.iter_mut().map(|oracle| oracle.ended((*number, process), &world));
                wrong.extend(
                    checked.filter_map(Result::err).map(|error| format!("process {number}: {error}")),
                );
            }
            !is_over
        });
        while let Some(revision) = kept_to.next_if(|revision| *revision < change.revision) {
            kept.insert(revision, world.clone());
        }
        last.clone_from(&world);
        if world.kind.is_counted() {
            recent.push_front((change.at, last.clone()));
            let is_old = |(at, _): &(Millis, World)| *at < change.decided - counted::DECIDED_WITHIN;
            while recent.len() > 1 && recent.back().is_some_and(is_old) {
                recent.pop_back();
            }
        }
        world.apply(&change.what);
        let words = match change.by {
            By::Process(process) => timeline.processes.get(process).map(|process| &process.words),
            _ => None,
        };
        pace.see(change, words, &last, &world);
        let known = change.known.iter().filter_map(|revision| kept.get(revision));
        let views: Vec<&World> = known.chain(recent.iter().map(|(_, world)| world)).collect();
        let at = |revision: Option<u64>| revision.and_then(|revision| Some((revision, kept.get(&revision)?)));
        let (read, look) = (at(change.read), at(change.looked));
        let scene =
            Scene { change, before: &last, after: &world, views: &views, read, look, pace: &pace.now, words };
        let checked = oracles.iter_mut().map(|oracle| oracle.see(&scene));
        wrong.extend(checked.filter_map(Result::err).map(|error| format!("at {}: {error}", change.revision)));
    }
    for number in living {
        let process = &timeline.processes[number];
        let checked = oracles.iter_mut().map(|oracle| oracle.ended((number, process), &world));
        wrong.extend(checked.filter_map(Result::err).map(|error| format!("process {number}: {error}")));
    }
    wrong
}

/// The pace that the plan has.
#[derive(Default)]
struct Paces {
    now: Pace,
    /// The processes whose words are in it.
    entered: BTreeSet<usize>,
    /// Whether another client ended the hold while the plan was stored.
    is_void: bool,
}

impl Paces {
    fn see(&mut self, change: &Change, words: Option<&Words>, before: &World, after: &World) {
        if change.by == By::Other && before.strategy() != after.strategy() {
            self.is_void = !after.is_stepped();
        }
        // Releasing the lock in an ended hold begins nothing.
        let (By::Process(process), Some(words), true) = (change.by, words, after.is_stepped()) else {
            return;
        };
        if self.entered.insert(process) || self.is_void {
            let continues = before.has_plan() && !words.new_plan && !self.is_void;
            self.is_void = false;
            self.now = if continues { self.now.then(words) } else { Pace::default().then(words) };
        }
    }
}

/// How many pods may be updated after a batch that begins with so many.
fn end_of_batch(batches: &Batches, is_canary: bool, updated: i64, wanted: i64) -> i64 {
    match batches {
        _ if is_canary => 1,
        Batches::By(share) => updated + share.of(wanted),
        Batches::Until(goals) => {
            let goals = goals.iter().map(|goal| goal.of(wanted));
            goals.filter(|goal| *goal > updated).min().unwrap_or(wanted)
        }
    }
}
