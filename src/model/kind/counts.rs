//! The counters of a workload's controller.

/// The names of a kind's counters in `status`. One that is absent is 0, as in Go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counters {
    /// All pods; for a DaemonSet, the nodes that have one.
    pub total: &'static str,
    /// The updated pods.
    pub updated: &'static str,
    /// The ready pods.
    pub ready: &'static str,
    /// The available pods.
    pub available: &'static str,
    /// Whether the controller always writes `available`, zero included. An absent counter then means an
    /// API server that does not know it.
    pub writes_zero_available: bool,
}

impl Counters {
    /// The names in most kinds.
    pub(super) const REPLICAS: Self = Self {
        total: "replicas",
        updated: "updatedReplicas",
        ready: "readyReplicas",
        available: "availableReplicas",
        writes_zero_available: false,
    };

    /// The names in DaemonSets.
    pub(super) const NODES: Self = Self {
        total: "currentNumberScheduled",
        updated: "updatedNumberScheduled",
        ready: "numberReady",
        available: "numberAvailable",
        writes_zero_available: false,
    };
}

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
    /// Returns the number of outdated pods.
    #[must_use]
    pub fn outdated(&self) -> i64 {
        (self.total - self.updated).max(0)
    }
}
