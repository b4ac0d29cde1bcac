//! Measures when a rollout last progressed.

use std::time::Duration;

use crate::model::workload::Workload;
use crate::model::workload::counts::Counts;

/// The best counters of a rollout so far, and when they last improved.
///
/// A crash loop makes pods ready and unready again, and the Deployment controller counts each
/// change as progress. Here only a new best value counts.
#[derive(Debug, Default)]
pub(in crate::model) struct ProgressClock {
    generation: i64,
    furthest: Option<Furthest>,
    last_progress: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Furthest {
    updated: i64,
    outdated: i64,
    ready: i64,
    available: i64,
}

impl ProgressClock {
    /// Records the counters of one observation.
    pub(in crate::model) fn record(&mut self, workload: &Workload, now: Duration) {
        let counts = Counts::of(workload);
        let here = Furthest {
            updated: counts.updated,
            outdated: counts.outdated(),
            ready: counts.ready,
            available: counts.available.unwrap_or_default(),
        };
        let generation = workload.object().generation();
        let before = self.furthest.filter(|_| generation == self.generation);
        let furthest = before.map_or(here, |before| before.or_further(here));
        if before != Some(furthest) {
            self.last_progress = now;
        }
        (self.generation, self.furthest) = (generation, Some(furthest));
    }

    /// Returns when the counters last improved, counted from the start of the follower.
    pub(in crate::model) fn last_progress(&self) -> Duration {
        self.last_progress
    }
}

impl Furthest {
    /// Returns the best value of each counter.
    fn or_further(self, here: Self) -> Self {
        Self {
            updated: self.updated.max(here.updated),
            outdated: self.outdated.min(here.outdated),
            ready: self.ready.max(here.ready),
            available: self.available.max(here.available),
        }
    }
}
