//! The number and the name that a controller will give to the revision of a template.

use super::{Revision, Revisions};
use crate::model::kind::Workload;

/// Returns the number of the revision with the live template after the controller observed it. `existing` is that
/// revision if it exists. Every controller numbers it above all others (`getNewReplicaSet`,
/// `getStatefulSetRevisions` and `constructHistory` of the DaemonSet controller).
#[must_use]
pub fn number(revisions: &Revisions, existing: Option<&Revision>) -> i64 {
    let is_other = |revision: &&Revision| existing.is_none_or(|existing| existing.name != revision.name);
    let others = revisions.iter().filter(is_other).filter_map(|revision| revision.number.known());
    let last = others.max().unwrap_or_default();
    let own = existing.and_then(|existing| existing.number.known());
    own.filter(|own| *own > last).unwrap_or(last.saturating_add(1))
}

/// Returns the name of a new revision with the live template of a workload as the API server stores it. None for
/// kinds whose hash depends on the Go structs of their controller (Deployments, DaemonSets).
#[must_use]
pub fn name(workload: &Workload) -> Option<String> {
    workload.kind().revisions().name_of_new(workload.object())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::model::api::object::Object;

    /// The recorded StatefulSets, whose controller wrote the name of the revision into the status.
    #[test]
    fn the_name_is_what_the_controller_recorded() {
        let mut checked = 0;
        for snapshot in [
            include_str!("../../../tests/data/shop/snapshot.json"),
            include_str!("../../../tests/data/broken/snapshot.json"),
            include_str!("../../../tests/data/many/snapshot.json"),
        ] {
            let snapshot: Value = serde_json::from_str(snapshot).unwrap();
            for item in
                snapshot["items"].as_array().unwrap().iter().filter(|item| item["kind"] == "StatefulSet")
            {
                let workload = Workload::of(Object::read(item.clone()).unwrap()).unwrap();
                assert_eq!(name(&workload).as_deref(), item["status"]["updateRevision"].as_str());
                checked += 1;
            }
        }
        assert_eq!(checked, 5);
    }

    #[test]
    fn only_verifiable_kinds_have_a_foretold_name() {
        for kind in ["Deployment", "DaemonSet"] {
            let object = json!({"kind": kind, "metadata": {"name": "w"}, "spec": {"template": {"spec": {}}}});
            assert_eq!(name(&Workload::of(Object::read(object).unwrap()).unwrap()), None);
        }
    }

    #[test]
    fn a_revision_is_numbered_above_all_others() {
        let object = json!({"kind": "Deployment", "metadata": {"name": "w", "uid": "u"}});
        let workload = Workload::of(Object::read(object).unwrap()).unwrap();
        let replica_sets = |numbers: &[i64]| {
            let objects = numbers.iter().enumerate().map(|(index, number)| {
                let object = json!({"kind": "ReplicaSet", "metadata": {"name": format!("w-{index}"),
                    "annotations": {"deployment.kubernetes.io/revision": number.to_string()},
                    "ownerReferences": [{"controller": true, "uid": "u"}]}});
                Object::read(object).unwrap()
            });
            Revisions::of(&workload, objects)
        };
        for (numbers, existing, expected) in [
            (&[][..], None, 1),
            (&[1, 3, 4], None, 5),
            (&[1, 3, 4], Some(1), 5),
            (&[1, 3, 4], Some(4), 4),
            (&[7], Some(7), 7),
            (&[4, 4], Some(4), 5),
        ] {
            let revisions = replica_sets(numbers);
            let existing = revisions.iter().find(|revision| revision.number.known() == existing);
            assert_eq!(number(&revisions, existing), expected, "{numbers:?}");
        }
    }
}
