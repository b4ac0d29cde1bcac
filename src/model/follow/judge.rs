//! From what is known of a target to what is told of it, and whether it is at its end.

use std::time::Duration;

use super::decision::{Decision, Facts};
use super::end::{Failure, Outcome};
use super::event::{Ask, Event};
use super::goal::Distance;
use super::moment::Moment;
use super::options::Options;
use super::origin::Origin;
use super::pin::{Match, Pin};
use super::stability::Stability;
use super::track::Track;
use crate::error::Result;
use crate::model::cause::causes;
use crate::model::verdict::{Counts, verdict};

/// How long the last look may take that decides whether the time was really up.
pub(super) const LAST_LOOK: Duration = Duration::from_secs(3);

impl Track {
    /// Judges what is known at a moment, and ends the target if it is at its end. `fresh` is whether all of
    /// it was read just now.
    pub(super) fn judge(&mut self, now: Moment, fresh: bool, options: &Options, events: &mut Vec<Event>) {
        self.judged = now.elapsed;
        self.looking &= !fresh;
        if self.is_being_written() {
            return;
        }
        match self.view_and_tell(now, options, events) {
            Decision::End(outcome) => return self.conclude(outcome, now.elapsed, options, events),
            Decision::LookFirst(outcome) if fresh => {
                return self.conclude(outcome, now.elapsed, options, events);
            }
            Decision::LookFirst(_) => self.look(events),
            Decision::GoOn => {}
        }
        self.heal(fresh, options, events);
        let Some(limit) = options.timeout.filter(|limit| now.elapsed >= *limit) else {
            return;
        };
        match self.last_look {
            None => {
                self.last_look = Some(now.elapsed);
                self.look(events);
            }
            Some(began) if fresh || now.elapsed >= began + LAST_LOOK => {
                self.finish(Outcome::TimedOut(limit), now.elapsed, events);
            }
            Some(_) => {}
        }
    }

    /// Judges what is known, tells what is new of it, and decides.
    fn view_and_tell(&mut self, now: Moment, options: &Options, events: &mut Vec<Event>) -> Decision {
        if let Some(observed) = self.view.observed() {
            self.origin.get_or_insert_with(|| Origin::of(&self.found, observed));
        }
        match self.pinned(options) {
            None => return Decision::GoOn,
            Some(Err(error)) => return Decision::End(Outcome::Unreadable(error)),
            Some(Ok(Match::NotYet(reason))) => {
                self.tell_waiting(reason, events);
                return Decision::GoOn;
            }
            Some(Ok(Match::TakenOver(line))) => {
                return Decision::End(Outcome::Failed(Failure::TakenOver(line)));
            }
            Some(Ok(Match::Ours)) => {}
        }
        let Some(observed) = self.view.observed() else {
            return Decision::GoOn;
        };
        let (verdict, counts) = (verdict(observed), Counts::of(&observed.workload));
        let line_is_new = self.verdict.as_ref() != Some(&verdict);
        if line_is_new || self.counts != counts {
            let verdict = verdict.clone();
            let (target, is_way_back) = (self.id, self.back.is_some());
            events.push(Event::Stands { target, verdict, counts, line_is_new, is_way_back });
        }
        (self.verdict, self.counts) = (Some(verdict.clone()), counts);
        let revision = observed.revisions.running().map(|running| running.name.clone());
        if revision != self.revision {
            self.doom.forget(); // a new revision may have the same trouble, and has its own time to get over it
            self.tempo.forget();
            self.revision = revision;
        }
        let elapsed = now.elapsed;
        self.pace.take(&observed.workload, elapsed);
        self.tempo.take(observed, elapsed);
        let causes = causes(observed, now.wall);
        self.causes.take(self.id, &causes, elapsed, events);
        self.doom.take(&causes, observed, options, self.pace.moved(), elapsed);
        let reached = options.goal.distance(observed, &verdict) == Distance::Reached;
        let before = self.stability.take();
        self.stability = reached.then(|| Stability::go_on(before, observed, elapsed));
        self.decide(&Facts { observed, verdict: &verdict, now: elapsed }, options)
    }

    /// What the target is to the revision that was asked for, if one was; none before it was seen whole.
    fn pinned(&mut self, options: &Options) -> Option<Result<Match>> {
        let observed = self.view.observed()?;
        if self.pin.is_none() {
            self.pin = Pin::asked_for(options, &self.found);
        }
        Some(self.pin.as_mut().map_or(Ok(Match::Ours), |pin| pin.hold_against(observed)))
    }

    fn tell_waiting(&mut self, reason: String, events: &mut Vec<Event>) {
        if self.waits.as_ref() != Some(&reason) {
            self.waits = Some(reason.clone());
            events.push(Event::Waits { target: self.id, reason });
        }
    }

    pub(super) fn look(&mut self, events: &mut Vec<Event>) {
        if !self.looking {
            self.looking = true;
            events.push(Event::Ask(Ask::Look(self.id)));
        }
    }
}
