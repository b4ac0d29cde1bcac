//! Taking in what was seen, and what became of what was asked for.

use std::time::Duration;

use super::act::{Checked, Removed, Seen, Wrote};
use super::end::End;
use super::event::Event;
use super::health;
use super::lease::LASTS;
use super::phase::{CheckRun, Errand, Phase, Purpose};
use super::stepper::{Output, Stepper};
use crate::error::{Error, ErrorKind};
use crate::model::follow::{Moment, News};
use crate::model::workload::Workload;

/// How long we wait before what failed in passing is tried again.
const AGAIN: Duration = Duration::from_secs(2);

/// How long we wait before a pod is tried again that a PodDisruptionBudget did not let go.
const AGAIN_IF_REFUSED: Duration = Duration::from_secs(5);

/// Said of a look of which nothing can be decided any more: for longer than a lease lasts, anything may
/// have happened since it began.
const TOO_SLOW: &str = "a look at everything in less than 60s; the last one took longer";

/// How often in a row others may be faster.
const MOST_CONFLICTS: usize = 10;

impl Stepper {
    /// Takes in what was seen; says whether all of it was read just now, because it was asked for. What
    /// took long to read may be old by now.
    pub(super) fn take(&mut self, seen: Seen, now: Moment, out: &mut Vec<Output>) -> bool {
        match seen {
            Seen::News(News::Log(log)) => {
                out.push(Output::Event(Event::Log(health::shown(log, self.observed())))); // of use even after the end
            }
            _ if self.end().is_some() => {}
            Seen::News(news) => return self.take_news(news, now, out),
            Seen::Nodes(nodes) => self.nodes = nodes,
            Seen::Stopped(stop) => self.stop(stop, now, out),
            Seen::Checked(said) => self.take_check(said),
            Seen::Wrote(wrote) => self.take_wrote(wrote, now, out),
            Seen::Removed(removed) => self.take_removed(removed, now, out),
            Seen::Nothing => {}
        }
        false
    }

    fn take_news(&mut self, news: News, now: Moment, out: &mut Vec<Output>) -> bool {
        match news {
            News::Gone => self.over(End::Gone { is_another: false }, out),
            News::Lost(error) => self.over(End::Error(error), out),
            News::Workload(seen) if self.is_another(&seen) => self.over(End::Gone { is_another: true }, out),
            News::Look(seen) if self.is_another(&seen.workload) => {
                self.over(End::Gone { is_another: true }, out);
            }
            News::Workload(seen) if self.is_older_than_ours(&seen) => {}
            News::Look(mut seen) => {
                // A watch may have shown more while it was looked: that counts.
                if let Some(known) = self.observed().map(|observed| &observed.workload)
                    && self.knows_newer(&seen.workload)
                {
                    if known.object().generation() != seen.workload.object().generation() {
                        self.is_in_doubt =
                            self.busy.take_if(|busy| matches!(busy.with, Errand::Look)).is_some();
                        return false;
                    }
                    seen.workload = known.clone();
                }
                self.see(News::Look(seen));
                let asked = self.busy.take_if(|busy| matches!(busy.with, Errand::Look));
                let asked = asked.map(|busy| busy.since);
                if asked.is_some() {
                    self.settle_unsure(now, out);
                }
                let is_fresh = asked.is_some_and(|asked| now.elapsed < asked + LASTS);
                if asked.is_some() && !is_fresh {
                    self.tell_waits(TOO_SLOW.to_owned(), out);
                }
                return is_fresh;
            }
            news => self.see(news),
        }
        false
    }

    /// Names come back, uids do not.
    fn is_another(&self, workload: &Workload) -> bool {
        workload.object().uid() != self.found.object().uid()
    }

    /// A yes counts for pods that were well all the while.
    fn take_check(&mut self, said: Checked) {
        if let Phase::Stepping(pursuit) = &mut self.phase
            && let CheckRun::Runs(since) = pursuit.check
        {
            let is_disturbed = pursuit.soak.disturbed().is_some_and(|disturbed| disturbed > since);
            let is_void = is_disturbed && said == Checked::Passed;
            pursuit.check = if is_void { CheckRun::NotAsked } else { CheckRun::Said(said) };
        }
    }

