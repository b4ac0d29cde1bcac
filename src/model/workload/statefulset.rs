//! StatefulSets: every revision is a ControllerRevision, whose full name is on the pods.

use crate::model::controller_hash::DataHash;
use crate::model::object::Object;
use crate::model::revision::{Revision, Seal, controller_revision};

/// A StatefulSet.
#[derive(Clone, Debug, PartialEq)]
pub struct StatefulSet(pub(super) Object);

/// Where the controller keeps the hash of a revision's data.
const HASH: &str = "controller.kubernetes.io/hash";

/// Reads a revision, and what verifies it: a StatefulSet's hash follows from the stored bytes alone.
pub(super) fn revision(object: &Object) -> Revision {
    let sealed = object.label(HASH).and_then(|_| object.at("/data")).map(DataHash::of);
    controller_revision(object, HASH).sealed_by(sealed)
}

impl StatefulSet {
    /// `status.currentRevision` while an update is under way.
    pub(super) fn stable_revision(&self) -> Option<&str> {
        let current = self.0.text("/status/currentRevision")?;
        (self.0.text("/status/updateRevision") != Some(current)).then_some(current)
    }

    /// The collision count that went into a hash is not kept with the revision, so every count up
    /// to the present one is tried.
    pub(super) fn seal(&self, revision: &Revision) -> Seal {
        let Some(data) = revision.sealed else { return Seal::None };
        let collisions = self.0.int("/status/collisionCount").unwrap_or_default().clamp(0, 100);
        if (0..=collisions).any(|count| data.with(count) == revision.hash) {
            Seal::Verified
        } else {
            Seal::Broken { expected: data.with(0) }
        }
    }
}
