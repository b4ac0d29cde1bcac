//! One target on its way.

use std::time::Duration;

use super::back::WayBack;
use super::cause_log::CauseLog;
use super::doom::Doom;
use super::end::{End, Outcome};
use super::event::Event;
use super::judge::LAST_LOOK;
use super::logs::Logs;
use super::moment::{Moment, TargetId};
use super::options::{Options, Telling};
use super::origin::Origin;
use super::pace::Pace;
use super::pin::Pin;
use super::seen::{LogLines, News, Stop};
use super::stability::Stability;
use super::tempo::Tempo;
use super::view::View;
use crate::model::cause::{Cause, without_secrets_of};
use crate::model::observed::Observed;
use crate::model::verdict::{Counts, State, Verdict};
use crate::model::workload::Workload;

/// Some causes come with time alone, such as a container that has been running for long and is not
/// ready, or a pod that outlives its grace period.
const TIME_TELLS: Duration = Duration::from_secs(5);

/// One target on its way: what is known of it, what was told, and how it ended.
#[derive(Debug)]
pub struct Track {
    pub(super) id: TargetId,
    /// The workload as it was found before anything was seen.
    pub(super) found: Workload,
    pub(super) view: View,
    /// What was told last of how it stands.
    pub(super) verdict: Option<Verdict>,
    pub(super) counts: Counts,
    /// What was told last of what it waits for.
    pub(super) waits: Option<String>,
    pub(super) pin: Option<Pin>,
    /// The revision whose causes are looked at.
    pub(super) revision: Option<String>,
    pub(super) causes: CauseLog,
    pub(super) doom: Doom,
    pub(super) pace: Pace,
    /// Since when the goal is reached, if it is.
    pub(super) stability: Option<Stability>,
    /// Whether a look was asked for that has not come.
    pub(super) looking: bool,
    /// When the look was asked for that decides whether the time is up.
    pub(super) last_look: Option<Duration>,
    /// When it was judged last.
    pub(super) judged: Duration,
    pub(super) origin: Option<Origin>,
    pub(super) tempo: Tempo,
    /// The last words that were read of each container, by pod.
    logs: Logs,
    /// The way back, once it failed and was to be undone.
    pub(super) back: Option<WayBack>,
    end: Option<End>,
}

impl Track {
    pub(super) fn new(id: TargetId, found: Workload) -> Self {
        Self {
            id,
            found,
            view: View::new(),
            verdict: None,
            counts: Counts::default(),
            waits: None,
            pin: None,
            revision: None,
            causes: CauseLog::default(),
            doom: Doom::default(),
            pace: Pace::default(),
            stability: None,
            origin: None,
            tempo: Tempo::default(),
            logs: Logs::default(),
            back: None,
            looking: false,
            last_look: None,
            judged: Duration::ZERO,
            end: None,
        }
    }

    /// The workload as it is known now; as it was found before anything was seen.
    #[must_use]
    pub fn workload(&self) -> &Workload {
        self.observed().map_or(&self.found, |observed| &observed.workload)
    }

    /// All that is known of it, once everything was seen.
    #[must_use]
    pub fn observed(&self) -> Option<&Observed> {
        self.view.observed()
    }

    /// How it stands, once that was judged.
    #[must_use]
    pub fn verdict(&self) -> Option<&Verdict> {
        self.verdict.as_ref()
    }

    /// The causes that were told and have not gone.
    pub fn causes(&self) -> impl Iterator<Item = &Cause> {
        self.causes.standing()
    }

    /// The last lines of the container that a cause is about, if they were read.
    #[must_use]
    pub fn log_of(&self, cause: &Cause) -> Option<&LogLines> {
        self.logs.of(cause)
    }

    /// What was followed from the start, once everything was seen.
    #[must_use]
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// How long the rest of the rollout will take if it goes on as it did; none while nobody can tell.
    #[must_use]
    pub fn time_left(&self, now: Duration) -> Option<Duration> {
        let goes_on = self.verdict.as_ref().is_some_and(|verdict| verdict.state == State::Progressing);
        let is_stuck = self.causes().any(|cause| !cause.heals);
        self.tempo.left(now).filter(|_| goes_on && !is_stuck && self.end.is_none())
    }

