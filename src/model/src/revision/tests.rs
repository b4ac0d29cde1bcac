use super::*;
use crate::kind::revision_store::DataHash;
use serde_json::json;

/// After a collision the controller hashes the data again, together with the number of collisions.
#[test]
fn a_hash_is_verified_with_each_number_of_collisions() {
    let data = json!({"spec": {"template": {"$patch": "replace"}}});
    let integrity = |hashed_with, counted: i64| {
        let set =
            json!({"kind": "StatefulSet", "metadata": {"name": "db"}, "status": {"collisionCount": counted}});
        let workload = Workload::of_json(&set).unwrap();
        let labels = json!({"controller.kubernetes.io/hash": DataHash::of(&data).with(hashed_with)});
        let metadata = json!({"name": "db-1", "labels": labels});
        let object = json!({"kind": "ControllerRevision", "metadata": metadata, "data": data});
        Revision::read(workload.kind(), &Object::read(object).unwrap()).integrity(&workload)
    };
    let altered = Integrity::Altered { expected: DataHash::of(&data).with(0) };
    for (hashed_with, counted, expected) in [
        (0, 0, &Integrity::Verified),
        (0, 1, &Integrity::Verified),
        (1, 1, &Integrity::Verified),
        (1, 0, &altered),
        (2, 1, &altered),
    ] {
        assert_eq!(integrity(hashed_with, counted), *expected, "{hashed_with} of {counted}");
    }
}

fn template(image: &str) -> Value {
    json!({"spec": {"containers": [{"name": "c", "image": image}]}})
}

fn workload(kind: &str, live: &str) -> Workload {
    let object =
        json!({"kind": kind, "metadata": {"name": "w", "uid": "u"}, "spec": {"template": template(live)}});
    Workload::of(Object::read(object).unwrap()).unwrap()
}

/// Revisions by number, creation second and image, named `r0`, `r1` and so on.
fn revisions(kind: &str, live: &str, kept: &[(i64, i64, &str)]) -> Revisions {
    let objects = kept.iter().enumerate().map(|(index, (number, second, image))| {
        let object = json!({
            "kind": "ReplicaSet", "revision": number, "data": {"spec": {"template": template(image)}},
            "spec": {"template": template(image)},
            "metadata": {
                "name": format!("r{index}"),
                "creationTimestamp": format!("2026-11-20T13:00:{second:02}Z"),
                "annotations": {"deployment.kubernetes.io/revision": number.to_string()},
                "ownerReferences": [{"controller": true, "uid": "u"}],
            },
        });
        Object::read(object).unwrap()
    });
    Revisions::of(&workload(kind, live), objects)
}

fn names(revisions: &Revisions) -> [Option<&str>; 2] {
    [revisions.current(), revisions.current_or_newest()]
        .map(|revision| revision.map(|revision| revision.name.as_str()))
}

#[test]
fn the_current_revision_has_the_live_template() {
    let kept = [(1, 1, "x:1"), (3, 3, "x:3"), (4, 2, "x:2")];
    for kind in ["Deployment", "DaemonSet", "StatefulSet"] {
        for (live, expected) in [
            ("x:2", [Some("r2"), Some("r2")]),
            ("x:3", [Some("r1"), Some("r1")]),
            ("x:1", [Some("r0"), Some("r0")]),
            // Changed while paused, or not observed yet: the pods run the newest revision.
            ("x:9", [None, Some("r2")]),
        ] {
            assert_eq!(names(&revisions(kind, live, &kept)), expected, "{kind} {live}");
        }
        assert_eq!(names(&revisions(kind, "x:1", &[])), [None; 2]);
    }
}

#[test]
fn of_equal_templates_a_deployment_uses_the_oldest_and_the_others_the_newest() {
    let kept = [(1, 5, "x:1"), (2, 2, "x:1"), (3, 3, "x:1")];
    assert_eq!(names(&revisions("Deployment", "x:1", &kept))[0], Some("r1"));
    assert_eq!(names(&revisions("StatefulSet", "x:1", &kept))[0], Some("r2"));
}

#[test]
fn revisions_of_other_owners_are_ignored() {
    let stranger = json!({"kind": "ReplicaSet", "metadata": {"name": "x", "ownerReferences": [{"controller": true, "uid": "other"}]}});
    let orphan = json!({"kind": "ReplicaSet", "metadata": {"name": "y"}});
    let objects = [stranger, orphan].map(|object| Object::read(object).unwrap());
    assert!(Revisions::of(&workload("Deployment", "x"), objects).is_empty());
}

/// The recorded StatefulSets, whose controller wrote the name of the revision into the status.
#[test]
fn the_name_is_what_the_controller_recorded() {
    let mut checked = 0;
    for snapshot in [
        include_str!("../../../../tests/data/shop/snapshot.json"),
        include_str!("../../../../tests/data/broken/snapshot.json"),
        include_str!("../../../../tests/data/many/snapshot.json"),
    ] {
        let snapshot: Value = serde_json::from_str(snapshot).unwrap();
        for item in snapshot["items"].as_array().unwrap().iter().filter(|item| item["kind"] == "StatefulSet")
        {
            let workload = Workload::of(Object::read(item.clone()).unwrap()).unwrap();
            assert_eq!(
                workload.name_of_next_revision().as_deref(),
                item["status"]["updateRevision"].as_str()
            );
            checked += 1;
        }
    }
    assert_eq!(checked, 5);
}

#[test]
fn only_verifiable_kinds_have_a_foretold_name() {
    for kind in ["Deployment", "DaemonSet"] {
        let object = json!({"kind": kind, "metadata": {"name": "w"}, "spec": {"template": {"spec": {}}}});
        assert_eq!(Workload::of(Object::read(object).unwrap()).unwrap().name_of_next_revision(), None);
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
        assert_eq!(revisions.number_of_next(existing), expected, "{numbers:?}");
    }
}
