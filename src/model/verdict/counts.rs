//! The pods of a workload as its controller counts them.

use crate::model::workload::Workload;

/// The counters of `status`, by one name for all kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// How many pods are wanted.
    pub wanted: i64,
    /// How many there are; for a DaemonSet, on how many nodes.
    pub total: i64,
    /// How many of them are of the revision being rolled out.
    pub updated: i64,
    /// How many of them are ready.
    pub ready: i64,
    /// How many of them were ready for `minReadySeconds`; none where the controller does not count it.
    pub available: Option<i64>,
}

impl Counts {
    /// The counters of a workload. One that is absent is 0, as Go has it.
    #[must_use]
    pub fn of(workload: &Workload) -> Self {
        let [total, updated, ready, available] = match workload {
            Workload::Deployment(_) | Workload::StatefulSet(_) => {
                ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas"]
            }
            Workload::DaemonSet(_) => {
                ["currentNumberScheduled", "updatedNumberScheduled", "numberReady", "numberAvailable"]
            }
        };
        let counter = |name: &str| workload.object().int(&format!("/status/{name}")).map(in_range);
        let count = |name: &str| counter(name).unwrap_or_default();
        Self {
            wanted: in_range(workload.wanted()),
            total: count(total),
            updated: count(updated),
            ready: count(ready),
            available: match workload {
                // Always written since the API has it, zero included.
                Workload::StatefulSet(_) => counter(available),
                Workload::Deployment(_) | Workload::DaemonSet(_) => Some(count(available)),
            },
        }
    }

    /// How many pods are of another revision than the one being rolled out.
    #[must_use]
    pub fn outdated(&self) -> i64 {
        (self.total - self.updated).max(0)
    }
}

/// The API's counters are of 32 bits and not negative; what is not so cannot have come from one.
fn in_range(count: i64) -> i64 {
    count.clamp(0, i64::from(i32::MAX))
}
