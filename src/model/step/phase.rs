//! Where a stepper is: what it is about, what is under way, and what is to be done next.

use std::collections::BTreeSet;
use std::time::Duration;

use super::act::Checked;
use super::back::{Failing, WayBack};
use super::end::{End, Failure};
use super::event::Event;
use super::lease::Lease;
use super::request::Request;
use super::soak::Soak;
use crate::model::follow::PodPlace;
use crate::model::patch::Patch;
use crate::model::stuck::Healing;

/// What a stepper is about.
#[derive(Debug)]
pub(super) enum Phase {
    /// The plan is not ours yet.
    Arriving(Option<Queue>),
    /// The plan is ours, and it goes on.
    Stepping(Pursuit),
    /// It failed, and everything is to go back.
    Failing(Failing),
    /// Everything goes back.
    GoingBack(WayBack),
    /// It ends like this, once the lease is given up.
    Leaving(Leave),
    /// It ended.
    Over(End),
}

/// Another process has the lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Queue {
    pub(super) lease: Lease,
    /// Since when it looks as it does.
    pub(super) since: Duration,
}

/// What a plan that is ours is about.
#[derive(Debug, Default)]
pub(super) struct Pursuit {
    /// The pods that are not to blame on this batch: they were not available before, and it was forced.
    pub(super) forgiven: BTreeSet<String>,
    /// Whether the next batch begins however the pods are.
    pub(super) force: bool,
    /// Whether what is left of the soak is skipped.
    pub(super) complete: bool,
    /// How long pods were on their way since the batch last got further.
    pub(super) spent: Spent,
    /// How many places of the batch were well at its furthest.
    pub(super) furthest: usize,
    pub(super) soak: Soak,
    pub(super) healing: Healing,
    /// The pods that were deleted because the controller waited for them in vain.
    pub(super) healed: BTreeSet<String>,
    pub(super) check: CheckRun,
}

/// What the check says of the batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum CheckRun {
    /// It was not asked.
    #[default]
    NotAsked,
    /// It runs, since then.
    Runs(Duration),
    /// It said this.
    Said(Checked),
}

/// Time that goes by while pods are on their way; soaking is not counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    total: Duration,
    since: Option<Duration>,
}

/// An end that has yet to be reached.
#[derive(Debug)]
pub(super) struct Leave {
    pub(super) end: End,
    pub(super) since: Duration,
    pub(super) tries: usize,
}

/// What was asked for and has not been answered.
#[derive(Debug)]
pub(super) struct Busy {
    pub(super) with: Errand,
    pub(super) since: Duration,
}

/// Something that was asked for.
#[derive(Debug)]
pub(super) enum Errand {
    Look,
    Write(Written),
    Remove { place: Option<String>, pod: PodPlace },
}

/// A change of the workload that was asked for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Written {
    pub(super) purpose: Purpose,
    pub(super) patch: Patch,
    /// What is to be told once it is made.
    pub(super) told: Vec<Event>,
}

/// What a change is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The plan becomes ours.
    Take,
    /// The lease is renewed, and nothing else.
    Renew,
    /// A batch begins.
    Begin,
    /// More places of a batch are released.
    Release,
    /// It is noted that the last batch is done.
    Note,
    /// The plan ends.
    Finish,
    /// The lease is given up.
    Leave,
    /// The template goes back, and the plan ends, unless pods below the set's own partition have to go back.
    GoBack,
    /// These are back too, and the plan ends.
    EndHold,
}

/// What is to be done next.
#[derive(Debug)]
pub(super) enum Move {
    /// Nothing, until something is seen or time goes by.
    Rest,
    /// Everything is read again.
    Look,
    /// Nothing, and for what, as a fragment.
    Wait(String),
    /// Another process has the lease: nothing, until it is given up or runs out.
    Queue(Lease),
    /// The way back goes on, on which another process was killed.
    ComeBack,
    /// A change.
    Write(Box<Written>),
    /// A pod is removed, so that its place is released.
    Remove { place: String, pod: PodPlace, evict: bool },
    /// A pod is deleted that its controller waits for in vain.
    Heal(PodPlace),
    /// The check is asked.
    Check,
    /// The batch is done.
    Pass,
    /// The batch begins, though pods that were not available before are not yet.
    Forgive(BTreeSet<String>),
    /// It failed.
    Fail(Failure),
    /// It is at its end, once the lease is given up.
    End(End),
    /// It is at its end, and nothing is left to do.
    Over(End),
}

impl Move {
    pub(super) fn write(purpose: Purpose, patch: Patch, told: Vec<Event>) -> Self {
        Self::Write(Box::new(Written { purpose, patch, told }))
    }

    /// Whether everything must have been read just now. A renewal is tested by what it writes.
    pub(super) fn needs_a_look(&self) -> bool {
        match self {
            Self::Rest | Self::Wait(_) | Self::Queue(_) | Self::Over(_) => false,
            Self::Write(written) => written.purpose != Purpose::Renew,
            _ => true,
        }
    }
}

impl Pursuit {
    /// How a command goes about its first batch.
    pub(super) fn of(request: &Request) -> Self {
        Self { force: request.force, complete: request.complete, ..Self::default() }
    }

    /// Takes note of how far the batch is: its time counts anew once it gets further than ever. A large
    /// batch is walked a pod at a time, and one that crashes gets up again and again.
    pub(super) fn get(&mut self, well: usize, is_moving: bool, now: Duration) {
        if well > self.furthest {
            (self.furthest, self.spent) = (well, Spent::default());
        }
        self.spent.note(is_moving, now);
        self.complete &= !is_moving; // there is no soak to skip yet
        if is_moving && self.check == CheckRun::Said(Checked::Passed) {
            self.check = CheckRun::NotAsked; // its yes was of pods that soaked
        }
    }

    /// A batch begins.
    pub(super) fn begin(&mut self) {
        (self.spent, self.furthest, self.check) = (Spent::default(), 0, CheckRun::NotAsked);
        (self.complete, self.force) = (false, false);
    }

    /// The batch soaked, and was checked.
    pub(super) fn pass(&mut self) {
        (self.spent, self.check) = (Spent::default(), CheckRun::NotAsked);
        self.forgiven.clear();
        self.complete = false;
    }
}

impl Spent {
    /// Takes note of whether pods are on their way.
    pub(super) fn note(&mut self, are_moving: bool, now: Duration) {
        if let Some(since) = self.since.take() {
            self.total += now.saturating_sub(since);
        }
        self.since = are_moving.then_some(now);
    }

    /// Whether it is as much as this.
    pub(super) fn is_over(&self, limit: Duration) -> bool {
        self.total >= limit
    }

    /// When it will be as much as this.
    pub(super) fn due(&self, limit: Duration) -> Option<Duration> {
        Some(self.since? + limit.saturating_sub(self.total))
    }
}
