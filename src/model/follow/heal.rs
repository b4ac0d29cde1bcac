//! Pods that a StatefulSet on its way back waits for and will not replace by itself.
//!
//! Going back does not reach them: the controller goes on only once they are ready, and on the revision
//! that failed they never will be. They are deleted one at a time, each on a fresh look of its own, and
//! none before the controller has seen our write: a pod that is deleted earlier comes back on the
//! revision that failed (design rule 14).

use std::collections::BTreeSet;

use super::event::{Ask, Event, PodPlace};
use super::options::Options;
use super::track::Track;
use crate::model::observed::Observed;
use crate::model::pod::Pod;
use crate::model::stuck::stuck;

/// The pods whose deletion was asked for, by uid: none is deleted twice, and none before the last one is
/// gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Deleted(BTreeSet<String>);

impl Track {
    /// Asks for the next pod to be deleted, if there is one.
    pub(super) fn heal(&mut self, fresh: bool, options: &Options, events: &mut Vec<Event>) {
        let next = match (self.observed(), &self.back) {
            (Some(observed), Some(back)) if options.replace_stuck_pods => back.deleted.next(observed),
            _ => None,
        };
        let next = next.map(|pod| PodPlace { name: pod.name.clone(), uid: pod.uid.clone() });
        match (next, &mut self.back) {
            (Some(pod), Some(back)) if fresh => {
                back.deleted.0.insert(pod.uid.clone());
                events.push(Event::Ask(Ask::Delete(self.id, pod)));
            }
            (Some(_), _) => self.look(events),
            (None, _) => {}
        }
    }
}

impl Deleted {
    fn next<'a>(&self, observed: &'a Observed) -> Option<&'a Pod> {
        let live = observed.revisions.running()?;
        let workload = &observed.workload;
        let is_seen =
            workload.is_observed() && workload.object().text("/status/updateRevision") == Some(&live.name);
        let is_going = observed.own_pods().any(|pod| self.0.contains(&pod.uid));
        let stuck = stuck(observed, workload, Some(live));
        stuck.into_iter().next().filter(|_| is_seen && !is_going)
    }
}
