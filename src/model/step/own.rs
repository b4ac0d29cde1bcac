//! Whether the plan is still ours, and what becomes of the changes we make of it.

use super::below::goes_back;
use super::document::relying;
use super::end::{End, Why};
use super::event::Event;
use super::lease::Lease;
use super::phase::{Move, Phase, Purpose, Pursuit, Written};
use super::stepper::{Output, Stepper};
use crate::model::conflict::Conflict;
use crate::model::follow::{Moment, News};
use crate::model::hold::{HELD, Hold};
use crate::model::object::Object;
use crate::model::patch::Place;
use crate::model::strategy;
use crate::model::workload::Workload;

impl Stepper {
    /// What to do about somebody else's change of the plan, if there is one. What a watch shows may be
    /// old, so that everything is looked at before it counts.
    pub(super) fn intruded(&self, is_fresh: bool) -> Option<Move> {
        let why = self.intrusion()?;
        Some(if is_fresh { Move::End(End::Stopped(why)) } else { Move::Look })
    }

    /// What somebody else changed of what the plan rests on.
    pub(super) fn intrusion(&self) -> Option<Why> {
        let (ours, now) = (self.ours.as_ref()?, &self.observed()?.workload);
        let hold = match Hold::of(now) {
            Ok(Some(hold)) if hold.is_in_force(now) => hold,
            _ => return Some(changed(ours, now)),
        };
        if !is_same_template(ours, now) || !self.left_it(now, &strategy::place(now)) {
            return Some(changed(ours, now));
        }
        match hold.member("lease").map(Lease::read) {
            Some(lease) if lease.holder == self.identity.holder => {}
            lease => return Some(Why::LeaseLost { by: lease.and_then(|lease| lease.by) }),
        }
        if hold.is_paused() {
            return Some(Why::Paused);
        }
        (!self.left_it(now, &Place::annotation(HELD))).then(|| changed(ours, now))
    }

    /// Whether a place is as we left it, or as a change of ours would leave it of which nobody knows
    /// whether it was made.
    fn left_it(&self, now: &Workload, place: &Place) -> bool {
        let now = place.of_value(now.object().json());
        let ours = self.ours.iter().map(|ours| ours.object().json());
        let unsure = self.unsure.iter().map(|written| written.patch.after());
        ours.chain(unsure).any(|json| place.of_value(json) == now)
    }

    /// A watch may still have to tell of what was before our last change. Every change of ours renews the
    /// lease, so its turn says which is older.
    pub(super) fn is_older_than_ours(&self, workload: &Workload) -> bool {
        let Some(ours) = &self.ours else { return false };
        let turn = |workload: &Workload| {
            let lease = Lease::read(Hold::of(workload).ok()??.member("lease")?);
            (lease.holder == self.identity.holder).then_some(lease.turn)
        };
        let is_an_older_turn = turn(ours).zip(turn(workload)).is_some_and(|(ours, seen)| seen < ours);
        is_an_older_turn || workload.object().generation() < ours.object().generation()
    }

    /// Finds out, of everything as it is now, what became of the changes that brought no answer.
    pub(super) fn settle_unsure(&mut self, now: Moment, out: &mut Vec<Output>) {
        let Some(workload) = self.observed().map(|observed| observed.workload.clone()) else { return };
        let made = self.unsure.iter().position(|written| written.patch.is_made_in(workload.object()));
        if let Some(made) = made {
            let written = self.unsure.swap_remove(made);
            let left = Object::read(written.patch.after().clone()).ok().and_then(Workload::of);
            self.again = None;
            self.made(written, Box::new(workload), now, out);
            // What others have changed since is not ours.
            self.ours = left.map(Box::new).or(self.ours.take());
        } else if self.ours.is_some() && self.intrusion().is_none() {
            self.remember(Box::new(workload));
        }
    }

    /// The workload as we left it, and the plan in it if it is still there.
    fn remember(&mut self, workload: Box<Workload>) {
        self.last = self.document().or(self.last.take());
        if let Some(batch) = self.last.as_ref().and_then(|document| document.plan.batch.as_ref()) {
            self.begun.insert(batch.number, batch.places.clone());
        }
        self.ours = Some(workload);
    }

    /// Whether a watch has shown more of a workload than the answer to a change: a quick controller is seen
    /// before it. Versions are numbers that can be compared.
    pub(super) fn knows_newer(&self, answer: &Workload) -> bool {
        let version = |workload: &Workload| {
            workload.object().text("/metadata/resourceVersion").and_then(|text| text.parse::<u64>().ok())
        };
        let known = self.observed().and_then(|observed| version(&observed.workload));
        known.zip(version(answer)).is_some_and(|(known, answer)| known > answer)
    }

    /// A change was made.
    pub(super) fn made(
        &mut self,
        written: Written,
        workload: Box<Workload>,
        now: Moment,
        out: &mut Vec<Output>,
    ) {
        let Written { purpose, told, patch } = written;
        // As we left it: others may have changed it since.
        let is_held = || Workload::of_json(patch.after()).is_some_and(|left| goes_back(&left));
        if !self.knows_newer(&workload) {
            self.see(News::Workload(workload.clone()));
        }
        self.renewed = Some(now.elapsed);
        self.remember(workload.clone());
        self.unsure.clear();
        self.conflicts = 0;
        let is_leaving = matches!(self.phase, Phase::Leaving(_));
        for event in &told {
            if let Event::GoesBack { revision } = event {
                self.went_back = Some(revision.clone());
            }
        }
        match (purpose, &mut self.phase) {
            (Purpose::Finish, _) => return self.over(End::Complete, out),
            (Purpose::Leave, _) => return self.leave_it_at_that(out),
            (Purpose::EndHold, _) => return self.came_back(out),
            (Purpose::GoBack, Phase::Failing(failing)) => {
                let limit = failing.limit;
                self.phase = self.goes_back(workload, is_held(), limit, now);
            }
            (Purpose::Take, Phase::Arriving(_)) if is_held() => {
                let limit = self.document().map(|document| document.plan.pacing.batch_timeout);
                self.found_going_back(workload, true, limit.unwrap_or_default(), now);
            }
            (Purpose::Take, Phase::Arriving(_)) => self.phase = Phase::Stepping(Pursuit::of(&self.request)),
            (Purpose::Begin, Phase::Stepping(pursuit)) => {
                pursuit.begin();
                self.passed = None;
            }
            _ => {}
        }
        if purpose == Purpose::Begin && !is_leaving {
            self.tell_stage(now, out); // the batch, and then what is released of it
        }
        out.extend(told.into_iter().map(Output::Event));
    }
}

/// Whether both have the same template, which rarely takes a digest.
fn is_same_template(one: &Workload, other: &Workload) -> bool {
    let raw = [one, other].map(|workload| workload.object().at("/spec/template"));
    raw[0] == raw[1] || one.template().digest() == other.template().digest()
}

/// Who changed what of a plan that was ours.
fn changed(ours: &Workload, now: &Workload) -> Why {
    let conflict = Conflict::of(&relying(ours), now.object());
    let (manager, changes) =
        conflict.map(|conflict| (conflict.manager, conflict.changes)).unwrap_or_default();
    Why::Changed { manager, changes }
}
