//! Coming to a workload: whether there is something to do, whether it may be done, and the write that
//! makes the plan ours.

use std::time::Duration;

use serde_json::Value;

use super::daemon_set;
use super::document::Document;
use super::end::{End, Why};
use super::event::{Beginning, Event};
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
use crate::model::observed::Observed;
use crate::model::patch::Place;
use crate::model::strategy;
use crate::model::workload::Workload;

impl Stepper {
    /// What to do while the plan is not ours.
    pub(super) fn arrive(&self, queue: Option<&Queue>, now: Moment) -> Move {
        let Some(observed) = self.observed() else { return Move::Rest };
        let found = match find(&self.request, observed) {
            Ok(found) => found,
            Err(end) => return Move::End(end),
        };
        if let Some(lease) = self.lease_in_the_way(&found.document, queue, now) {
            return Move::Queue(lease);
        }
        if !kind::is_seen(observed) {
            return Move::Wait("the controller to see the change".to_owned());
        }
        if found.origin == Origin::WayBack {
            return Move::ComeBack;
        }
        match self.end_before_a_write(observed, &found, queue, now) {
            Some(end) => Move::End(end),
            None => self.begin_or_go_on(observed, found, now),
        }
    }

    /// How the command ends without a write, if there is nothing that it could do.
    fn end_before_a_write(
        &self,
        observed: &Observed,
        found: &Found,
        queue: Option<&Queue>,
        now: Moment,
    ) -> Option<End> {
        let sight = self.sight(observed, &found.document, now);
        if let Err(error) = kind::check_sight(&sight) {
            return Some(End::Error(error));
        }
        let spots = sight.spots();
        if !found.has_to_end() && !spots.iter().any(Spot::is_outdated) {
            return Some(nothing_to_release(&spots, found.document.hold.original()));
        }
        match found.origin {
            Origin::Free { was: false } if queue.is_some() => Some(End::Stopped(over(&observed.workload))),
            Origin::Held => self.end_of_a_pause(&found.document, now),
            _ => None,
        }
    }

    /// The write that makes the plan ours.
    fn begin_or_go_on(&self, observed: &Observed, found: Found, now: Moment) -> Move {
        let workload = &observed.workload;
        let went_without = self.went_without(observed, &found, now);
        let Found { mut document, origin, set } = found;
        let mut told = Vec::new();
        let is_another = |lease: &Lease| lease.holder != self.identity.holder && self.request.take_over;
        if let Some(lease) = document.lease.take().filter(is_another) {
            told.push(Event::Leased { lease, patience: Duration::ZERO });
        }
        if origin == (Origin::Free { was: true }) {
            let author = last_author(workload.object(), &strategy::place(workload));
            told.push(Event::HoldEnded { manager: author.map(|author| author.manager) });
        }
        let how = match origin {
            Origin::Plan | Origin::WayBack => Beginning::GoesOn,
            Origin::Anew => Beginning::Anew,
            Origin::Held | Origin::Free { .. } => Beginning::First,
        };
        told.push(Event::Began { how, went_without });
        if document.plan.goes_back
            && let Some(revision) = observed.revisions.running()
        {
            told.push(Event::GoesBack { revision: revision.label() });
        }
        document.lease = Some(self.lease(now));
        if origin != Origin::Plan {
            let hold = document.hold.with("since", now.wall.to_string().into()).without("by");
            document.hold =
                self.identity.by.iter().fold(hold, |hold, by| hold.with("by", by.as_str().into()));
        }
        Move::write(Purpose::Take, document.patch(workload, set), told)
    }

    /// The pods which the hold of a rollout that runs comes too late for, or which a plan released that is
    /// forgotten; but not those that have no name yet.
    fn went_without(&self, observed: &Observed, found: &Found, now: Moment) -> Vec<String> {
        if matches!(found.origin, Origin::Plan | Origin::Held) {
            return Vec::new();
        }
        let held = found.as_held(observed);
        let spots = self.sight(held.as_ref().unwrap_or(observed), &found.document, now).spots();
        let went = spots.into_iter().filter(|spot| spot.is_new || spot.is_released);
        went.map(|spot| spot.name).filter(|name| name != daemon_set::NAMELESS).collect()
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

/// The plan that was waited for is over, and somebody else has to decide about what it left.
fn over(workload: &Workload) -> Why {
    let author = last_author(workload.object(), &Place::annotation(HELD));
    Why::Changed {
        manager: author.map(|author| author.manager),
        changes: vec!["the plan that was waited for is over, and outdated pods remain".to_owned()],
    }
}

/// The end where nothing is to be released: a set whose own partition lets no pod update is held by it,
/// and one that lets some is as far as it goes.
pub(super) fn nothing_to_release(spots: &[Spot<'_>], own: Option<&Value>) -> End {
    let others = spots.iter().filter(|spot| spot.is_not_selected()).count();
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
