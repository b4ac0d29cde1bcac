//! Whether anything moves.

use std::time::Duration;

use crate::model::verdict::Counts;
use crate::model::workload::Workload;

/// How far a rollout has got, and when it last got further.
///
/// A crash loop makes pods ready and unready for ever, and the Deployment controller takes each of
/// these for progress. So only what is further than ever before counts here.
#[derive(Debug, Default)]
pub(in crate::model) struct Pace {
    generation: i64,
    furthest: Option<Furthest>,
    moved: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Furthest {
    updated: i64,
    outdated: i64,
    ready: i64,
    available: i64,
}

impl Pace {
    /// Takes note of how far it is now.
    pub(in crate::model) fn take(&mut self, workload: &Workload, now: Duration) {
        let counts = Counts::of(workload);
        let here = Furthest {
            updated: counts.updated,
            outdated: counts.outdated(),
            ready: counts.ready,
            available: counts.available.unwrap_or_default(),
        };
        let generation = workload.object().generation();
        let before = self.furthest.filter(|_| generation == self.generation);
        let furthest = before.map_or(here, |before| before.and(here));
        if before != Some(furthest) {
            self.moved = now;
        }
        (self.generation, self.furthest) = (generation, Some(furthest));
    }

    /// When it last got further, since following began.
    pub(in crate::model) fn moved(&self) -> Duration {
        self.moved
    }
}

impl Furthest {
    fn and(self, here: Self) -> Self {
        Self {
            updated: self.updated.max(here.updated),
            outdated: self.outdated.min(here.outdated),
            ready: self.ready.max(here.ready),
            available: self.available.max(here.available),
        }
    }
}
