//! What serves while a rollout is not complete.

use super::{Observation, PodCount};
use crate::model::kind::counts::Counts;
use crate::model::kind::verdict::RolloutState;

/// The available pods of a workload, and the revisions whose pods are ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Serving {
    /// The wanted pods.
    pub wanted: i64,
    /// The available pods; the ready ones if the controller does not count the available ones.
    pub available: i64,
    /// The labels of the revisions that have ready pods, in ascending order, and how many pods.
    pub ready: Vec<(String, usize)>,
}

impl Serving {
    /// Counts what serves.
    #[must_use]
    pub fn of(observation: &Observation) -> Self {
        let counts = Counts::of(&observation.workload);
        let count = observation.pod_counts();
        let ready = |revision| count(revision).unwrap_or_else(|| PodCount::of_replica_set(revision)).ready;
        let ready = observation.revisions.iter().map(|revision| (revision.label(), ready(revision)));
        Self {
            wanted: counts.wanted,
            available: counts.available.unwrap_or(counts.ready),
            ready: ready.filter(|(_, ready)| *ready > 0).collect(),
        }
    }
}

/// Whether pods are wanted and none is available or ready. Ready pods serve, also while a hold of `step` keeps them from
/// counting as available. The first revision of a workload has not served before, so
/// this is an outage only after its rollout failed.
#[must_use]
pub fn is_outage(observation: &Observation, state: RolloutState) -> bool {
    let has_served = observation.revisions.len() > 1 || state == RolloutState::Failed;
    let counts = Counts::of(&observation.workload);
    has_served && counts.wanted > 0 && counts.available.unwrap_or_default() == 0 && counts.ready == 0
}
