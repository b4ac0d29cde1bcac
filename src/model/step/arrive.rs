//! Coming to a workload: whether there is something to do, whether it may be done, and the write that
//! makes the plan ours.

use std::time::Duration;

use serde_json::Value;

use super::document::Document;
use super::end::{End, Why};
use super::event::Event;
use super::found::{Found, Origin, find};
use super::kind;
use super::lease::{LASTS, Lease};
use super::phase::{Move, Purpose, Pursuit, Queue};
use super::scene::Scene;
use super::spot::{Kept, Spot};
use super::stepper::Stepper;
use crate::model::authorship::last_author;
use crate::model::follow::Moment;
use crate::model::hold::HELD;
use crate::model::patch::Place;
use crate::model::strategy;

impl Stepper {
    /// What to do while the plan is not ours.
    pub(super) fn arrive(&self, queue: Option<&Queue>, now: Moment) -> Move {
        let Some(observed) = self.observed() else { return Move::Rest };
        let workload = &observed.workload;
        let Found { mut document, origin, set } = match find(&self.request, observed) {
            Ok(found) => found,
            Err(end) => return Move::End(end),
        };
        if let Some(lease) = self.lease_in_the_way(&document, queue, now) {
            return Move::Queue(lease);
        }
        if !kind::is_seen(observed) {
            return Move::Wait("the controller to see the change".to_owned());
        }
        let sight = self.sight(observed, &document, now);
        if let Err(error) = kind::check_sight(&sight) {
            return Move::End(End::Error(error));
        }
        let spots = sight.spots();
        if origin != Origin::Plan && !spots.iter().any(Spot::is_outdated) {
            return Move::End(nothing_to_release(&spots, document.hold.original()));
        }
        if queue.is_some() && origin == (Origin::Free { was: false }) {
            return Move::End(End::Stopped(Why::Changed {
                manager: last_author(workload.object(), &Place::annotation(HELD))
                    .map(|author| author.manager),
                changes: vec!["the plan that was waited for is over, and outdated pods remain".to_owned()],
            }));
        }
        let went = spots.iter().filter(|spot| spot.is_new || spot.pod.is_none_or(|pod| pod.terminating));
        let went_without = match origin {
            Origin::Free { .. } => went.map(|spot| spot.name.clone()).collect(),
            Origin::Plan | Origin::Held => Vec::new(),
        };
        if origin == Origin::Held
            && set.is_none()
            && let Some(end) = self.end_of_a_pause(&document, now)
        {
            return Move::End(end);
        }
        let mut told = Vec::new();
        let is_another = |lease: &Lease| lease.holder != self.identity.holder && self.request.take_over;
        if let Some(lease) = document.lease.take().filter(is_another) {
            told.push(Event::Leased { lease, patience: Duration::ZERO });
        }
        if origin == (Origin::Free { was: true }) {
            let author = last_author(workload.object(), &strategy::place(workload));
            told.push(Event::HoldEnded { manager: author.map(|author| author.manager) });
        }
        told.push(Event::Began { goes_on: origin == Origin::Plan, went_without });
        document.lease = Some(self.lease(now));
        if origin != Origin::Plan {
            let hold = document.hold.with("since", now.stamp().into()).without("by");
            document.hold =
                self.identity.by.iter().fold(hold, |hold, by| hold.with("by", by.as_str().into()));
        }
        Move::write(Purpose::Take, document.patch(workload, set), told)
    }

    /// How the command ends that releases nothing of what is paused: it stays a pause, and nothing is
    /// written.
    fn end_of_a_pause(&self, document: &Document, now: Moment) -> Option<End> {
        let sight = self.sight(self.observed()?, document, now);
        let pursuit = Pursuit::of(&self.request);
        let scene = Scene::new(&pursuit, document, None, sight, now);
        match self.between(&scene) {
            Move::End(end) => Some(end),
            _ => None,
        }
    }

    /// The lease of another process, unless it is to be taken over or has run out: then nothing of it
    /// was seen for a whole minute by our own clock.
    fn lease_in_the_way(&self, document: &Document, queue: Option<&Queue>, now: Moment) -> Option<Lease> {
        let lease = document.lease.as_ref().filter(|lease| lease.holder != self.identity.holder)?;
        let ran_out = |queue: &Queue| queue.lease == *lease && now.elapsed >= queue.since + LASTS;
        (!self.request.take_over && !queue.is_some_and(ran_out)).then(|| lease.clone())
    }

    fn lease(&self, now: Moment) -> Lease {
        Lease {
            holder: self.identity.holder.clone(),
            by: self.identity.by.clone(),
            since: Some(now.stamp()),
            turn: 1,
        }
    }
}

/// The end where nothing is to be released: a set whose own partition lets no pod update is held by it,
/// and one that lets some is as far as it goes.
pub(super) fn nothing_to_release(spots: &[Spot<'_>], own: Option<&Value>) -> End {
    let others = spots.iter().filter(|spot| spot.kept == Some(Kept::Selector) && !spot.is_new).count();
    if others > 0 {
        return End::Stopped(Why::NotSelected { others });
    }
    let is_kept = !spots.is_empty() && spots.iter().all(|spot| spot.kept == Some(Kept::OwnPartition));
    match own.map(strategy::partition_in) {
        Some(partition) if is_kept && spots.iter().any(|spot| !spot.is_new) => {
            End::Stopped(Why::OwnPartition { partition })
        }
        _ => End::NothingOutdated,
    }
}
