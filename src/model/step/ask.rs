//! From what is to be done next to what is asked for: a look, a change, a removal, a check.

use super::act::Act;
use super::event::Event;
use super::lease::{LASTS, Lease, RENEWED};
use super::phase::{Busy, Errand, Move, Phase, Purpose, Queue, Written};
use super::stepper::{Output, Stepper};
use crate::model::follow::{Moment, PodPlace};

impl Stepper {
    /// Does what is to be done, until there is something to wait for.
    pub(super) fn go_on(&mut self, is_fresh: bool, now: Moment, out: &mut Vec<Output>) {
        self.mind_the_time(now, out);
        self.again = self.again.filter(|again| now.elapsed < *again);
        while self.busy.is_none() && self.again.is_none() && self.end().is_none() {
            let next = self.next_move(is_fresh, now);
            let must_look = next.needs_a_look() && !is_fresh;
            let is_idle = must_look || matches!(next, Move::Rest | Move::Wait(_));
            let is_due = is_idle && !self.is_in_doubt && self.is_renewal_due(now);
            let renewal = if is_due { self.renewal() } else { None };
            match (renewal, next) {
                (Some(renewal), _) => self.write(renewal, now, out),
                (None, _) if must_look => self.look(now, out),
                (None, Move::Rest | Move::Look) => return self.waits_no_more(),
                (None, Move::Wait(reason)) => return self.wait(reason, now, out),
                (None, Move::Queue(lease)) => return self.queue(lease, now, out),
                (None, next) => {
                    self.waits_no_more();
                    self.make(next, now, out);
                }
            }
        }
    }

    fn next_move(&mut self, is_fresh: bool, now: Moment) -> Move {
        if !is_fresh && (self.is_in_doubt || self.observed().is_none()) {
            return Move::Look;
        }
        self.is_in_doubt = false;
        match &self.phase {
            Phase::Arriving(queue) => self.arrive(queue.as_ref(), now),
            Phase::Stepping(pursuit) => self.intruded(is_fresh).unwrap_or_else(|| self.pursue(pursuit, now)),
            Phase::Failing(failing) => self.go_back(failing, is_fresh),
            Phase::GoingBack(back) => self.come_back(back, now),
            Phase::Leaving(leave) => self.give_up_lease(leave),
            Phase::Over(_) => Move::Rest,
        }
    }

    fn make(&mut self, next: Move, now: Moment, out: &mut Vec<Output>) {
        match next {
            Move::Rest | Move::Look | Move::Wait(_) | Move::Queue(_) => {}
            Move::Write(written) => self.write(*written, now, out),
            Move::Remove { place, pod, evict } => {
                self.remove(Some(place), pod, evict, now, out);
            }
            Move::Heal(pod) => {
                self.tell_heals(&pod, out);
                self.remove(None, pod, false, now, out);
            }
            Move::ComeBack => self.take_up_the_way_back(now, out),
            Move::Check => self.ask_check(now, out),
            Move::Pass => self.pass(now, out),
            Move::Forgive(pods) => {
                if let Phase::Stepping(pursuit) = &mut self.phase {
                    (pursuit.forgiven, pursuit.force) = (pods, false);
                }
            }
            Move::Fail(failure) => self.fail(failure, now, out),
            Move::End(end) => self.leave(end, now, out),
            Move::Over(end) => self.over(end, out),
        }
    }

    fn remove(
        &mut self,
        place: Option<String>,
        pod: PodPlace,
        evict: bool,
        now: Moment,
        out: &mut Vec<Output>,
    ) {
        out.push(Output::Act(Act::Remove { pod: pod.clone(), evict }));
        self.busy = Some(Busy { with: Errand::Remove { place, pod }, since: now.elapsed });
    }

    fn look(&mut self, now: Moment, out: &mut Vec<Output>) {
        self.busy = Some(Busy { with: Errand::Look, since: now.elapsed });
        out.push(Output::Act(Act::Look));
    }

    fn write(&mut self, written: Written, now: Moment, out: &mut Vec<Output>) {
        out.push(Output::Act(Act::Write(Box::new(written.patch.clone()))));
        self.busy = Some(Busy { with: Errand::Write(written), since: now.elapsed });
    }

    /// What is written so that the lease lasts, if it is ours, and nobody changed what it is for: what is
    /// written over a change would make it look like ours.
    fn renewal(&self) -> Option<Written> {
        if self.intrusion().is_some() {
            return None;
        }
        let workload = &self.observed()?.workload;
        let document = self.document()?;
        document.lease.as_ref().filter(|lease| lease.holder == self.identity.holder)?;
        let patch = document.renewed().patch(workload, None);
        Some(Written { purpose: Purpose::Renew, patch, told: Vec::new() })
    }

    fn is_renewal_due(&self, now: Moment) -> bool {
        self.keeps_lease() && self.renewed.is_some_and(|renewed| now.elapsed >= renewed + RENEWED)
    }

    /// Whether the lease has to be renewed.
    pub(super) fn keeps_lease(&self) -> bool {
        match &self.phase {
            Phase::Stepping(_) => true,
            Phase::GoingBack(back) => back.is_held,
            _ => false,
        }
    }

    /// Waits for another process: until it gives up its lease, or that runs out.
    fn queue(&mut self, lease: Lease, now: Moment, out: &mut Vec<Output>) {
        let Phase::Arriving(queue) = &mut self.phase else { return };
        self.renewed = None; // what failed before was another try
        if queue.as_ref().is_none_or(|queue| queue.lease.holder != lease.holder) {
            out.push(Output::Event(Event::Leased { lease: lease.clone(), patience: LASTS }));
        }
        if queue.as_ref().is_none_or(|queue| queue.lease != lease) {
            *queue = Some(Queue { lease, since: now.elapsed });
        }
    }
}
