//! The changes that let pods go: a batch that begins, and the places of it that are released.

use super::event::Event;
use super::kind::{self, Release};
use super::phase::{Move, Purpose};
use super::plan::Begun;
use super::scene::Scene;

impl Scene<'_> {
    /// Releases what the budget allows of a batch.
    pub(super) fn release(&self, batch: usize, release: Release) -> Move {
        match release {
            Release::Remove { place, pod } => Move::Remove { place, pod, evict: self.pacing().evict },
            Release::Strategy { set, places } => {
                let renewed = self.document.renewed();
                let patch = renewed.patch(&self.sight.observed.workload, Some(set));
                let told = places.into_iter().map(|place| Event::Released { batch, place }).collect();
                Move::write(Purpose::Release, patch, told)
            }
        }
    }

    /// Writes the next batch to the plan, and releases as much of it as the budget allows in the same
    /// patch where that is another strategy.
    pub(super) fn begin(&self, begun: Begun) -> Move {
        let mut document = self.document.renewed();
        let plan = &mut document.plan;
        let mut told = Vec::new();
        match plan.batch.take() {
            Some(_) if self.is_back_to_canary() => {
                plan.done.clear();
                told.push(Event::BackToCanary);
            }
            Some(before) => plan.done.push(before.places.len()),
            None => {}
        }
        let set = match kind::release(&self.sight, &self.spots, &begun, self.free()) {
            Some(Release::Strategy { set, places }) => {
                let batch = begun.number;
                told.extend(places.into_iter().map(|place| Event::Released { batch, place }));
                Some(set)
            }
            _ => None,
        };
        document.plan.batch = Some(begun);
        Move::write(Purpose::Begin, document.patch(&self.sight.observed.workload, set), told)
    }
}
