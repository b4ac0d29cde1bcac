//! The way back: whether what failed is undone, to which revision, and how that ends.

use std::time::Duration;

use super::end::{End, Failure, Outcome, Undone};
use super::event::{Ask, Event};
use super::moment::Moment;
use super::options::Options;
use super::pin::Pin;
use super::seen::News;
use super::track::Track;
use crate::error::Error;
use crate::model::revision::Revision;
use crate::model::stuck::Healing;
use crate::model::workload::Workload;

/// A target on its way back.
#[derive(Clone, Debug, PartialEq)]
pub struct WayBack {
    /// How it failed.
    pub failed: End,
    /// The revision it goes back to, as it was called when it failed.
    pub revision: String,
    /// Whether that was written; until then nothing is judged, because whatever is seen is known.
    is_written: bool,
    /// What had to be deleted on it.
    pub(super) healing: Healing,
}

impl WayBack {
    /// The end of it all: the failure, and how the way back ended.
    pub(super) fn end(self, outcome: Outcome, after: Duration) -> End {
        let undone = Undone::To { revision: self.revision, outcome };
        End { after, undone: Some(undone), ..self.failed }
    }
}

impl Track {
    /// The way back, once it was or was to be on it.
    #[must_use]
    pub fn way_back(&self) -> Option<&WayBack> {
        self.back.as_ref()
    }

    /// Ends it, or begins the way back if it failed and that was wished for. There is no way back from the
    /// way back.
    pub(super) fn conclude(
        &mut self,
        outcome: Outcome,
        after: Duration,
        options: &Options,
        events: &mut Vec<Event>,
    ) {
        let failure = match &outcome {
            Outcome::Failed(failure) if options.undo_on_failure && self.back.is_none() => failure,
            _ => return self.finish(outcome, after, events),
        };
        let revision = self.revision_to_go_back_to(failure).map(Revision::label);
        let end = self.end_with(outcome, after);
        match revision {
            Ok(revision) => {
                let target = self.id;
                self.back = Some(WayBack {
                    failed: end.clone(),
                    revision: revision.clone(),
                    is_written: false,
                    healing: Healing::default(),
                });
                events.push(Event::GoesBack { target, end, revision });
                events.push(Event::Ask(Ask::Undo(target)));
            }
            Err(why) => self.end_as(End { undone: Some(Undone::Not(why.to_owned())), ..end }, events),
        }
    }

    /// Only what was followed from the start is undone: who rolled out something else meanwhile has to
    /// decide about that. And it only goes back to what was seen to carry the service.
    fn revision_to_go_back_to(&self, failure: &Failure) -> Result<&Revision, &'static str> {
        let whole = "not everything about it could be seen";
        let (origin, observed) = self.origin().zip(self.observed()).ok_or(whole)?;
        let is_ours = !matches!(failure, Failure::TakenOver(_) | Failure::Kubectl(_));
        if !is_ours || !origin.is_still(&observed.workload) {
            return Err("another revision was rolled out meanwhile, and that is not ours to undo");
        }
        origin.service(observed).ok_or("no other revision carried the service when we began to follow")
    }

    /// Takes in what became of the write.
    pub(super) fn take_undone(
        &mut self,
        written: Result<Box<Workload>, Error>,
        now: Moment,
        options: &Options,
        events: &mut Vec<Event>,
    ) {
        let Some(back) = &mut self.back else { return };
        match written {
            Err(error) => {
                let undone = Some(Undone::Not(error.sentence()));
                let end = End { undone, ..back.failed.clone() };
                self.end_as(end, events);
            }
            Ok(written) => {
                back.is_written = true;
                self.begin_anew(Workload::clone(&written));
                self.pin = Some(Pin::Written(written.clone()));
                let _ = self.view.take(News::Workload(written)); // nothing was missing any more
                self.judge(now, false, options, events);
            }
        }
    }

    pub(super) fn is_being_written(&self) -> bool {
        self.back.as_ref().is_some_and(|back| !back.is_written)
    }

    /// A watch may still have to tell of what was before our write. It would be taken for another
    /// failure.
    pub(super) fn is_older_than_our_write(&self, news: &News) -> bool {
        let seen = match news {
            News::Workload(workload) => workload,
            News::Look(observed) => &observed.workload,
            _ => return false,
        };
        self.back.is_some() && seen.object().generation() < self.found.object().generation()
    }
}
