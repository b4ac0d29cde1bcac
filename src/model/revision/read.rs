//! Reads revisions from ReplicaSets and ControllerRevisions, and verifies their hashes.

use super::controller_hash::DataHash;
use super::{Integrity, Revision, RevisionNumber};
use crate::model::api::object::Object;
use crate::model::workload::KindSpec;
use crate::model::workload::kind::RevisionStore;
use crate::model::workload::plan_fields::HOLD_ANNOTATION;
use crate::model::workload::{REVISION, Workload};

/// The numbers a ReplicaSet had before rollbacks renumbered it, oldest first, separated by commas.
const REVISION_HISTORY: &str = "deployment.kubernetes.io/revision-history";

impl Revision {
    /// Reads a revision from its ReplicaSet or ControllerRevision.
    #[must_use]
    pub fn read(kind: &KindSpec, object: Object) -> Self {
        match kind.revisions {
            RevisionStore::ReplicaSets => replica_set(object),
            RevisionStore::ControllerRevisions { hash_label, is_verifiable, .. } => {
                let hash = object.label(hash_label).map(str::to_owned);
                let data = hash.as_ref().and_then(|_| object.at("/data")).filter(|_| is_verifiable);
                Self { data_hash: data.map(DataHash::of), ..controller_revision(object, hash) }
            }
        }
    }

    /// Compares the stored data with the hash.
    ///
    /// The revision does not store its collision count, so every count up to the current one is
    /// tried.
    #[must_use]
    pub fn integrity(&self, workload: &Workload) -> Integrity {
        let Some(data) = self.data_hash else { return Integrity::Unverifiable };
        let collisions = workload.object().int("/status/collisionCount").unwrap_or_default().clamp(0, 100);
        if (0..=collisions).any(|count| data.with(count) == self.hash) {
            Integrity::Verified
        } else {
            Integrity::Altered { expected: data.with(0) }
        }
    }
}

fn replica_set(object: Object) -> Revision {
    let number = object.annotation(REVISION).map_or(RevisionNumber::Missing, RevisionNumber::read);
    let past_numbers = object.annotation(REVISION_HISTORY).unwrap_or_default();
    let past_numbers = past_numbers.split(',').filter_map(|number| number.trim().parse().ok()).collect();
    let hash = object.label("pod-template-hash").unwrap_or_default().to_owned();
    let hold = object.annotation(HOLD_ANNOTATION).map(Into::into);
    Revision { past_numbers, hold, ..Revision::new(number, hash, object, "/spec/template") }
}

fn controller_revision(object: Object, hash: Option<String>) -> Revision {
    let number = match object.at("/revision") {
        None => RevisionNumber::Missing,
        Some(value) => value
            .as_i64()
            .map_or_else(|| RevisionNumber::Unreadable(value.to_string()), RevisionNumber::Known),
    };
    Revision::new(number, hash.unwrap_or_default(), object, "/data/spec/template")
}
