//! StatefulSets beyond the recorded traces: order, revisions, partitions, history limits.

use serde_json::{Value, json};
use simcluster::resource::{CONTROLLERREVISIONS, PODS};
use simcluster::{Key, object};

use crate::simulation::controllers::lab::Lab;

fn pod(name: &str) -> Key {
    Key::new(&PODS, "default", name)
}

fn rolling(partition: i64) -> Value {
    json!({ "type": "RollingUpdate", "rollingUpdate": { "partition": partition } })
}

/// Number and image of every revision, lowest first.
fn revisions(lab: &Lab) -> Vec<(i64, String)> {
    let mut revisions: Vec<_> = lab.cluster.store(|store| {
        let all = store.list(&CONTROLLERREVISIONS, Some("default"));
        all.map(|(_, revision)| {
            let container = &revision["data"]["spec"]["template"]["spec"]["containers"][0];
            (revision["revision"].as_i64().unwrap(), object::text(container, &["image"]).to_owned())
        })
        .collect()
    });
    revisions.sort();
    revisions
}

fn images(lab: &Lab) -> Vec<String> {
    lab.images().into_iter().map(|(name, image)| format!("{name} {image}")).collect()
}

/// Returns the creations (`+`) and removals (`-`) of pods, in order.
fn comings_and_goings(lab: &Lab, after: u64) -> Vec<String> {
    lab.cluster.store(|store| {
        let changes = store.changes_after(after).unwrap().filter(|change| change.key.resource == &PODS);
        changes
            .filter_map(|change| match (&change.before, &change.after) {
                (None, Some(_)) => Some(format!("+{}", change.key.name)),
                (Some(_), None) => Some(format!("-{}", change.key.name)),
                _ => None,
            })
            .collect()
    })
}

#[test]
fn pods_are_created_and_deleted_in_order() {
    let mut lab = Lab::new();
    let db = lab.stateful_set(3, &json!({}));
    lab.settle();
    lab.patch(&db, &json!({ "spec": { "replicas": 1 } }));
    lab.settle();
    assert_eq!(comings_and_goings(&lab, 1), ["+db-0", "+db-1", "+db-2", "-db-2", "-db-1"]);
    let before = lab.revision();
    lab.patch(&db, &json!({ "spec": { "replicas": 3 } }));
    lab.settle();
    lab.image(&db, "app:2.0");
    lab.settle();
    let update = ["+db-1", "+db-2", "-db-2", "+db-2", "-db-1", "+db-1", "-db-0", "+db-0"];
    assert_eq!(comings_and_goings(&lab, before), update);
}

/// Parallel pods are created at the same time, and a broken one does not prevent the rollback of the others.
#[test]
fn parallel_pods_do_not_wait_for_each_other() {
    let mut lab = Lab::new();
    let db = lab.stateful_set(3, &json!({ "podManagementPolicy": "Parallel" }));
    lab.settle();
    let states = lab.states(&db, 1, |set| set["status"]["replicas"].to_string());
    assert!(!states.contains(&"1".to_owned()), "{states:?}");
    lab.image(&db, "app:2.0-crash");
    lab.run_for(60);
    assert_eq!(images(&lab), ["db-0 app:1.0", "db-1 app:1.0", "db-2 app:2.0-crash"]);
    lab.image(&db, "app:1.0");
    lab.settle();
    assert_eq!(images(&lab), ["db-0 app:1.0", "db-1 app:1.0", "db-2 app:1.0"]);
}

#[test]
fn ordinals_and_partition_count_from_the_start_ordinal() {
    let mut lab = Lab::new();
    let db = lab.stateful_set(3, &json!({ "ordinals": { "start": 5 }, "updateStrategy": rolling(1) }));
    lab.settle();
    lab.image(&db, "app:2.0");
    lab.settle();
    assert_eq!(images(&lab), ["db-5 app:1.0", "db-6 app:2.0", "db-7 app:2.0"]);
    let labels = &lab.get(&pod("db-6"))["metadata"]["labels"];
    assert_eq!(labels["apps.kubernetes.io/pod-index"], "6");
    assert_eq!(labels["statefulset.kubernetes.io/pod-name"], "db-6");
}

