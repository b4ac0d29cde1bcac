//! The way back: a batch failed, and the released pods go back to the revision before.

use std::time::Duration;

use super::below;
use super::end::{Back, End, Failure};
use super::event::Event;
use super::kind;
use super::pacing::OnFailure;
use super::phase::{Move, Phase, Purpose};
use super::stepper::{Output, Stepper};
use crate::model::follow::{Moment, PodPlace};
use crate::model::hold::HELD;
use crate::model::observed::Observed;
use crate::model::patch::Place;
use crate::model::pod::Pod;
use crate::model::strategy;
use crate::model::stuck::Healing;
use crate::model::undo::{Undo, Wishes, is_live, undo};
use crate::model::workload::Workload;

/// What failed, and is to go back.
#[derive(Debug)]
pub(super) struct Failing {
    pub(super) failure: Failure,
    /// How long no further pod may be back.
    pub(super) limit: Duration,
}

/// Released pods on their way back.
#[derive(Debug)]
pub(super) struct WayBack {
    pub(super) failure: Failure,
    /// The revision, as a person calls it.
    pub(super) revision: String,
    /// The workload as it was written.
    pub(super) written: Box<Workload>,
    /// Whether the hold is still there, and is to be ended.
    pub(super) is_held: bool,
    /// Since when no further pod is back.
    pub(super) since: Duration,
    /// How long that may last.
    pub(super) limit: Duration,
    /// How many pods were back at its furthest.
    pub(super) furthest: usize,
    pub(super) healing: Healing,
    /// Why it gets no further, if it does not.
    pub(super) stuck: Option<String>,
}

impl Stepper {
    /// It failed: either nothing more is released, or what was goes back.
    pub(super) fn fail(&mut self, failure: Failure, now: Moment, out: &mut Vec<Output>) {
        self.tell_failed(now, out);
        self.failed = Some(failure.clone());
        match self.document().map(|document| document.plan.pacing.clone()) {
            Some(pacing) if pacing.on_failure == OnFailure::Undo => {
                self.phase = Phase::Failing(Failing { failure, limit: pacing.batch_timeout });
            }
            _ => self.leave(End::Failed { failure, back: None }, now, out),
        }
    }

    /// The write that takes everything back, in the same patch that ends the plan; unless pods
    /// [below](super::below) the set's own partition have to go back.
    pub(super) fn go_back(&self, failing: &Failing, is_fresh: bool) -> Move {
        match self.intrusion() {
            Some(_) if is_fresh => return failing.not("the plan was changed by somebody meanwhile"),
            Some(_) => return Move::Look,
            None => {}
        }
        let (Some(observed), Some(document)) = (self.observed(), self.document()) else { return Move::Rest };
        let from = document.plan.from.as_ref();
        let before = observed.revisions.iter().find(|one| Some(&one.name) == from);
        let Some(before) = before.filter(|before| !is_live(observed, before)) else {
            return failing.not("the revision that ran before is not kept any more");
        };
        let kept = document.going_back(&observed.workload, &before.digest);
        match undo(observed, before, &Wishes { keep_hold: kept.is_some(), ..Wishes::default() }) {
            Err(error) => failing.not(error.sentence()),
            Ok(Undo { mut patch, .. }) => {
                if let Some(kept) = kept.or_else(|| document.note(&patch, &before.digest)) {
                    patch.set(Place::annotation(HELD), kept.memory().annotation().into());
                }
                let told = vec![Event::GoesBack { revision: before.label() }];
                Move::write(Purpose::GoBack, patch, told)
            }
        }
    }

    /// It could not be taken back.
    pub(super) fn not_back(&mut self, why: String, now: Moment, out: &mut Vec<Output>) {
        if let Phase::Failing(failing) = &self.phase {
            let end = End::Failed { failure: failing.failure.clone(), back: Some(Back::Not(why)) };
            self.leave(end, now, out);
        }
    }

    /// Everything goes back from now on.
    pub(super) fn goes_back(
        &self,
        written: Box<Workload>,
        is_held: bool,
        limit: Duration,
        now: Moment,
    ) -> Phase {
        Phase::GoingBack(WayBack {
            failure: self.failed.clone().unwrap_or(Failure::Earlier),
            revision: self.went_back.clone().unwrap_or_default(),
            written,
            is_held,
            since: now.elapsed,
            limit,
            furthest: 0,
            healing: Healing::default(),
            stuck: None,
        })
    }

