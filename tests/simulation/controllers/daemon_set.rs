//! DaemonSets beyond the recorded trace: budgets, surge, rollback, new and removed nodes, history.

use serde_json::{Value, json};
use simcluster::resource::{CONTROLLERREVISIONS, NODES, PODS};
use simcluster::rules::{Author, Part};
use simcluster::{Key, object};

use crate::simulation::controllers::lab::Lab;
use crate::simulation::controllers::trace_daemon_set::spoken;

fn unavailable(most: &Value) -> Value {
    json!({ "updateStrategy": { "type": "RollingUpdate", "rollingUpdate": { "maxUnavailable": most } } })
}

fn numbers(lab: &Lab) -> Vec<i64> {
    let mut numbers: Vec<i64> = lab.cluster.store(|store| {
        let all = store.list(&CONTROLLERREVISIONS, Some("default"));
        all.map(|(_, revision)| revision["revision"].as_i64().unwrap()).collect()
    });
    numbers.sort_unstable();
    numbers
}

/// Returns the maximum number of pods that were missing at a time.
fn most_missing(lab: &Lab, set: &Key, after: u64) -> i64 {
    let missing =
        lab.states(set, after, |set| set["status"]["numberUnavailable"].as_i64().unwrap_or(0).to_string());
    missing.iter().map(|text| text.parse::<i64>().unwrap()).max().unwrap()
}

#[test]
fn max_unavailable_is_kept() {
    for (most, missing) in [(json!(1), 1), (json!(2), 2), (json!("50%"), 2), (json!("100%"), 3)] {
        let mut lab = Lab::new();
        let agent = lab.daemon_set(&unavailable(&most));
        lab.settle();
        let before = lab.revision();
        lab.image(&agent, "app:2.0");
        lab.settle();
        assert_eq!(spoken(&lab.get(&agent)), "rolled out", "{most}");
        assert_eq!(most_missing(&lab, &agent, before), missing, "{most}");
    }
}

#[test]
fn a_surge_keeps_every_node_served() {
    let mut lab = Lab::new();
    let surge = json!({ "type": "RollingUpdate", "rollingUpdate": { "maxSurge": 1, "maxUnavailable": 0 } });
    let agent = lab.daemon_set(&json!({ "updateStrategy": surge }));
    lab.settle();
    let before = lab.revision();
    lab.image(&agent, "app:2.0");
    lab.settle();
    assert_eq!(spoken(&lab.get(&agent)), "rolled out");
    assert_eq!(most_missing(&lab, &agent, before), 0);
    assert!(lab.images().iter().all(|(_, image)| image == "app:2.0"));
}

/// A rollback from a broken release replaces the broken pod and restarts no other.
#[test]
fn a_rollback_restarts_only_what_was_updated() {
    let mut lab = Lab::new();
    let agent = lab.daemon_set(&json!({}));
    lab.settle();
    let before: Vec<String> = lab.images().into_iter().map(|(name, _)| name).collect();
    lab.image(&agent, "app:2.0-bad");
    lab.settle();
    assert_eq!(spoken(&lab.get(&agent)), "1 out of 3 updated");
    lab.image(&agent, "app:1.0");
    lab.settle();
    let after: Vec<String> = lab.images().into_iter().map(|(name, _)| name).collect();
    assert_eq!(before.iter().filter(|name| after.contains(name)).count(), 2);
    assert_eq!(numbers(&lab), [2, 3], "the first revision has come back");
}

#[test]
fn on_delete_changes_pods_that_die_only() {
    let mut lab = Lab::new();
    let agent = lab.daemon_set(&json!({ "updateStrategy": { "type": "OnDelete" } }));
    lab.settle();
    lab.image(&agent, "app:2.0");
    lab.settle();
    assert_eq!(lab.get(&agent)["status"].get("updatedNumberScheduled"), None);
    let (name, _) = lab.images().remove(0);
    lab.delete(&Key::new(&PODS, "default", &name), &json!({}));
    lab.settle();
    assert_eq!(lab.get(&agent)["status"]["updatedNumberScheduled"], 1);
}

#[test]
fn new_nodes_get_pods_and_unsuitable_ones_do_not() {
    let mut lab = Lab::new();
    let agent = lab.daemon_set(&json!({}));
    lab.settle();
    let ready = json!({ "conditions": [{ "type": "Ready", "status": "True" }] });
    let node = json!({ "metadata": { "name": "late", "labels": { "kubernetes.io/os": "linux" } }, "spec": {}, "status": ready });
    lab.create(&NODES, &node);
    lab.settle();
    assert_eq!(lab.get(&agent)["status"]["numberReady"], 4);
    let tainted = json!({ "spec": { "taints": [{ "key": "broken", "effect": "NoExecute" }] } });
    lab.patch(&Key::new(&NODES, "", "late"), &tainted);
    lab.settle();
    let status = lab.get(&agent)["status"].clone();
    assert_eq!((&status["desiredNumberScheduled"], &status["numberMisscheduled"]), (&json!(3), &json!(0)));
}

