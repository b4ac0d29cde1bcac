//! Following rollouts to their end: what is seen in, what is worth telling out.
//!
//! A [`Follower`] does no I/O and has no clock. Whoever drives it hands it everything that is seen of
//! its targets ([`Follower::apply`]) with the moment it was seen at, does what it [asks](Ask) for, and
//! calls again when something is [due](Follower::due). What it makes of the facts does not depend on how
//! many of them it missed: every fact is a whole state, and a verdict that rests on time gone by, or
//! on a hold, is only final once everything was looked at again. So a missed event can delay a
//! verdict, and never change it.

mod as_kubectl;
mod back;
mod cause_log;
mod decision;
mod doom;
mod end;
mod event;
mod goal;
mod heal;
mod judge;
mod logs;
mod moment;
mod options;
mod origin;
mod pace;
mod pin;
mod seen;
mod stability;
mod tempo;
mod track;
mod view;

#[cfg(test)]
mod tests;

pub(super) use cause_log::CauseLog;
pub(super) use doom::Doom;
pub(super) use pace::Pace;
pub(super) use view::View;

pub use back::WayBack;
pub use end::{End, Failure, Outcome, Undone};
pub use event::{Ask, Event, LogPlace, PodPlace, Step};
pub use goal::Goal;
pub use logs::Logs;
pub use moment::{Moment, TargetId};
pub use options::{Options, Telling};
pub use origin::Origin;
pub use seen::{LogLines, News, Seen, Stop};
pub use track::Track;

use std::time::Duration;

use super::workload::Workload;

/// Follows a set of workloads.
#[derive(Debug)]
pub struct Follower {
    options: Options,
    tracks: Vec<Track>,
}

impl Follower {
    /// Begins to follow workloads as they were found. Their [`TargetId`]s count from 0 in this order.
    #[must_use]
    pub fn new(options: Options, workloads: impl IntoIterator<Item = Workload>) -> Self {
        let tracks = workloads.into_iter().enumerate();
        Self { tracks: tracks.map(|(index, found)| Track::new(TargetId(index), found)).collect(), options }
    }

    /// Takes in what was seen and says what is worth telling of it, in the order in which it happened.
    pub fn apply(&mut self, seen: Seen, now: Moment) -> Vec<Event> {
        let mut events = Vec::new();
        match seen {
            Seen::News(TargetId(index), news) => {
                if let Some(track) = self.tracks.get_mut(index) {
                    track.apply(news, now, &self.options, &mut events);
                }
            }
            Seen::Stopped(stop) => {
                for track in &mut self.tracks {
                    track.stop(stop, &mut events);
                }
            }
            Seen::Nothing => {
                for track in &mut self.tracks {
                    track.tick(now, &self.options, &mut events);
                }
            }
        }
        events
    }

    /// When to call again with [`Seen::Nothing`] if nothing is seen until then, since following began;
    /// none when there is nothing to wait for.
    #[must_use]
    pub fn due(&self) -> Option<Duration> {
        self.tracks.iter().filter_map(|track| track.due(&self.options)).min()
    }

    /// The targets, in the order given.
    #[must_use]
    pub fn tracks(&self) -> &[Track] {
        &self.tracks
    }

    /// Whether every target has its final verdict.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.tracks.iter().all(|track| track.end().is_some())
    }
}
