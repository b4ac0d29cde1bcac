//! One batch: the pods that are released together, and how far they are.

use std::time::Duration;

/// One batch of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Which one, counted from 1.
    pub number: usize,
    /// Whether it is one pod that goes ahead of the others.
    pub is_canary: bool,
    /// How many places it releases.
    pub size: usize,
    /// What it releases, in the order of release; empty where a process before us began and ended it, because
    /// a plan keeps only the size of those.
    pub places: Vec<Place>,
    /// How far it is.
    pub stage: Stage,
}

/// Where one pod of the workload belongs: an ordinal of a StatefulSet, a node of a DaemonSet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The pod's name, or the node's.
    pub name: String,
    /// How far it is.
    pub state: PlaceState,
}

/// How far one place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceState {
    /// Its pod runs an old revision.
    Outdated,
    /// Its pod was taken down, or the new one is not available yet.
    Moving,
    /// Its pod runs the new revision and is available.
    Updated,
}

/// How far a batch is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Its turn has not come.
    Waiting,
    /// Its pods are being replaced.
    Updating,
    /// Its pods are available, and have to stay so.
    Soaking {
        /// For how long they have by now.
        healthy: Duration,
        /// For how long they must.
        of: Duration,
    },
    /// The check runs.
    Checking,
    /// It is over, and its pods were healthy for so long.
    Done {
        /// How long they were healthy.
        healthy: Duration,
    },
    /// It failed.
    Failed,
}
