//! The stable revision of a rollout: the one that served before it.

use std::cmp::Reverse;

use super::Observation;
use crate::model::revision::Revision;

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
