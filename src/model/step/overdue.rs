//! A batch whose time is over: whether it failed, or others are in its way.

use super::end::{End, Failure, Why};
use super::health::reasons;
use super::phase::Move;
use super::scene::Scene;
use super::spot::Spot;

impl Scene<'_> {
    /// How it goes on when the time of a batch is over. Only a pod that was replaced can have failed it;
    /// while none has, pods that are none of its own may leave no room for it, which says as little of the new
    /// revision as between two batches.
    pub(super) fn overdue(&self, batch: usize) -> Move {
        let after = self.pacing().batch_timeout;
        let failed = names(self.watched().filter(|spot| !spot.is_well() && spot.is_replaced()));
        if !failed.is_empty() {
            return Move::Fail(Failure::TimedOut { batch, after, pods: failed });
        }
        let others: Vec<_> = self.in_the_way().collect();
        if !others.is_empty() {
            let pods = reasons(others, self.sight.observed, self.now);
            return Move::End(End::Stopped(Why::Unhealthy { pods, allowed: self.allowed() }));
        }
        let waiting = names(self.spots.iter().filter(|spot| self.is_awaited(spot)));
        Move::Fail(Failure::NotReplaced { batch, after, pods: waiting })
    }

    /// The places without an available pod that leave no room for more, and that the batch does not wait for.
    fn in_the_way(&self) -> impl Iterator<Item = &Spot<'_>> {
        let is_full = self.free().is_none_or(|free| free == 0);
        self.missing().filter(move |spot| is_full && !self.is_watched(spot) && !self.is_in_batch(spot))
    }
}

fn names<'s>(spots: impl Iterator<Item = &'s Spot<'s>>) -> Vec<String> {
    spots.map(|spot| spot.name.clone()).collect()
}
