//! Ending: in time, because somebody wants it, or because it is at its end; and giving up the lease.

use std::time::Duration;

use super::document::Document;
use super::end::End;
use super::event::Event;
use super::lease::{LASTS, RENEWED};
use super::phase::{Errand, Leave, Move, Phase, Purpose};
use super::stepper::{Output, Stepper};
use crate::error::{Error, ErrorKind};
use crate::model::follow::{Moment, Stop};

/// How long the lease may take to be given up.
const LEAVING: Duration = Duration::from_secs(5);

/// How often the lease is tried to be given up, over what others change.
const MOST_TRIES: usize = 3;

/// Some things come with time alone: pods become available after `minReadySeconds`.
const TIME_TELLS: Duration = Duration::from_secs(5);

impl Stepper {
    /// Ends it because somebody wants us to stop; at once if nothing of ours is in the way, or they want
    /// it twice.
    pub(super) fn stop(&mut self, stop: Stop, now: Moment, out: &mut Vec<Output>) {
        let end = match stop {
            Stop::Interrupted => End::Interrupted,
            Stop::Terminated => End::Terminated,
        };
        match &self.phase {
            Phase::Leaving(_) => self.over(end, out),
            Phase::GoingBack(back) if !back.is_held => self.over(end, out),
            _ => self.leave(end, now, out),
        }
    }

    /// Ends it once the lease is given up.
    pub(super) fn leave(&mut self, end: End, now: Moment, out: &mut Vec<Output>) {
        self.busy.take_if(|busy| matches!(busy.with, Errand::Look)); // nobody needs it any more
        if self.ours.is_none() && self.unsure.is_empty() && self.busy.is_none() {
            return self.over(end, out);
        }
        self.again = None;
        self.phase = Phase::Leaving(Leave { end, since: now.elapsed, tries: 0 });
    }

    /// What is written so that the next process need not wait for the lease to run out.
    pub(super) fn give_up_lease(&self, leave: &Leave) -> Move {
        let over = || Move::Over(leave.end.clone());
        let (Some(observed), Some(document)) = (self.observed(), self.document()) else { return over() };
        let mut document = Document::clone(&document);
        if document.lease.take().is_none_or(|lease| lease.holder != self.identity.holder) {
            return over();
        }
        if matches!(leave.end, End::Reached { .. }) {
            document.plan.reach = None;
        }
        document.plan.note(self.passed);
        Move::write(Purpose::Leave, document.patch(&observed.workload, None), Vec::new())
    }

    /// The lease was not given up; it is tried again a few times.
    pub(super) fn tried_to_leave(&mut self, out: &mut Vec<Output>) {
        let Phase::Leaving(leave) = &mut self.phase else { return };
        leave.tries += 1;
        if leave.tries >= MOST_TRIES {
            self.leave_it_at_that(out);
        }
    }

    /// The lease is given up, or will run out.
    pub(super) fn leave_it_at_that(&mut self, out: &mut Vec<Output>) {
        if let Phase::Leaving(leave) = &self.phase {
            let end = leave.end.clone();
            self.over(end, out);
        }
    }

    pub(super) fn over(&mut self, end: End, out: &mut Vec<Output>) {
        if self.end().is_none() {
            self.busy = None;
            self.phase = Phase::Over(end.clone());
            out.push(Output::Event(Event::Ended(end)));
        }
    }

    /// Ends what has gone on for too long: the command, the wait for an answer before the plan is ours,
    /// the giving up of the lease.
    pub(super) fn mind_the_time(&mut self, now: Moment, out: &mut Vec<Output>) {
        let is_over = |due: Option<Duration>| due.is_some_and(|due| now.elapsed >= due);
        if let Some(limit) = self.time_limit().filter(|limit| now.elapsed >= *limit) {
            match &self.phase {
                Phase::Failing(_) => self.not_back("the time of the command is up".to_owned(), now, out),
                _ => self.leave(End::TimedOut(limit), now, out),
            }
        } else if is_over(self.lost_touch()) {
            self.over(End::Error(Error::new(ErrorKind::Unreachable, "the server gives no answer")), out);
        } else if matches!(&self.phase, Phase::Leaving(leave) if now.elapsed >= leave.since + LEAVING) {
            self.leave_it_at_that(out);
        }
    }

    /// When to call again.
    pub(super) fn next_due(&self, now: Moment) -> Option<Duration> {
        let of_phase = match &self.phase {
            Phase::Over(_) => return None,
            Phase::Arriving(queue) => queue.as_ref().map(|queue| queue.since + LASTS),
            Phase::Stepping(pursuit) => self.pursuit_due(pursuit, now),
            Phase::Failing(_) => None,
            Phase::GoingBack(back) => Some(back.since.saturating_add(back.limit)),
            Phase::Leaving(leave) => Some(leave.since + LEAVING),
        };
        let dues = [
            of_phase,
            self.renewed.filter(|_| self.keeps_lease()).map(|renewed| renewed + RENEWED),
            self.lost_touch(),
            self.again,
            self.time_limit(),
            self.health.due(),
            Some(now.elapsed + TIME_TELLS),
        ];
        dues.into_iter().flatten().filter(|due| *due > now.elapsed).min()
    }

    /// When the command has to be at its end. Who is on the way back is let finish.
    fn time_limit(&self) -> Option<Duration> {
        self.request.timeout.filter(|_| self.is_on_its_way())
    }

    /// When an answer was awaited for long enough, while the plan is not ours.
    fn lost_touch(&self) -> Option<Duration> {
        let (renewed, busy) = (self.renewed?, self.busy.as_ref()?);
        matches!(self.phase, Phase::Arriving(_)).then(|| renewed.max(busy.since) + LASTS)
    }

    fn is_on_its_way(&self) -> bool {
        matches!(self.phase, Phase::Arriving(_) | Phase::Stepping(_) | Phase::Failing(_))
    }
}
