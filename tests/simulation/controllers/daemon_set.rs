//! DaemonSets: the recorded trace as lines of kubectl, budgets, surge, tainted nodes, history.

use serde_json::{Value, json};
use simcluster::resource::{CONTROLLERREVISIONS, NODES, PODS};
use simcluster::{Key, object};

use crate::simulation::controllers::lab::Lab;

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
    lab.delete(&pod);
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
