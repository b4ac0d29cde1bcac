//! Reads revisions from ReplicaSets and ControllerRevisions, and verifies their hashes.

use super::revision_object::RevisionObject;
use super::template::Template;
use super::template::secrets_in;
use super::{CHANGE_CAUSE, Integrity, ReplicaSetCounts, Revision};
use crate::model::api::condition::Condition;
use crate::model::api::object::Object;
use crate::model::kind::controller_hash::DataHash;
use crate::model::kind::plan_fields::HOLD_ANNOTATION;
use crate::model::kind::{Kind, Workload};

impl Revision {
    /// Reads a revision from the object that stores it.
    #[must_use]
    pub fn read(kind: &dyn Kind, mut object: Object) -> Self {
        let store = kind.revisions();
        let data_hash = store.hashed_data(&object).map(DataHash::of); // before the template is taken out of the data
        let template = Template::from(object.take(store.template()));
        Self {
            number: store.number(&object),
            past_numbers: store.past_numbers(&object),
            hash: store.hash(&object).unwrap_or_default().to_owned(),
            created: object.created(),
            cause: object.annotation(CHANGE_CAUSE).filter(|cause| !cause.is_empty()).map(str::to_owned),
            name: object.name().to_owned(),
            uid: object.uid().to_owned(),
            owner_uid: object.controller().map(|owner| owner.uid.to_owned()).unwrap_or_default(),
            replica_set_counts: ReplicaSetCounts::read(&object),
            hold: object.annotation(HOLD_ANNOTATION).map(Into::into),
            refused: Condition::read(&object, "ReplicaFailure"),
            secrets: secrets_in(template.json()),
            data_hash,
            object: RevisionObject::of(&template),
            digest: template.into_digest(),
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