    fn take_wrote(&mut self, wrote: Wrote, now: Moment, out: &mut Vec<Output>) {
        let Some(busy) = self.busy.take_if(|busy| matches!(busy.with, Errand::Write(_))) else { return };
        let Errand::Write(written) = busy.with else { return };
        match wrote {
            Wrote::Done(workload) => self.made(written, workload, now, out),
            Wrote::Conflict(conflict) if conflict.replaced => self.over(End::Gone { is_another: true }, out),
            Wrote::Conflict(_) => {
                self.is_in_doubt = true;
                self.conflicts += 1;
                self.tried_to_leave(out);
                if self.conflicts >= MOST_CONFLICTS && self.end().is_none() {
                    self.leave(End::Error(self.always_changed()), now, out);
                }
            }
            Wrote::Unknown(error) => {
                self.unsure.push(written);
                self.is_in_doubt = true;
                self.failed_in_passing(error, now, out);
            }
            Wrote::Not(error) if error.kind() == ErrorKind::Unreachable => {
                self.failed_in_passing(error, now, out);
            }
            Wrote::Not(error) => match (written.purpose, &mut self.phase) {
                (Purpose::GoBack, _) => self.not_back(error.sentence(), now, out),
                (Purpose::Leave, _) => self.leave_it_at_that(out),
                (_, Phase::GoingBack(back)) if !back.is_held => self.came_back(out), // a note may stay
                (_, Phase::GoingBack(back)) => {
                    back.stuck = Some(format!("its hold could not be written: {}", error.sentence()));
                }
                _ => self.leave(End::Error(error), now, out),
            },
        }
    }

    fn always_changed(&self) -> Error {
        let target = self.found.target();
        Error::new(ErrorKind::Conflict, format!("{target} is being changed all the time"))
    }

    fn take_removed(&mut self, removed: Removed, now: Moment, out: &mut Vec<Output>) {
        let Some(busy) = self.busy.take_if(|busy| matches!(busy.with, Errand::Remove { .. })) else { return };
        let Errand::Remove { place, pod } = busy.with else { return };
        match (removed, &mut self.phase) {
            (Removed::Done, phase) => {
                match phase {
                    Phase::GoingBack(back) if place.is_none() => back.healing.note(&pod.uid),
                    Phase::Stepping(pursuit) if place.is_none() => {
                        pursuit.healing.note(&pod.uid);
                        pursuit.healed.insert(pod.name.clone());
                    }
                    _ => {}
                }
                self.removed(place, out);
            }
            (Removed::Superseded, _) => self.is_in_doubt = true,
            (Removed::Unknown(error), _) => {
                self.is_in_doubt = true;
                self.failed_in_passing(error, now, out);
            }
            (Removed::Not(error), _) if error.kind() == ErrorKind::Unreachable => {
                self.failed_in_passing(error, now, out);
            }
            (Removed::Not(error), Phase::GoingBack(back)) => {
                back.stuck = Some(format!("{} was not deleted: {}", pod.name, error.sentence()));
            }
            (Removed::Not(error), _) => self.leave(End::Error(error), now, out),
            (Removed::Refused(message), _) => {
                self.again = Some(now.elapsed + AGAIN_IF_REFUSED);
                self.tell_refused(pod, message, out);
            }
        }
    }

    /// Tries again what failed in passing. Once the plan is ours that goes on until the server is back: a
    /// lease that ran out meanwhile is still ours if nobody took it, which every change of ours tests.
    fn failed_in_passing(&mut self, error: Error, now: Moment, out: &mut Vec<Output>) {
        let since = *self.renewed.get_or_insert(now.elapsed);
        match self.phase {
            Phase::Leaving(_) => return self.tried_to_leave(out),
            Phase::Arriving(_) if now.elapsed >= since + LASTS => return self.over(End::Error(error), out),
            _ => {}
        }
        self.again = Some(now.elapsed + AGAIN);
        self.tell_trouble(&error.sentence(), out);
    }
}
