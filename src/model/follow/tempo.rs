//! How fast pods move, and so how long the rest of them will take.

use std::time::Duration;

use crate::model::observed::Observed;
use crate::model::strategy;
use crate::model::verdict::Counts;

/// One move is no speed: the first pod may have waited for an image, or for us to begin looking.
const MOVES_THAT_TELL: u32 = 2;

/// How far a rollout was when we began to look, how far it is, and when it got there.
#[derive(Debug, Default)]
pub(super) struct Tempo {
    first: Option<Mark>,
    last: Mark,
    goal: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    pods: u32,
    at: Duration,
}

impl Tempo {
    /// Takes note of how many pods are where they are to go.
    pub(super) fn take(&mut self, observed: &Observed, now: Duration) {
        let (pods, goal) = arrived(observed);
        self.note(pods, goal, now);
    }

    /// Another revision is rolled out: what was measured counts no more.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// How long the rest will take if it goes on as before; none while nobody can tell, or when it
    /// should have been done by now.
    pub(super) fn left(&self, now: Duration) -> Option<Duration> {
        let first = self.first?;
        let moved = self.last.pods.checked_sub(first.pods).filter(|moved| *moved >= MOVES_THAT_TELL)?;
        let remaining = self.goal.checked_sub(self.last.pods)?;
        let needed = (self.last.at.saturating_sub(first.at) / moved).checked_mul(remaining)?;
        let left = needed.checked_sub(now.saturating_sub(self.last.at))?;
        (!left.is_zero()).then_some(left)
    }

    /// Pods that fail and come back have not moved twice, so only more than ever before is a move.
    fn note(&mut self, pods: u32, goal: u32, now: Duration) {
        let here = Mark { pods, at: now };
        match self.first {
            None => (self.first, self.last) = (Some(here), here),
            Some(_) if pods > self.last.pods => self.last = here,
            Some(_) => {}
        }
        self.goal = goal;
    }
}

/// How many pods of the new revision are ready, and how many are to be in the end. Without pods to
/// look at, the controller's counter of updated ones is all there is.
fn arrived(observed: &Observed) -> (u32, u32) {
    let counts = Counts::of(&observed.workload);
    let running = observed.revisions.running();
    let seen = running.and_then(|running| observed.count(running)).map(|count| count.ready);
    let arrived = seen.map_or_else(|| u32::try_from(counts.updated), u32::try_from);
    let released = counts.wanted - strategy::partition(&observed.workload).min(counts.wanted);
    (arrived.unwrap_or_default(), u32::try_from(released).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(notes: &[(u64, u32)], goal: u32, now: u64) -> Option<u64> {
        let mut tempo = Tempo::default();
        for (at, pods) in notes {
            tempo.note(*pods, goal, Duration::from_secs(*at));
        }
        tempo.left(Duration::from_secs(now)).map(|left| left.as_secs())
    }

    #[test]
    fn the_rest_takes_as_long_as_what_was_before_it() {
        for (notes, goal, now, expected) in [
            (&[(0_u64, 0_u32)] as &[(u64, u32)], 10, 5, None),
            (&[(0, 0), (5, 1)], 10, 5, None), // one move is no speed
            (&[(0, 0), (5, 1), (10, 2)], 10, 10, Some(40)),
            (&[(0, 0), (5, 1), (10, 2)], 10, 30, Some(20)), // time goes by
            (&[(0, 0), (5, 1), (10, 2)], 10, 50, None),     // overdue: nobody can tell
            (&[(2, 4), (8, 7)], 10, 8, Some(6)),            // found on its way, three at once
            (&[(0, 0), (4, 2), (5, 1), (6, 2)], 4, 6, Some(2)), // back and forth is no move
            (&[(0, 0), (4, 4)], 4, 4, None),                // all there
            (&[(0, 0), (4, 4)], 2, 4, None),                // scaled down meanwhile
        ] {
            assert_eq!(left(notes, goal, now), expected, "{notes:?} of {goal} at {now}");
        }
    }
}
