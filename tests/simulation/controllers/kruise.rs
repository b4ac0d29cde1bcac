//! The controllers of `OpenKruise`, compared with real ones: the same changes in the same order lead to the same
//! revisions, counts and pods.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use simcluster::resource::{
    ADVANCED_DAEMONSETS, ADVANCED_STATEFULSETS, CLONESETS, CONTROLLERREVISIONS, PODS,
};
use simcluster::rules::{Author, Part};
use simcluster::{Controllers, Key, Resource, object};

use crate::kruise::recording::Step;
use crate::simulation::controllers::lab::{Lab, builder};

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
fn facts<'v>(
    workload: &Value,
    revisions: impl IntoIterator<Item = &'v Value>,
    pods: impl IntoIterator<Item = &'v Value>,
) -> Value {
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
    let numbers: BTreeMap<&str, i64> = revisions
        .into_iter()
        .map(|one| (object::name(one).rsplit('-').next().unwrap(), one["revision"].as_i64().unwrap()))
        .collect();
    let mut revisions: Vec<i64> = numbers.values().copied().collect();
    revisions.sort_unstable();
    let mut pods: Vec<String> = pods
        .into_iter()
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
    let mut lab = Lab { cluster: builder().kruise().nodes(6).build(), controllers: Controllers::new() };
    let mut key: Option<Key> = None;
    for step in Step::of(scenario) {
        let workload = step.workload();
        let resource: &'static Resource = match object::text(workload, &["kind"]) {
            "CloneSet" => &CLONESETS,
            "StatefulSet" => &ADVANCED_STATEFULSETS,
            _ => &ADVANCED_DAEMONSETS,
        };
        let mut spec = workload["spec"].clone();
        spec["updateStrategy"] = strategy(workload);
        if let Some(key) = &key {
            let change = |workload: &mut Value| workload["spec"] = spec;
            let author = Author::new("kubectl");
            lab.cluster.store(|store| store.edit(key, Part::Object, &author, change).map(drop).unwrap());
        } else {
            key = Some(lab.create(resource, &json!({ "metadata": { "name": "web" }, "spec": spec })));
        }
        if !step.settled {
            continue;
        }
        lab.settle();
        let [stored, revisions, pods] = lab.cluster.store(|store| {
            [resource, &CONTROLLERREVISIONS, &PODS].map(|resource| -> Vec<Value> {
                store.list(resource, Some("default")).map(|(_, value)| Value::clone(value)).collect()
            })
        });
        let ours = facts(&stored[0], &revisions, &pods);
        let theirs = facts(workload, step.objects("ControllerRevision"), step.objects("Pod"));
        assert_eq!(ours, theirs, "{}\nours {ours}\ntheirs {theirs}", step.name);
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