    /// Another process took everything back, or somebody did by hand, and it is not all there yet.
    pub(super) fn found_going_back(
        &mut self,
        written: Box<Workload>,
        is_held: bool,
        limit: Duration,
        now: Moment,
    ) {
        self.failed = Some(Failure::Earlier);
        self.phase = self.goes_back(written, is_held, limit, now);
    }

    /// Everything is back.
    pub(super) fn came_back(&mut self, out: &mut Vec<Output>) {
        if let (Some(failure), Some(revision)) = (self.failed.clone(), self.went_back.clone()) {
            self.over(End::Failed { failure, back: Some(Back::Done { revision }) }, out);
        }
    }

    /// What to do on the way back, until all pods that the controller takes there are there.
    pub(super) fn come_back(&self, back: &WayBack, now: Moment) -> Move {
        let Some(observed) = self.observed() else { return Move::Rest };
        let workload = &observed.workload;
        if let Some(why) = &back.stuck {
            return back.unfinished(why);
        }
        if workload.template().digest() != back.written.template().digest() {
            return back.unfinished("somebody changed the template meanwhile");
        }
        if let Some(why) = back.is_held.then(|| self.interference()).flatten() {
            return back.unfinished(&why);
        }
        if strategy::is_on_delete(workload) {
            return back
                .unfinished("its own strategy is OnDelete, so pods go back when somebody deletes them");
        }
        let are_back = kind::is_seen(observed) && Returned::of(observed, now).is_all;
        if are_back && (!back.is_held || below::is_settled(observed)) {
            let done = || back.end(Back::Done { revision: back.revision.clone() });
            return if back.is_held { self.end_hold() } else { self.forget_the_note().unwrap_or_else(done) };
        }
        if now.elapsed >= back.since.saturating_add(back.limit) {
            let is_back = "its controller does not take it for the current revision";
            return back.unfinished(if are_back { is_back } else { "its pods are not back in time" });
        }
        match back.healing.next(observed) {
            Some(pod) => Move::Heal(PodPlace::of(pod)),
            None => Move::Rest,
        }
    }

    /// Takes note of how far the way back is: its time counts anew once more pods are back than ever. Many
    /// go back one after the other, as they were released.
    pub(super) fn watch_the_way_back(&mut self, now: Moment) {
        let (Phase::GoingBack(back), Some(observed)) = (&mut self.phase, self.seen.observed()) else {
            return;
        };
        let count = Returned::of(observed, now).count;
        if count > back.furthest {
            (back.furthest, back.since) = (count, now.elapsed);
        }
    }
}

/// The pods that the strategy lets go, as far as they are on the live template again, and available.
struct Returned {
    count: usize,
    /// Whether these are all.
    is_all: bool,
}

impl Returned {
    fn of(observed: &Observed, now: Moment) -> Self {
        let workload = &observed.workload;
        let live = observed.revisions.running();
        let is_back = |pod: &&Pod| {
            pod.is_active()
                && live.is_some_and(|live| workload.runs(pod, live))
                && pod.is_available(workload.min_ready_seconds(), now.wall)
        };
        let partition = strategy::partition(workload);
        let is_let_go =
            |pod: &&Pod| strategy::index(workload, &pod.name).is_none_or(|index| index >= partition);
        let pods = observed.own_pods().filter(|pod| !pod.has_ended());
        let (back, others): (Vec<&Pod>, Vec<&Pod>) = pods.filter(is_let_go).partition(is_back);
        let wanted = workload.wanted() - partition.min(workload.wanted());
        let is_enough = i64::try_from(back.len()).is_ok_and(|back| back >= wanted);
        Self { count: back.len(), is_all: others.is_empty() && is_enough }
    }
}

impl Failing {
    fn not(&self, why: impl Into<String>) -> Move {
        let back = Some(Back::Not(why.into()));
        Move::End(End::Failed { failure: self.failure.clone(), back })
    }
}

impl WayBack {
    fn unfinished(&self, why: &str) -> Move {
        self.end(Back::Unfinished { revision: self.revision.clone(), why: why.to_owned() })
    }

    fn end(&self, back: Back) -> Move {
        Move::End(End::Failed { failure: self.failure.clone(), back: Some(back) })
    }
}
