//! The recorded traces of StatefulSets, as lines of kubectl.

use serde_json::{Value, json};
use simcluster::object;

use crate::simulation::controllers::lab::Lab;

/// Returns the line of `kubectl rollout status` for a `StatefulSet` with a `rollingUpdate`.
fn spoken(set: &Value) -> String {
    let count = |path: &[&str]| object::at(set, path).and_then(Value::as_i64).unwrap_or(0);
    let (wanted, ready, updated) = (
        count(&["spec", "replicas"]),
        count(&["status", "readyReplicas"]),
        count(&["status", "updatedReplicas"]),
    );
    let new = wanted - count(&["spec", "updateStrategy", "rollingUpdate", "partition"]);
    if count(&["metadata", "generation"]) > count(&["status", "observedGeneration"]) {
        "to be observed".to_owned()
    } else if ready < wanted {
        format!("waiting for {} pods to be ready", wanted - ready)
    } else if updated < new {
        format!("{updated} out of {new}")
    } else {
        format!("complete: {updated} new pods")
    }
}

fn partition(lab: &Lab, db: &simcluster::Key, partition: i64) {
    lab.patch(db, &json!({ "spec": { "updateStrategy": { "rollingUpdate": { "partition": partition } } } }));
}

fn revisions(set: &Value) -> (&str, &str) {
    (object::text(set, &["status", "currentRevision"]), object::text(set, &["status", "updateRevision"]))
}

#[test]
fn canary() {
    let mut lab = Lab::new();
    let db = lab.stateful_set(
        3,
        &json!({ "updateStrategy": { "type": "RollingUpdate", "rollingUpdate": { "partition": 2 } } }),
    );
    lab.settle();
    let mut before = lab.revision();
    lab.image(&db, "app:2.0");
    lab.settle();
    let seen = lab.states(&db, before, spoken);
    assert_eq!(
        seen,
        ["to be observed", "0 out of 1", "waiting for 1 pods to be ready", "complete: 1 new pods"],
        "{seen:#?}"
    );
    for (to, expected) in [
        (1, vec!["to be observed", "1 out of 2", "waiting for 1 pods to be ready", "complete: 2 new pods"]),
        (0, vec!["to be observed", "2 out of 3", "waiting for 1 pods to be ready", "complete: 3 new pods"]),
    ] {
        let set = lab.get(&db);
        let (current, update) = revisions(&set);
        assert_ne!(current, update, "only the end makes the update current");
        before = lab.revision();
        partition(&lab, &db, to);
        lab.settle();
        assert_eq!(lab.states(&db, before, spoken), expected);
    }
    let set = lab.get(&db);
    assert_eq!(revisions(&set).0, revisions(&set).1);
}

/// The undo is observed, and the broken pod blocks it until the pod is deleted.
#[test]
fn broken_pod_after_undo() {
    let mut lab = Lab::new();
    let db = lab.stateful_set(3, &json!({}));
    lab.settle();
    lab.image(&db, "app:2.0-bad");
    lab.settle();
    lab.image(&db, "app:1.0");
    lab.settle();
    let set = lab.get(&db);
    let (current, update) = revisions(&set);
    assert_eq!(current, update);
    let status = &set["status"];
    assert_eq!(
        (
            &status["currentReplicas"],
            &status["readyReplicas"],
            &status["updatedReplicas"],
            &status["replicas"]
        ),
        (&json!(2), &json!(2), &json!(2), &json!(3))
    );
    let broken = simcluster::Key::new(&simcluster::resource::PODS, "default", "db-2");
    assert_ne!(object::text(&lab.get(&broken), &["metadata", "labels", "controller-revision-hash"]), update);
    lab.delete(&broken, &json!({}));
    lab.settle();
    assert_eq!(spoken(&lab.get(&db)), "complete: 3 new pods");
    assert!(lab.images().iter().all(|(_, image)| image == "app:1.0"));
}
