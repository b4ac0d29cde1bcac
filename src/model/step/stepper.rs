//! The stepper: what is seen in, what is worth telling and what is to be done out.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::act::{Act, Seen};
use super::document::{Document, Reading};
use super::end::{End, Failure};
use super::event::Event;
use super::health::Health;
use super::phase::{Busy, Phase, Written};
use super::request::{Identity, Request};
use super::spot::Sight;
use super::tell::Told;
use crate::model::follow::{self, Moment, News};
use crate::model::node::Node;
use crate::model::observed::Observed;
use crate::model::workload::Workload;

/// Steps one workload. It does no I/O and has no clock: whoever drives it hands it everything that is
/// seen ([`Stepper::apply`]) with the moment it was seen at, does what it asks for, and calls again
/// with [`Seen::Nothing`] when something is [due](Stepper::due).
#[derive(Debug)]
pub struct Stepper {
    pub(super) request: Request,
    pub(super) identity: Identity,
    pub(super) found: Workload,
    pub(super) seen: follow::View,
    pub(super) reading: Reading,
    pub(super) nodes: Option<Vec<Node>>,
    pub(super) phase: Phase,
    pub(super) busy: Option<Busy>,
    /// The workload as it was when it was last known to be as we left it.
    pub(super) ours: Option<Box<Workload>>,
    /// The plan as it was then.
    pub(super) last: Option<Arc<Document>>,
    /// The places of the batches that were seen under way, by their numbers.
    pub(super) begun: BTreeMap<usize, Vec<String>>,
    /// The batch that soaked and was checked under our eyes.
    pub(super) passed: Option<usize>,
    /// Changes of which nobody knows whether they were made.
    pub(super) unsure: Vec<Written>,
    /// How often in a row others were faster.
    pub(super) conflicts: usize,
    /// Whether everything has to be read again before anything else.
    pub(super) is_in_doubt: bool,
    /// When a change was last made, or first tried.
    pub(super) renewed: Option<Duration>,
    /// When what failed in passing is tried again.
    pub(super) again: Option<Duration>,
    /// How it failed, if it did.
    pub(super) failed: Option<Failure>,
    /// The revision that everything goes back to, once that was written.
    pub(super) went_back: Option<String>,
    pub(super) health: Health,
    pub(super) told: Told,
    pub(super) due: Option<Duration>,
}

/// What comes of something that was seen, in the order in which it happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Something worth telling.
    Event(Event),
    /// Something to do.
    Act(Act),
}

impl Stepper {
    /// Begins with a workload as it was found. Nothing is asked for before the first
    /// [`apply`](Self::apply), which may be of [`Seen::Nothing`].
    #[must_use]
    pub fn new(request: Request, identity: Identity, found: Workload) -> Self {
        Self {
            request,
            identity,
            found,
            seen: follow::View::new(),
            reading: Reading::default(),
            nodes: None,
            phase: Phase::Arriving(None),
            busy: None,
            ours: None,
            last: None,
            begun: BTreeMap::new(),
            passed: None,
            unsure: Vec::new(),
            conflicts: 0,
            is_in_doubt: false,
            renewed: None,
            again: None,
            failed: None,
            went_back: None,
            health: Health::default(),
            told: Told::default(),
            due: Some(Duration::ZERO),
        }
    }

    /// Takes in what was seen, and says what is worth telling and what is to be done.
    pub fn apply(&mut self, seen: Seen, now: Moment) -> Vec<Output> {
        let mut out = Vec::new();
        let is_fresh = self.take(seen, now, &mut out);
        self.watch(now, &mut out);
        self.go_on(is_fresh, now, &mut out);
        self.tell_stage(now, &mut out);
        self.due = self.next_due(now);
        out
    }

    /// When to call again with [`Seen::Nothing`] if nothing is seen until then, since stepping began;
    /// none when there is nothing to wait for.
    #[must_use]
    pub fn due(&self) -> Option<Duration> {
        self.due
    }

    /// The workload as it is known now; as it was found before anything was seen.
    #[must_use]
    pub fn workload(&self) -> &Workload {
        self.observed().map_or(&self.found, |observed| &observed.workload)
    }

    /// All that is known of it, once everything was seen.
    #[must_use]
    pub fn observed(&self) -> Option<&Observed> {
        self.seen.observed()
    }

    /// How it ended, once it did.
    #[must_use]
    pub fn end(&self) -> Option<&End> {
        match &self.phase {
            Phase::Over(end) => Some(end),
            _ => None,
        }
    }

    /// Who we are: the identity in our lease.
    #[must_use]
    pub fn holder(&self) -> &str {
        &self.identity.holder
    }

    /// Why everything goes back, or went, and the revision as a person calls it, once that was written.
    /// The hold is over then, whatever becomes of the way, unless pods below the own partition go back.
    #[must_use]
    pub fn way_back(&self) -> Option<(&Failure, &str)> {
        self.failed.as_ref().zip(self.went_back.as_deref())
    }

    /// What is known, looked at as a plan has it.
    pub(super) fn sight<'a>(
        &'a self,
        observed: &'a Observed,
        document: &'a Document,
        now: Moment,
    ) -> Sight<'a> {
        Sight {
            observed,
            nodes: self.nodes.as_deref(),
            pacing: &document.plan.pacing,
            begun: document.plan.batch.as_ref(),
            own: document.hold.original(),
            beyond: document.plan.beyond,
            wall: now.wall,
        }
    }

    /// The plan as it stands, as far as it can be read.
    pub(super) fn document(&self) -> Option<Arc<Document>> {
        self.reading.document()
    }

    /// Takes a fact in. Of the workload, only its last state counts.
    pub(super) fn see(&mut self, news: News) {
        let mut later = self.seen.take(news);
        while let Some(workload) = later.pop_front() {
            later.extend(self.seen.take(News::Workload(Box::new(workload))));
        }
        if let Some(observed) = self.seen.observed() {
            self.reading.update(&observed.workload);
        }
    }
}
