//! Deployments beyond the recorded traces: revision numbers, the deadline, cleanup.

use serde_json::{Value, json};
use simcluster::object;
use simcluster::resource::REPLICASETS;

use crate::simulation::controllers::lab::{Lab, printed};

const REVISION: &str = "deployment.kubernetes.io/revision";

/// Returns image, revision number and size of every set, by number.
fn sets(lab: &Lab) -> Vec<(String, String, i64)> {
    let mut sets: Vec<_> = lab.cluster.store(|store| {
        let sets = store.list(&REPLICASETS, Some("default"));
        sets.map(|(_, set)| {
            let image =
                object::text(&set["spec"]["template"]["spec"]["containers"][0], &["image"]).to_owned();
            (image, annotation(set, REVISION).to_owned(), set["spec"]["replicas"].as_i64().unwrap())
        })
        .collect()
    });
    sets.sort_by_key(|(_, number, _)| number.parse::<i64>().unwrap());
    sets
}

fn annotation<'v>(value: &'v Value, name: &str) -> &'v str {
    object::text(value, &["metadata", "annotations", name])
}

fn condition(deployment: &Value, kind: &str) -> Value {
    object::condition(deployment, kind).cloned().unwrap_or_default()
}

/// Returns the set with an image.
fn set_of(lab: &Lab, image: &str) -> Value {
    lab.cluster.store(|store| {
        let mut sets = store.list(&REPLICASETS, Some("default"));
        let runs = |set: &Value| set["spec"]["template"]["spec"]["containers"][0]["image"] == image;
        sets.find(|(_, set)| runs(set)).map(|(_, set)| Value::clone(set)).unwrap()
    })
}

#[test]
fn an_old_template_that_comes_back_gets_the_next_number() {
    let mut lab = Lab::new();
    let web = lab.deployment(2, &json!({}));
    for image in ["app:1.0", "app:2.0", "app:3.0", "app:1.0", "app:2.0", "app:1.0"] {
        lab.image(&web, image);
        lab.settle();
    }
    assert_eq!(annotation(&lab.get(&web), REVISION), "6");
    let printed: Vec<_> =
        sets(&lab).into_iter().map(|(image, number, size)| format!("{number} {image} {size}")).collect();
    assert_eq!(printed, ["3 app:3.0 0", "5 app:2.0 0", "6 app:1.0 2"]);
    assert_eq!(annotation(&set_of(&lab, "app:1.0"), "deployment.kubernetes.io/revision-history"), "1,4");
}

#[test]
fn old_sets_are_deleted_when_the_rollout_is_complete() {
    let mut lab = Lab::new();
    let web = lab.deployment(1, &json!({ "revisionHistoryLimit": 2 }));
    for image in ["app:1.0", "app:2.0", "app:3.0", "app:4.0", "app:5.0"] {
        lab.image(&web, image);
        lab.settle();
    }
    let numbers = |lab: &Lab| sets(lab).into_iter().map(|(_, number, _)| number).collect::<Vec<_>>();
    assert_eq!(numbers(&lab), ["3", "4", "5"]);
    lab.image(&web, "app:6.0-bad");
    lab.settle();
    assert_eq!(numbers(&lab), ["3", "4", "5", "6"], "not while a rollout is stuck");
    lab.patch(&web, &json!({ "spec": { "revisionHistoryLimit": 0, "paused": true } }));
    lab.settle();
    assert_eq!(numbers(&lab), ["5", "6"], "but while it is paused");
}

#[test]
fn the_deadline_expires_only_without_progress() {
    let mut lab = Lab::new();
    let web = lab.deployment(1, &json!({ "progressDeadlineSeconds": 10 }));
    lab.settle();
    lab.image(&web, "app:2.0-crash");
    let reason = |lab: &Lab| condition(&lab.get(&web), "Progressing")["reason"].clone();
    lab.run_for(9);
    assert_eq!(reason(&lab), "ReplicaSetUpdated");
    lab.run_for(4);
    assert_eq!(reason(&lab), "ProgressDeadlineExceeded");
    let printed = condition(&lab.get(&web), "Progressing");
    let new = set_of(&lab, "app:2.0-crash");
    assert_eq!(
        printed["message"],
        format!("ReplicaSet \"{}\" has timed out progressing.", object::name(&new))
    );
    lab.patch(&web, &json!({ "spec": { "progressDeadlineSeconds": i32::MAX } }));
    lab.settle();
    assert_eq!(condition(&lab.get(&web), "Progressing"), Value::Null, "no deadline, no condition");
    lab.patch(&web, &json!({ "spec": { "progressDeadlineSeconds": 10 } }));
    lab.run_for(3);
    assert_eq!(reason(&lab), "FoundNewReplicaSet");
}

/// Two sets with the live template: the older one is the new set, the other counts as old.
#[test]
fn of_two_equal_sets_the_older_one_is_current() {
    let mut lab = Lab::new();
    let web = lab.deployment(1, &json!({}));
    lab.settle();
    let mut twin = set_of(&lab, "app:1.0");
    for server_owned in ["resourceVersion", "uid", "annotations"] {
        object::metadata(&mut twin).remove(server_owned);
    }
    twin["metadata"]["name"] = "web-twin".into();
    for labels in [
        ["metadata", "labels"].as_slice(),
        &["spec", "template", "metadata", "labels"],
        &["spec", "selector", "matchLabels"],
    ] {
        let labels = labels.iter().fold(&mut twin, |value, member| &mut value[*member]);
        labels["pod-template-hash"] = "twin".into();
    }
    let twin = lab.create(&REPLICASETS, &twin);
    lab.settle();
    assert_eq!(lab.get(&twin)["spec"]["replicas"], 0, "an old set gives its pods up");
    assert_eq!(printed(&lab.get(&web)), "1 obs=1 rev=1 1/1/1/1/0 NewReplicaSetAvailable");
}

/// The name of the set exists already, so the next one has another hash.
#[test]
fn a_name_that_is_taken_is_a_collision() {
    let mut lab = Lab::new();
    let web = lab.deployment(1, &json!({}));
    lab.settle();
    let taken = Value::clone(&set_of(&lab, "app:1.0"));
    lab.delete(&web);
    lab.settle();
    let mut other = taken.clone();
    for server_owned in ["ownerReferences", "resourceVersion", "uid"] {
        object::metadata(&mut other).remove(server_owned);
    }
    // Its labels prevent its adoption.
    other["metadata"]["labels"] = json!({ "app": "other" });
    lab.create(&REPLICASETS, &other);
    let web = lab.deployment(1, &json!({}));
    lab.settle();
    let status = lab.get(&web)["status"].clone();
    assert_eq!((&status["availableReplicas"], &status["collisionCount"]), (&json!(1), &json!(1)));
}
