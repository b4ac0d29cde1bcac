//! The counters of a workload's controller.

use super::{Workload, strategy};

/// The counters of `status`, under the same names for all kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The wanted pods.
    pub wanted: i64,
    /// All pods; for a DaemonSet, the nodes that have one.
    pub total: i64,
    /// How many pods the rollout updates: all wanted pods but those that a partition keeps.
    pub released: i64,
    /// The updated pods.
    pub updated: i64,
    /// The ready pods.
    pub ready: i64,
    /// The available pods; none if the controller does not count them.
    pub available: Option<i64>,
}

impl Counts {
    /// Reads the counters of a workload. An absent counter is 0, as in Go.
    #[must_use]
    pub fn of(workload: &Workload) -> Self {
        let names = workload.kind().counters();
        let counter = |name: &str| workload.object().int(&format!("/status/{name}")).map(in_range);
        let count = |name: &str| counter(name).unwrap_or_default();
        let wanted = workload.wanted();
        Self {
            wanted,
            released: (wanted - strategy::partition(workload)).max(0),
            total: count(names.total),
            updated: count(names.updated),
            ready: count(names.ready),
            available: counter(names.available).or((!names.writes_zero_available).then_some(0)),
        }
    }

    /// Returns the number of outdated pods.
    #[must_use]
    pub fn outdated(&self) -> i64 {
        (self.total - self.updated).max(0)
    }
}

/// The API's counters are non-negative 32-bit integers. Values from snapshots are limited to that.
fn in_range(count: i64) -> i64 {
    count.clamp(0, i64::from(i32::MAX))
}
