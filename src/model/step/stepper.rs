//! The stepper: what is seen in, what is worth telling and what is to be done out.

use std::time::Duration;

use super::act::{Act, Seen};
use super::end::End;
use super::event::Event;
use super::request::{Identity, Request};
use super::view::View;
use crate::model::follow::Moment;
use crate::model::node::Node;
use crate::model::observed::Observed;
use crate::model::workload::Workload;

/// Steps one workload. It does no I/O and has no clock: whoever drives it hands it everything that is
/// seen ([`Stepper::apply`]) with the moment it was seen at, does what it asks for, and calls again
/// with [`Seen::Nothing`] when something is [due](Stepper::due).
#[derive(Debug)]
pub struct Stepper {
    request: Request,
    identity: Identity,
    found: Workload,
    end: Option<End>,
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
        Self { request, identity, found, end: None }
    }

    /// Takes in what was seen, and says what is worth telling and what is to be done.
    pub fn apply(&mut self, seen: Seen, now: Moment) -> Vec<Output> {
        let _ = (seen, now, &self.request, &self.identity);
        Vec::new()
    }

    /// When to call again with [`Seen::Nothing`] if nothing is seen until then, since stepping began;
    /// none when there is nothing to wait for.
    #[must_use]
    pub fn due(&self) -> Option<Duration> {
        None
    }

    /// How it stands; none before everything was seen.
    #[must_use]
    pub fn view(&self, now: Moment) -> Option<View> {
        let _ = now;
        None
    }

    /// The workload as it is known now; as it was found before anything was seen.
    #[must_use]
    pub fn workload(&self) -> &Workload {
        &self.found
    }

    /// All that is known of it, once everything was seen.
    #[must_use]
    pub fn observed(&self) -> Option<&Observed> {
        None
    }

    /// How it ended, once it did.
    #[must_use]
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }
}

/// How a plan would go that a command begins or goes on with, for who only wants to know.
///
/// # Errors
/// What the command itself would end with before it writes anything.
pub fn foresee(
    request: &Request,
    observed: &Observed,
    nodes: Option<&[Node]>,
    now: Moment,
) -> Result<View, End> {
    let _ = (request, observed, nodes, now);
    Err(End::NothingOutdated)
}
