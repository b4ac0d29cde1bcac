//! The way back: a batch failed, and the released pods go back to the revision before.

use super::end::{Back, End, Failure};
use super::event::Event;
use super::pacing::OnFailure;
use super::phase::{Failing, Move, Phase, Purpose, WayBack};
use super::stepper::{Output, Stepper};
use crate::model::follow::{Moment, PodPlace};
use crate::model::observed::Observed;
use crate::model::pod::Pod;
use crate::model::revision::Revision;
use crate::model::strategy;
use crate::model::undo::{Wishes, is_live, undo};

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

    /// The write that takes everything back, in the same patch that ends the plan.
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
        match undo(observed, before, &Wishes::default()) {
            Err(error) => failing.not(error.sentence()),
            Ok(undo) => {
                let told = vec![Event::GoesBack { revision: before.label() }];
                Move::write(Purpose::GoBack, undo.patch, told)
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
        if strategy::is_on_delete(workload) {
            return back
                .unfinished("its own strategy is OnDelete, so pods go back when somebody deletes them");
        }
        if now.elapsed >= back.since.saturating_add(back.limit) {
            return back.unfinished("its pods are not back in time");
        }
        if let Some(pod) = back.healing.next(observed) {
            return Move::Heal(PodPlace::of(pod));
        }
        if is_back(observed, now) {
            back.end(Back::Done { revision: back.revision.clone() })
        } else {
            Move::Rest
        }
    }
}

/// Whether every pod that its strategy lets go is on the live template again, and available.
fn is_back(observed: &Observed, now: Moment) -> bool {
    let workload = &observed.workload;
    let Some(live) = observed.revisions.running().filter(|_| super::kind::is_seen(observed)) else {
        return false;
    };
    let is_back = |pod: &Pod, live: &Revision| {
        pod.is_active()
            && workload.runs(pod, live)
            && pod.is_available(workload.min_ready_seconds(), now.wall)
    };
    let partition = strategy::partition(workload);
    let pods = observed.own_pods().filter(|pod| !pod.has_ended());
    let let_go =
        pods.filter(|pod| strategy::index(workload, &pod.name).is_none_or(|index| index >= partition));
    let (back, others): (Vec<&Pod>, Vec<&Pod>) = let_go.partition(|pod| is_back(pod, live));
    let wanted = workload.wanted() - partition.min(workload.wanted());
    others.is_empty() && i64::try_from(back.len()).is_ok_and(|back| back >= wanted)
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
