//! Following as kubectl does.

use super::end::{Failure, Outcome};
use super::event::Event;
use super::moment::Moment;
use super::options::Options;
use super::seen::News;
use super::track::Track;
use crate::model::revision::RevisionWord;
use crate::model::verdict::{Counts, State, Verdict, kubectl};

impl Track {
    /// kubectl's own verdict on every event of the workload, and nothing else.
    pub(super) fn apply_as_kubectl(
        &mut self,
        news: &News,
        now: Moment,
        options: &Options,
        events: &mut Vec<Event>,
    ) {
        let News::Workload(workload) = news else {
            return;
        };
        let number = match options.revision {
            Some(RevisionWord::Number(number)) => Some(number),
            _ => None,
        };
        match kubectl(workload, number) {
            Err(text) => self.finish(Outcome::Failed(Failure::Kubectl(text)), now.elapsed, events),
            Ok(told) => {
                let state = if told.done { State::Complete } else { State::Progressing };
                let verdict = Verdict { state, line: told.line };
                let (target, counts) = (self.id, Counts::of(workload));
                self.verdict = Some(verdict.clone());
                events.push(Event::Stands { target, verdict, counts, line_is_new: true, is_way_back: false });
                if told.done {
                    self.finish(Outcome::Reached, now.elapsed, events);
                }
            }
        }
    }
}