    /// How it ended, once it did.
    #[must_use]
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// Takes in news.
    pub(super) fn apply(&mut self, news: News, now: Moment, options: &Options, events: &mut Vec<Event>) {
        match news {
            News::Log(log) => return self.take_log(log, events), // of use even after the end
            News::Undone(written) => return self.take_undone(written, now, options, events),
            _ if self.end.is_some() => return,
            News::Gone => return self.finish(Outcome::Deleted, now.elapsed, events),
            News::Lost(error) => return self.finish(Outcome::Unreadable(error), now.elapsed, events),
            _ => {}
        }
        if options.telling == Telling::Kubectl {
            return self.apply_as_kubectl(&news, now, options, events);
        }
        if self.is_another(&news) {
            return self.finish(Outcome::Recreated, now.elapsed, events);
        }
        if self.is_older_than_our_write(&news) {
            return;
        }
        let fresh = matches!(news, News::Look(_));
        let mut later = self.view.take(news);
        self.judge(now, fresh, options, events);
        while let Some(workload) = later.pop_front().filter(|_| self.end.is_none()) {
            later.extend(self.view.take(News::Workload(Box::new(workload))));
            self.judge(now, fresh, options, events);
        }
    }

    /// Lets time go by.
    pub(super) fn tick(&mut self, now: Moment, options: &Options, events: &mut Vec<Event>) {
        match options.telling {
            _ if self.end.is_some() => {}
            Telling::Ours => self.judge(now, false, options, events),
            Telling::Kubectl => {
                if let Some(limit) = options.timeout.filter(|limit| now.elapsed >= *limit) {
                    self.finish(Outcome::TimedOut(limit), now.elapsed, events);
                }
            }
        }
    }

    /// Ends it because somebody wants the following to stop.
    pub(super) fn stop(&mut self, stop: Stop, events: &mut Vec<Event>) {
        let outcome = match stop {
            Stop::Interrupted => Outcome::Interrupted,
            Stop::Terminated => Outcome::Terminated,
        };
        if self.end.is_none() {
            self.finish(outcome, self.judged, events);
        }
    }

    /// When to let time go by. What was due at the last judgement was judged then.
    pub(super) fn due(&self, options: &Options) -> Option<Duration> {
        if self.end.is_some() {
            return None;
        }
        if options.telling == Telling::Kubectl {
            return options.timeout;
        }
        let stable = self.stability.as_ref().map(|stability| stability.since + options.stable);
        let deadline = options.deadline_for(self.workload());
        let dues = [
            self.last_look.map(|began| began + LAST_LOOK).or(options.timeout),
            self.causes.due(),
            self.doom.due(),
            stable,
            deadline.map(|deadline| self.pace.moved() + deadline),
            Some(self.judged + TIME_TELLS),
        ];
        dues.into_iter().flatten().filter(|due| *due > self.judged).min()
    }

    /// Names come back, uids do not.
    fn is_another(&self, news: &News) -> bool {
        let seen = match news {
            News::Workload(workload) => workload.object().uid(),
            News::Look(observed) => observed.workload.object().uid(),
            _ => return false,
        };
        seen != self.found.object().uid()
    }

    fn take_log(&mut self, log: LogLines, events: &mut Vec<Event>) {
        let log = LogLines { lines: without_secrets_of(self.view.observed(), &log.lines), ..log };
        self.logs.keep(log.clone());
        events.push(Event::Log { target: self.id, log });
    }

    pub(super) fn finish(&mut self, outcome: Outcome, after: Duration, events: &mut Vec<Event>) {
        if outcome == Outcome::Reached {
            self.causes.close(self.id, events);
        }
        let end = match &self.back {
            Some(back) => back.clone().end(outcome, after),
            None => self.end_with(outcome, after),
        };
        self.end_as(end, events);
    }

    pub(super) fn end_with(&self, outcome: Outcome, after: Duration) -> End {
        let line = self.verdict.as_ref().map(|verdict| verdict.line.clone()).unwrap_or_default();
        End { outcome, line, after, undone: None }
    }

    pub(super) fn end_as(&mut self, end: End, events: &mut Vec<Event>) {
        self.end = Some(end.clone());
        events.push(Event::Ended { target: self.id, end });
    }

    /// Forgets everything that was concluded from what was seen. What was seen, and what was followed from
    /// the start, stays.
    pub(super) fn begin_anew(&mut self, found: Workload) {
        let fresh = Self::new(self.id, found);
        let view = std::mem::replace(&mut self.view, View::new());
        let (origin, back, logs) = (self.origin.take(), self.back.take(), std::mem::take(&mut self.logs));
        *self = Self { view, origin, back, logs, judged: self.judged, ..fresh };
    }
}
