//! Deployments beyond the recorded traces: sizes, revision numbers, annotations, conditions, cleanup.

use serde_json::{Value, json};
use simcluster::controller::Quota;
use simcluster::resource::{DEPLOYMENTS, PODS, REPLICASETS};
use simcluster::{Controllers, Key, object};

use crate::simulation::controllers::lab::{LONG, Lab, printed};

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
    let conditions = object::list(deployment, &["status", "conditions"]);
    conditions.iter().find(|condition| condition["type"] == kind).cloned().unwrap_or_default()
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
fn annotations_are_copied_to_the_current_set() {
    let mut lab = Lab::new();
    let web = lab.deployment(1, &json!({}));
    lab.settle();
    let annotate = |lab: &Lab, annotations: Value| {
        lab.patch(&web, &json!({ "metadata": { "annotations": annotations } }));
    };
    annotate(&lab, json!({ "kubernetes.io/change-cause": "first", "pager": "a" }));
    lab.settle();
    lab.image(&web, "app:2.0");
    annotate(&lab, json!({ "kubernetes.io/change-cause": "second", "pager": null }));
    lab.settle();
    let (old, new) = (set_of(&lab, "app:1.0"), set_of(&lab, "app:2.0"));
    assert_eq!((annotation(&old, "kubernetes.io/change-cause"), annotation(&old, "pager")), ("first", "a"));
    assert_eq!((annotation(&new, "kubernetes.io/change-cause"), annotation(&new, "pager")), ("second", ""));
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

/// The example of the Kubernetes documentation: the surge and the pods to add are distributed by the sizes of the sets.
#[test]
fn scaling_during_a_rollout_is_proportional() {
    let mut lab = Lab::new();
    let rolling = json!({ "type": "RollingUpdate", "rollingUpdate": { "maxSurge": 3, "maxUnavailable": 2 } });
    let web = lab.deployment(10, &json!({ "strategy": rolling }));
    lab.settle();
    lab.image(&web, "app:2.0-bad");
    lab.settle();
    let sizes = |lab: &Lab| sets(lab).into_iter().map(|(_, _, size)| size).collect::<Vec<_>>();
    assert_eq!(sizes(&lab), [8, 5]);
    lab.patch(&web, &json!({ "spec": { "replicas": 15 } }));
    lab.settle();
    assert_eq!(sizes(&lab), [11, 7]);
    lab.patch(&web, &json!({ "spec": { "replicas": 5 } }));
    lab.settle();
    assert_eq!(sizes(&lab), [3, 5]);
    lab.patch(&web, &json!({ "spec": { "replicas": 0 } }));
    lab.settle();
    assert_eq!(sizes(&lab), [0, 0]);
}

#[test]
fn a_paused_deployment_is_scaled_and_changes_nothing_else() {
    let mut lab = Lab::new();
    let web = lab.deployment(2, &json!({ "paused": true }));
    lab.settle();
    assert_eq!(
        printed(&lab.get(&web)),
        "1 obs=1 rev= -/-/-/-/0 DeploymentPaused",
        "nothing was ever rolled out"
    );
    lab.patch(&web, &json!({ "spec": { "paused": null } }));
    lab.settle();
    lab.patch(&web, &json!({ "spec": { "paused": true } }));
    lab.image(&web, "app:2.0");
    lab.patch(&web, &json!({ "spec": { "replicas": 4 } }));
    lab.settle();
    assert_eq!(sets(&lab), [("app:1.0".to_owned(), "1".to_owned(), 4)]);
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

#[test]
fn pods_refused_by_a_quota_are_a_failure_condition() {
    let quota = Quota { name: "q".to_owned(), pods: 2 };
    let mut lab = Lab::with(Controllers::new().quota("default", quota));
    let web = lab.deployment(3, &json!({}));
    lab.run_for(30);
    let failure = condition(&lab.get(&web), "ReplicaFailure");
    assert_eq!(failure["reason"], "FailedCreate");
    let message = failure["message"].as_str().unwrap();
    assert!(
        message
            .ends_with("is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2")
    );
    lab.patch(&web, &json!({ "spec": { "replicas": 2 } }));
    lab.settle();
    assert_eq!(condition(&lab.get(&web), "ReplicaFailure"), Value::Null);
}

/// A pod counts as available only after `minReadySeconds`, and a rollout waits for that.
#[test]
fn min_ready_seconds_delay_a_rollout() {
    let mut lab = Lab::new();
    let web = lab.deployment(1, &json!({ "minReadySeconds": 20 }));
    lab.settle();
    lab.image(&web, "app:2.0");
    lab.run_for(18);
    assert_eq!(printed(&lab.get(&web)), "2 obs=2 rev=2 2/1/2/1/0 ReplicaSetUpdated");
    lab.run_for(5);
    assert_eq!(printed(&lab.get(&web)), "2 obs=2 rev=2 1/1/1/1/0 NewReplicaSetAvailable");
}

#[test]
fn a_set_adopts_a_pod_that_matches_and_releases_one_that_does_not() {
    let mut lab = Lab::new();
    let web = lab.deployment(2, &json!({}));
    lab.settle();
    let pods = |lab: &Lab| lab.images().into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    let before = pods(&lab);
    let taken_out = Key::new(&PODS, "default", &before[0]);
    let hash = object::text(&lab.get(&taken_out), &["metadata", "labels", "pod-template-hash"]).to_owned();
    lab.patch(&taken_out, &json!({ "metadata": { "labels": { "pod-template-hash": "debug" } } }));
    lab.settle();
    assert_eq!(pods(&lab).len(), 3, "the set made another");
    assert!(object::list(&lab.get(&taken_out), &["metadata", "ownerReferences"]).is_empty());
    lab.patch(&taken_out, &json!({ "metadata": { "labels": { "pod-template-hash": hash } } }));
    lab.settle();
    assert_eq!(pods(&lab).len(), 2, "the set has it back and removes one");
    assert_eq!(lab.get(&web)["status"]["replicas"], 2);
}

/// The name of the set exists already, so the next one has another hash.
#[test]
fn a_name_that_is_taken_is_a_collision() {
    let mut lab = Lab::new();
    let web = lab.deployment(1, &json!({}));
    lab.settle();
    let taken = Value::clone(&set_of(&lab, "app:1.0"));
    lab.delete(&web, &json!({}));
    lab.settle();
    let mut other = taken.clone();
    for server_owned in ["ownerReferences", "resourceVersion", "uid"] {
        object::metadata(&mut other).remove(server_owned);
    }
    // Its labels prevent its adoption.
    other["metadata"]["labels"] = json!({ "app": "other" });
    lab.create(&REPLICASETS, &other);
    let web = lab.deployment(1, &json!({}));
    assert!(lab.controllers.run_until(&lab.cluster, LONG, |store| {
        store.get(&web).is_some_and(|web| web["status"]["availableReplicas"] == 1)
    }));
    let deployment = lab.get(&Key::new(&DEPLOYMENTS, "default", "web"));
    assert_eq!(deployment["status"]["collisionCount"], 1);
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

#[test]
fn every_controller_has_its_own_field_manager() {
    let mut lab = Lab::attributed();
    let web = lab.deployment(1, &json!({}));
    lab.settle();
    let managers = |value: &Value| -> Vec<String> {
        let entries = object::list(value, &["metadata", "managedFields"]).iter();
        let printed = |entry: &Value| {
            format!("{} {}", object::text(entry, &["manager"]), object::text(entry, &["subresource"]))
        };
        entries.map(printed).collect()
    };
    assert_eq!(managers(&lab.get(&web)), ["kubectl-create ", "kube-controller-manager status"]);
    let (name, _) = lab.images().remove(0);
    let pod = lab.get(&Key::new(&PODS, "default", &name));
    assert!(managers(&pod).contains(&"kube-controller-manager ".to_owned()), "{:?}", managers(&pod));
    assert!(managers(&pod).contains(&"kubelet status".to_owned()), "{:?}", managers(&pod));
}
