//! The controllers of `OpenKruise`, compared with real ones: the same changes in the same order lead to the same
//! revisions, counts and pods.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use simcluster::patch::Format;
use simcluster::resource::{
    ADVANCED_DAEMONSETS, ADVANCED_STATEFULSETS, CLONESETS, CONTROLLERREVISIONS, PODS,
};
use simcluster::rules::{Author, Part};
use simcluster::{Controllers, Key, Resource, object};

use crate::simulation::controllers::lab::{Lab, builder};

/// The steps of a recording: name, whether the rollout completed, and the objects after the step.
fn recording(scenario: &str) -> Vec<(String, bool, BTreeMap<String, Value>)> {
    let path = harness::data().join(format!("kruise/{scenario}.jsonl"));
    let mut objects = BTreeMap::new();
    let step = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        for removed in object::list(&line, &["removed"]) {
            objects.remove(removed.as_str().unwrap());
        }
        for object in object::list(&line, &["changed"]) {
            let name = format!("{}/{}", object::text(object, &["kind"]), object::name(object));
            objects.insert(name, object.clone());
        }
        (object::text(&line, &["step"]).to_owned(), line["settled"] == true, objects.clone())
    };
    std::fs::read_to_string(path).unwrap().lines().map(step).collect()
}

/// Returns the update strategy in the form of `v1beta1`.
fn strategy(workload: &Value) -> Value {
    let strategy = &workload["spec"]["updateStrategy"];
    if workload["kind"] != "CloneSet" || strategy.get("rollingUpdate").is_some() {
        return strategy.clone();
    }
    let mut rolling = strategy.clone();
    let kind = object::members(&mut rolling).remove("type").unwrap_or_default();
    if kind == "OnDelete" {
        return json!({ "type": "OnDelete" });
    }
    rolling["podUpdatePolicy"] = kind;
    json!({ "type": "RollingUpdate", "rollingUpdate": rolling })
}

/// Returns the compared fields of a workload, its revisions and its pods.
fn facts(objects: &[Value]) -> Value {
    let of_kind = |kind: &'static str| objects.iter().filter(move |object| object["kind"] == kind);
    let workload =
        objects.iter().find(|object| object::text(object, &["apiVersion"]).starts_with("apps.kruise.io/"));
    let workload = workload.unwrap();
    let counters = [
        "replicas",
        "readyReplicas",
        "availableReplicas",
        "updatedReplicas",
        "updatedReadyReplicas",
        "updatedAvailableReplicas",
        "expectedUpdatedReplicas",
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberReady",
        "numberAvailable",
        "updatedNumberScheduled",
    ];
    let counts: BTreeMap<_, _> =
        counters.map(|name| (name, workload["status"][name].as_i64().unwrap_or(0))).into();
    // A real server keeps `creationTimestamp: null` in a template, and the hashes of an Advanced DaemonSet are of Go
    // structs, so revisions are compared by number.
    let numbers: BTreeMap<&str, i64> = of_kind("ControllerRevision")
        .map(|one| (object::name(one).rsplit('-').next().unwrap(), one["revision"].as_i64().unwrap()))
        .collect();
    let mut revisions: Vec<i64> = numbers.values().copied().collect();
    revisions.sort_unstable();
    let mut pods: Vec<String> = of_kind("Pod")
        .filter(|pod| !object::is_terminating(pod))
        .map(|pod| {
            let label = object::text(pod, &["metadata", "labels", "controller-revision-hash"])
                .rsplit('-')
                .next()
                .unwrap();
            let identity = match object::text(workload, &["kind"]) {
                "StatefulSet" => object::name(pod).to_owned(),
                "DaemonSet" => object::text(pod, &["spec", "nodeName"]).to_owned(),
                _ => String::new(),
            };
            let images: Vec<_> = object::list(pod, &["spec", "containers"])
                .iter()
                .map(|one| object::text(one, &["image"]))
                .collect();
            format!("{identity} revision {:?} {images:?}", numbers.get(label))
        })
        .collect();
    pods.sort();
    json!({ "counts": counts, "revisions": revisions, "pods": pods })
}

fn play(scenario: &str) {
    let mut lab = Lab {
        cluster: builder().without_managed_fields().kruise().nodes(6).build(),
        controllers: Controllers::new(),
    };
    let mut key: Option<Key> = None;
    for (name, settled, objects) in recording(scenario) {
        let recorded: Vec<Value> = objects.into_values().collect();
        let workload = recorded
            .iter()
            .find(|one| object::text(one, &["apiVersion"]).starts_with("apps.kruise.io/"))
            .unwrap();
        let resource: &'static Resource = match object::text(workload, &["kind"]) {
            "CloneSet" => &CLONESETS,
            "StatefulSet" => &ADVANCED_STATEFULSETS,
            _ => &ADVANCED_DAEMONSETS,
        };
        let mut spec = workload["spec"].clone();
        spec["updateStrategy"] = strategy(workload);
        match &key {
            None => {
                let made = json!({ "metadata": { "name": "web" }, "spec": spec });
                key = Some(lab.create(resource, &made));
            }
            Some(key) => {
                let author = Author::new("kubectl");
                let patch = json!([{ "op": "replace", "path": "/spec", "value": spec }]);
                lab.cluster
                    .store(|store| store.patch(key, Part::Object, Format::Json, &patch, &author).unwrap());
            }
        }
        if !settled {
            continue;
        }
        lab.settle();
        let stored = lab.cluster.store(|store| {
            let list = |resource| {
                store
                    .list(resource, Some("default"))
                    .map(|(_, value)| Value::clone(value))
                    .collect::<Vec<_>>()
            };
            [list(resource), list(&CONTROLLERREVISIONS), list(&PODS)].concat()
        });
        let (ours, theirs) = (facts(&stored), facts(&recorded));
        assert_eq!(ours, theirs, "{scenario}/{name}\nours {ours}\ntheirs {theirs}");
    }
}

#[test]
fn clone_sets_come_to_rest_as_recorded() {
    for scenario in [
        "master-cs-inplace",
        "1.8.4-cs-inplace",
        "master-cs-partition",
        "1.8.4-cs-partition",
        "master-cs-v1beta1",
        "master-cs-recreate",
        "master-cs-inplaceonly",
        "master-cs-vct",
    ] {
        play(scenario);
    }
}

#[test]
fn advanced_stateful_sets_come_to_rest_as_recorded() {
    for scenario in [
        "master-asts-inplace",
        "1.8.4-asts-inplace",
        "master-asts-recreate",
        "master-asts-ordered",
        "master-asts-inplaceonly",
    ] {
        play(scenario);
    }
}

#[test]
fn advanced_daemon_sets_come_to_rest_as_recorded() {
    for scenario in ["master-ads-inplace", "1.8.4-ads-inplace", "master-ads-standard", "master-ads-v1beta1"] {
        play(scenario);
    }
}
