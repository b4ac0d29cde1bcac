//! StatefulSets: every revision is a ControllerRevision, whose full name is on the pods.

use crate::model::controller_hash::controller_hash;
use crate::model::object::Object;
use crate::model::revision::{Revision, Seal, controller_revision};

/// A StatefulSet.
#[derive(Clone, Debug, PartialEq)]
pub struct StatefulSet(pub(super) Object);

/// Where the controller keeps the hash of a revision's data.
const HASH: &str = "controller.kubernetes.io/hash";

impl StatefulSet {
    /// Reads a revision and verifies it: a StatefulSet's hash follows from the stored bytes alone.
    pub(super) fn revision(&self, object: Object) -> Revision {
        let seal = self.seal(&object);
        controller_revision(object, HASH, seal)
    }

    /// `status.currentRevision` while an update is under way.
    pub(super) fn stable_revision(&self) -> Option<&str> {
        let current = self.0.text("/status/currentRevision")?;
        (self.0.text("/status/updateRevision") != Some(current)).then_some(current)
    }

    /// The collision count that went into a hash is not kept with the revision, so every count up
    /// to the present one is tried.
    fn seal(&self, object: &Object) -> Seal {
        let (Some(data), Some(stored)) = (object.at("/data"), object.label(HASH)) else {
            return Seal::None;
        };
        let collisions = self.0.int("/status/collisionCount").unwrap_or_default().clamp(0, 100);
        if (0..=collisions).any(|count| controller_hash(data, count) == stored) {
            Seal::Verified
        } else {
            Seal::Broken { expected: controller_hash(data, 0) }
        }
    }
}
