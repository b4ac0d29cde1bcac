//! DaemonSets: the recorded trace as lines of kubectl, budgets, surge, tainted nodes, history.

use serde_json::{Value, json};
use simcluster::resource::{CONTROLLERREVISIONS, NODES, PODS};
use simcluster::{Key, object};

use crate::simulation::controllers::lab::Lab;

const FINISHING: &str = "Waiting for daemon set \"agent\" rollout to finish:";

/// Returns the line of `kubectl rollout status`.
fn line(set: &Value) -> String {
    harness::kubectl_status(set).0
}

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
fn one_node_after_the_other() {
    let mut lab = Lab::new();
    let agent = lab.daemon_set(&json!({}));
    lab.settle();
    let before = lab.revision();
    lab.image(&agent, "app:2.0");
    lab.settle();
    let states = lab.states(&agent, before, line);
    let expected = [
        "Waiting for daemon set spec update to be observed...".to_owned(),
        format!("{FINISHING} 0 out of 3 new pods have been updated..."),
        format!("{FINISHING} 1 out of 3 new pods have been updated..."),
        format!("{FINISHING} 2 out of 3 new pods have been updated..."),
        format!("{FINISHING} 2 of 3 updated pods are available..."),
        "daemon set \"agent\" successfully rolled out".to_owned(),
    ];
    assert_eq!(states, expected, "{states:#?}");
}

/// A broken surge does not affect the outdated pods: no pod is updated, and all are available.
#[test]
fn broken_surge() {
    let mut lab = Lab::new();
    let surge = json!({ "type": "RollingUpdate", "rollingUpdate": { "maxSurge": 1, "maxUnavailable": 0 } });
    let agent = lab.daemon_set(&json!({ "updateStrategy": surge }));
    lab.settle();
    lab.image(&agent, "app:2.0-notready");
    lab.settle();
    let set = lab.get(&agent);
    assert_eq!(line(&set), format!("{FINISHING} 0 out of 3 new pods have been updated..."));
    assert_eq!(set["status"]["numberAvailable"], 3);
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
        assert_eq!(line(&lab.get(&agent)), "daemon set \"agent\" successfully rolled out", "{most}");
        assert_eq!(most_missing(&lab, &agent, before), missing, "{most}");
    }
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
