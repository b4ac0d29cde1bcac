//! Pods that a StatefulSet on its way back waits for and will not replace by itself.
//!
//! Going back does not reach them: the controller goes on only once they are ready, and on the revision
//! that failed they never will be. They are deleted one at a time, each on a fresh look of its own, and
//! none before the controller has seen our write: a pod that is deleted earlier comes back on the
//! revision that failed (design rule 14).

use super::event::{Ask, Event, PodPlace};
use super::options::Options;
use super::track::Track;

impl Track {
    /// Asks for the next pod to be deleted, if there is one.
    pub(super) fn heal(&mut self, fresh: bool, options: &Options, events: &mut Vec<Event>) {
        let next = match (self.observed(), &self.back) {
            (Some(observed), Some(back)) if options.replace_stuck_pods => back.healing.next(observed),
            _ => None,
        };
        let next = next.map(PodPlace::of);
        match (next, &mut self.back) {
            (Some(pod), Some(back)) if fresh => {
                back.healing.note(&pod.uid);
                events.push(Event::Ask(Ask::Delete(self.id, pod)));
            }
            (Some(_), _) => self.look(events),
            (None, _) => {}
        }
    }
}
