//! What serves while a rollout is not complete, and which revision served before it.

use std::cmp::Reverse;

use super::Observation;
use crate::model::kind::verdict::{Counts, RolloutState};
use crate::model::revision::Revision;

/// Returns the labels of the revisions that have ready pods, in ascending order, and how many pods.
#[must_use]
pub fn ready_by_revision(observation: &Observation) -> Vec<(String, usize)> {
    let counted = observation.pod_counts_or_status();
    let ready = observation.revisions.iter().map(|revision| (revision.label(), counted(revision).ready));
    ready.filter(|(_, ready)| *ready > 0).collect()
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

impl Observation {
    /// Returns the stable revision: the one that served before the rollout began, never one with the live
    /// template.
    ///
    /// It is the revision that the controller reports, or else the one with the most ready pods; none if two have
    /// equally many, because a write must not depend on a guess.
    #[must_use]
    pub fn stable(&self) -> Option<&Revision> {
        let counted = self.pod_counts_or_status();
        self.stable_by(|revision| counted(revision).ready)
    }

    /// Returns the stable revision of a rollout that has just begun. If no other revision has a ready pod, ready
    /// terminating pods count too: with `Recreate`, only they are left.
    #[must_use]
    pub fn stable_at_start(&self) -> Option<&Revision> {
        let counted = self.pod_counts_or_status();
        if self.replaced_revisions().any(|revision| counted(revision).ready > 0) {
            return self.stable();
        }
        self.stable_by(|revision| self.pods_of(revision).filter(|pod| pod.ready).count())
    }

    /// Returns why a rollout that has just begun has no stable revision, as a fragment.
    #[must_use]
    pub fn why_nothing_is_stable(&self) -> &'static str {
        let counted = self.pod_counts_or_status();
        if self.replaced_revisions().next().is_none() {
            "it has no other revision"
        } else if self.workload.recorded_stable_revision().is_some() {
            "the stable revision is the current one"
        } else if self.replaced_revisions().any(|revision| counted(revision).ready > 0) {
            "several other revisions have equally many ready pods"
        } else {
            "no other revision has a ready pod"
        }
    }

    fn stable_by(&self, ready: impl Fn(&Revision) -> usize) -> Option<&Revision> {
        if let Some(name) = self.workload.recorded_stable_revision() {
            return self.replaced_revisions().find(|revision| revision.name == name);
        }
        let counted = self.replaced_revisions().map(|revision| (ready(revision), revision));
        let mut counted: Vec<_> = counted.filter(|(ready, _)| *ready > 0).collect();
        counted.sort_by_key(|(ready, _)| Reverse(*ready));
        match counted.as_slice() {
            [(most, _), (next, _), ..] if most == next => None,
            [(_, revision), ..] => Some(*revision),
            [] => None,
        }
    }

    /// Returns the revisions whose template is not the live one.
    fn replaced_revisions(&self) -> impl Iterator<Item = &Revision> {
        let live = self.revisions.current().map(|current| current.digest);
        self.revisions.iter().filter(move |revision| Some(revision.digest) != live)
    }
}