/// As with the real controller: such a pod continues to run, and is not created again after its deletion.
#[test]
fn a_node_with_a_new_taint_keeps_its_pod() {
    let mut lab = Lab::new();
    let agent = lab.daemon_set(&json!({ "updateStrategy": { "type": "OnDelete" } }));
    lab.settle();
    let tainted = json!({ "spec": { "taints": [{ "key": "spare", "effect": "NoSchedule" }] } });
    lab.patch(&Key::new(&NODES, "", "node-1"), &tainted);
    lab.settle();
    let counts = |lab: &Lab| {
        let status = lab.get(&agent)["status"].clone();
        ["desiredNumberScheduled", "currentNumberScheduled", "numberMisscheduled"]
            .map(|member| status[member].as_i64().unwrap_or_default())
    };
    assert_eq!((counts(&lab), lab.images().len()), ([2, 2, 1], 3));
    let pod = lab.cluster.store(|store| {
        let mut pods = store.list(&PODS, Some("default"));
        pods.find(|(_, pod)| pod["spec"]["nodeName"] == "node-1").map(|(key, _)| key.clone()).unwrap()
    });
    lab.delete(&pod, &json!({}));
    lab.settle();
    assert_eq!((counts(&lab), lab.images().len()), ([2, 2, 0], 2));
}

#[test]
fn a_kubelet_on_a_node_that_is_not_ready_does_nothing() {
    let mut lab = Lab::new();
    lab.cluster.store(|store| {
        let dead = json!([{ "type": "Ready", "status": "Unknown" }]);
        let node = Key::new(&NODES, "", "node-1");
        store
            .edit(&node, Part::Status, &Author::new("test"), |node| node["status"]["conditions"] = dead)
            .unwrap();
    });
    let agent = lab.daemon_set(&json!({}));
    lab.settle();
    assert_eq!(lab.get(&agent)["status"]["numberReady"], 2);
}

#[test]
fn history_keeps_the_limit_and_revisions_of_pods() {
    let mut lab = Lab::new();
    let agent = lab.daemon_set(&json!({ "revisionHistoryLimit": 1 }));
    for image in ["app:1.0", "app:2.0", "app:3.0", "app:4.0"] {
        lab.image(&agent, image);
        lab.settle();
    }
    assert_eq!(numbers(&lab), [3, 4]);
    let revisions = lab.cluster.store(|store| {
        let all = store.list(&CONTROLLERREVISIONS, Some("default"));
        all.map(|(_, revision)| Value::clone(revision)).collect::<Vec<_>>()
    });
    let generations = revisions.iter().map(|revision| {
        object::text(revision, &["metadata", "annotations", "deprecated.daemonset.template.generation"])
            .to_owned()
    });
    let mut generations: Vec<String> = generations.collect();
    generations.sort();
    assert_eq!(generations, ["3", "4"]);
}

/// Kubernetes' `TestDSCUpdatesPodLabelAfterDedupCurHistories`: of two equal revisions one stays, with all pods.
#[test]
fn equal_revisions_become_one_and_no_pod_restarts() {
    let mut lab = Lab::new();
    lab.daemon_set(&json!({}));
    lab.settle();
    let before = lab.images();
    let first = lab.cluster.store(|store| {
        let mut all = store.list(&CONTROLLERREVISIONS, Some("default"));
        all.next().map(|(_, revision)| Value::clone(revision)).unwrap()
    });
    let mut twin = first.clone();
    for server_owned in ["resourceVersion", "uid"] {
        object::metadata(&mut twin).remove(server_owned);
    }
    twin["metadata"]["name"] = "agent-twin".into();
    twin["metadata"]["labels"]["controller-revision-hash"] = "twin".into();
    twin["revision"] = 5.into();
    lab.create(&CONTROLLERREVISIONS, &twin);
    lab.settle();
    assert_eq!(numbers(&lab), [5]);
    assert_eq!(lab.images(), before);
    let hashes: Vec<String> = lab.cluster.store(|store| {
        let pods = store.list(&PODS, Some("default"));
        pods.map(|(_, pod)| object::text(pod, &["metadata", "labels", "controller-revision-hash"]).to_owned())
            .collect()
    });
    assert_eq!(hashes, ["twin"; 3]);
}