#[test]
fn a_pod_below_the_partition_comes_back_on_the_current_revision() {
    let mut lab = Lab::new();
    let db = lab.stateful_set(3, &json!({ "updateStrategy": rolling(2) }));
    lab.settle();
    lab.image(&db, "app:2.0");
    lab.settle();
    for name in ["db-1", "db-2"] {
        lab.delete(&pod(name));
        lab.settle();
    }
    assert_eq!(images(&lab), ["db-0 app:1.0", "db-1 app:1.0", "db-2 app:2.0"]);
    lab.patch(&db, &json!({ "spec": { "updateStrategy": rolling(3) } }));
    lab.settle();
    assert_eq!(images(&lab)[2], "db-2 app:2.0", "raising the partition takes nothing back");
    lab.delete(&pod("db-2"));
    lab.settle();
    assert_eq!(images(&lab)[2], "db-2 app:1.0", "but deleting the pod does");
    lab.patch(&db, &json!({ "spec": { "replicas": 5 } }));
    lab.settle();
    assert_eq!(images(&lab)[3..], ["db-3 app:2.0", "db-4 app:2.0"], "a scale-up beyond the partition is new");
}

/// The cases of Kubernetes' `TestStatefulSetControl_getSetRevisions`.
#[test]
fn a_restored_template_is_renumbered() {
    let mut lab = Lab::new();
    let db = lab.stateful_set(1, &json!({}));
    for image in ["app:1.0", "app:2.0", "app:3.0", "app:2.0"] {
        lab.image(&db, image);
        lab.settle();
        lab.settle();
    }
    let wanted = [(1, "app:1.0"), (3, "app:3.0"), (4, "app:2.0")];
    assert_eq!(revisions(&lab), wanted.map(|(number, image)| (number, image.to_owned())));
}

#[test]
fn history_keeps_the_limit_and_revisions_in_use() {
    for (limit, kept) in [(0, 1), (2, 3), (-1, 6)] {
        let mut lab = Lab::new();
        let db = lab.stateful_set(1, &json!({ "revisionHistoryLimit": limit }));
        for image in ["app:1.0", "app:2.0", "app:3.0", "app:4.0", "app:5.0", "app:6.0"] {
            lab.image(&db, image);
            lab.settle();
        }
        assert_eq!(revisions(&lab).len(), kept, "limit {limit}");
    }
}

/// The names of the recorded revisions follow from their data, byte for byte.
#[test]
fn revisions_have_kubernetes_names() {
    let recorded = harness::snapshot("shop");
    let items = object::list(&recorded, &["items"]);
    let live = items.iter().find(|item| item["kind"] == "StatefulSet").unwrap();
    let theirs = object::text(live, &["status", "updateRevision"]);
    let mut lab = Lab::new();
    let mut copy = json!({ "metadata": { "name": object::name(live) }, "spec": live["spec"] });
    copy["spec"]["replicas"] = 0.into();
    let db = lab.create(&simcluster::resource::STATEFULSETS, &copy);
    lab.settle();
    assert_eq!(object::text(&lab.get(&db), &["status", "updateRevision"]), theirs);
}

/// With the feature gate, an update deletes `maxUnavailable` pods at a time, minus those that are unavailable.
#[test]
fn several_pods_are_replaced_together_with_the_feature_gate() {
    let mut lab = Lab::gated();
    let strategy =
        json!({ "type": "RollingUpdate", "rollingUpdate": { "partition": 1, "maxUnavailable": 2 } });
    let spec = json!({ "podManagementPolicy": "Parallel", "updateStrategy": strategy });
    let db = lab.stateful_set(5, &spec);
    lab.settle();
    let before = lab.revision();
    lab.image(&db, "app:2.0");
    lab.settle();
    let update = ["-db-3", "-db-4", "+db-3", "+db-4", "-db-1", "-db-2", "+db-1", "+db-2"];
    let mut seen = comings_and_goings(&lab, before);
    seen.chunks_mut(2).for_each(<[String]>::sort);
    assert_eq!(seen, update);
    assert_eq!(images(&lab)[0], "db-0 app:1.0");
}
