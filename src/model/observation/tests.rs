use super::*;
use crate::model::api::object::Object;
use serde_json::{Value, json};

fn template(image: &str) -> Value {
    json!({"spec": {"containers": [{"name": "c", "image": image}]}})
}

fn object(kind: &str, name: &str, rest: &Value) -> Object {
    let mut object = json!({"kind": kind, "metadata": {"name": name, "uid": name}});
    for (member, value) in rest.as_object().into_iter().flatten() {
        match (object.get_mut(member).and_then(Value::as_object_mut), value) {
            (Some(members), Value::Object(more)) => members.extend(more.clone()),
            _ => object[member] = value.clone(),
        }
    }
    Object::read(object).unwrap()
}

fn owned_by(uid: &str) -> Value {
    json!([{"controller": true, "uid": uid}])
}

/// A revision of a StatefulSet or DaemonSet.
fn controller_revision(number: i64) -> Object {
    let data = json!({"spec": {"template": template(&format!("x:{number}"))}});
    let labels = json!({"controller-revision-hash": format!("w-{number}")});
    let metadata = json!({"ownerReferences": owned_by("w"), "labels": labels});
    let rest = json!({"metadata": metadata, "data": data, "revision": number});
    object("ControllerRevision", &format!("w-{number}"), &rest)
}

/// A revision of a Deployment.
fn replica_set(number: i64) -> Object {
    let annotations = json!({"deployment.kubernetes.io/revision": number.to_string()});
    let metadata = json!({"ownerReferences": owned_by("w"), "annotations": annotations});
    let spec = json!({"template": template(&format!("x:{number}"))});
    object("ReplicaSet", &format!("r{number}"), &json!({"metadata": metadata, "spec": spec}))
}

/// A pod of an owner with a controller hash, whose condition `Ready` has this status.
fn pod(name: &str, owner: &str, hash: &str, ready: &str) -> Object {
    let labels = json!({"controller-revision-hash": hash});
    let status = json!({"conditions": [{"type": "Ready", "status": ready}]});
    let metadata = json!({"ownerReferences": owned_by(owner), "labels": labels});
    object("Pod", name, &json!({"metadata": metadata, "status": status}))
}

/// The same workload with another member.
fn with(workload: &Workload, member: &str, value: &Value) -> Workload {
    let mut json = workload.object().json().clone();
    json[member] = value.clone();
    Workload::of_json(&json).unwrap()
}

/// The observation of a workload with the live template `x:2` and these revisions.
fn observation(kind: &str, revisions: [Object; 2], pods: &[Object]) -> Observation {
    let workload = Workload::of(object(kind, "w", &json!({"spec": {"template": template("x:2")}}))).unwrap();
    let revisions = Revisions::of(&workload, revisions);
    Observation {
        workload,
        revisions,
        pods: Some(pods.iter().map(Pod::read).map(Into::into).collect()),
        events: None,
    }
}

#[test]
fn pods_of_another_owner_with_the_same_hash_do_not_count() {
    for kind in ["StatefulSet", "DaemonSet"] {
        let pods = [pod("w-0", "w", "w-2", "True"), pod("w-1", "other", "w-2", "True")];
        let observed = observation(kind, [1, 2].map(controller_revision), &pods);
        let current = observed.revisions.current().unwrap();
        let names: Vec<_> = observed.pods_of(current).map(|pod| pod.name.as_str()).collect();
        assert_eq!(names, ["w-0"], "{kind}");
    }
}

fn counts_and_roles(observation: &Observation) -> Vec<(usize, usize, Option<Role>)> {
    let role = observation.roles();
    let each = |revision| {
        let count = observation.pod_count(revision).unwrap();
        (count.ready, count.total, role(revision))
    };
    observation.revisions.iter().map(each).collect()
}

#[test]
fn failed_and_succeeded_pods_are_not_counted() {
    let pod = |name: &str, owner: &str, status: &Value| {
        object("Pod", name, &json!({"metadata": {"ownerReferences": owned_by(owner)}, "status": status}))
    };
    let ready = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]});
    let pods = [
        pod("old", "r1", &json!({"phase": "Failed", "reason": "Evicted"})),
        pod("new", "r2", &ready),
        pod("gone", "r2", &json!({"phase": "Succeeded"})),
    ];
    let observation = observation("Deployment", [1, 2].map(replica_set), &pods);
    assert_eq!(counts_and_roles(&observation), [(0, 0, None), (1, 1, Some(Role::Current))]);
}

#[test]
fn a_revision_without_ready_pods_is_not_stable() {
    // `x:2` is current after the release of `x:1` was undone; the pod of `x:1` is ready or not.
    for (ready, role) in [("True", Role::Stable), ("False", Role::Leaving)] {
        let pods = [pod("old", "r1", "", ready), pod("new", "r2", "", "True")];
        let observation = observation("Deployment", [1, 2].map(replica_set), &pods);
        let roles: Vec<_> = counts_and_roles(&observation).into_iter().map(|(.., role)| role).collect();
        assert_eq!(roles, [Some(role), Some(Role::Updating)]);
    }
}

/// Below a partition, the StatefulSet controller creates pods from the revision that it records.
#[test]
fn pods_that_run_neither_the_recorded_nor_the_current_revision_are_found() {
    let pods = [("w-0", "w-1"), ("w-1", "w-3"), ("w-2", "w-2")];
    let pods = pods.map(|(name, hash)| pod(name, "w", hash, "True"));
    let mut observed = observation("StatefulSet", [1, 2].map(controller_revision), &pods);
    for (recorded, expected) in [("w-1", Some(("w-1", vec!["w-1"]))), ("w-2", None), ("gone", None)] {
        let status = json!({"currentRevision": recorded, "updateRevision": "w-2"});
        observed.workload = with(&observed.workload, "status", &status);
        let found = observed.replaced_by_recorded().map(|(revision, pods)| {
            (revision.name.as_str(), pods.iter().map(|pod| pod.name.as_str()).collect::<Vec<_>>())
        });
        assert_eq!(found, expected, "{recorded}");
    }
}

/// The StatefulSet controller names its first revision as the current one before any pod is ready.
#[test]
fn a_first_revision_that_was_never_ready_is_not_stable() {
    for (ready, role) in [("True", Role::Stable), ("False", Role::Leaving)] {
        let pods = [pod("w-0", "w", "w-1", ready)];
        let mut observation = observation("StatefulSet", [1, 2].map(controller_revision), &pods);
        let status = json!({"currentRevision": "w-1", "updateRevision": "w-2"});
        observation.workload = with(&observation.workload, "status", &status);
        assert_eq!(counts_and_roles(&observation)[0].2, Some(role), "{ready}");
    }
}

/// The controller recorded `w-1` before the set had a partition, or before its pods were deleted by hand, and the pods of
/// `w-2` serve since.
#[test]
fn a_record_from_before_a_partition_or_on_delete_is_not_what_served() {
    let pod = |name: &str, hash: &str| Pod::read(&pod(name, "w", hash, "True"));
    let served = [pod("w-1", "w-2"), pod("w-2", "w-2")];
    let partition =
        |partition: i64| json!({"type": "RollingUpdate", "rollingUpdate": {"partition": partition}});
    let hold =
        |strategy: &Value| json!({"version": 1, "set": partition(4), "strategy": strategy}).to_string();
    let on_delete = json!({"type": "OnDelete"});
    for (strategy, original, older, expected) in [
        (on_delete.clone(), None, 0, Some("w-2")),
        (partition(1), None, 1, Some("w-2")),
        (partition(2), None, 2, None), // a write must not depend on a guess
        (partition(0), None, 1, Some("w-1")),
        // A hold replaced the strategy.
        (partition(4), Some(on_delete), 1, Some("w-2")),
        (partition(4), Some(partition(1)), 1, Some("w-2")),
        (partition(4), Some(partition(0)), 1, Some("w-1")),
        (partition(4), Some(Value::Null), 1, Some("w-1")),
    ] {
        let annotations = json!({HOLD_ANNOTATION: original.as_ref().map(hold)});
        let workload = json!({"kind": "StatefulSet",
            "metadata": {"name": "w", "uid": "w", "annotations": annotations},
            "spec": {"replicas": 4, "template": template("x:3"), "updateStrategy": strategy},
            "status": {"currentRevision": "w-1", "updateRevision": "w-3"}});
        let workload = Workload::of_json(&workload).unwrap();
        let revisions = Revisions::of(&workload, [1, 2, 3].map(controller_revision));
        let older = (0..older).map(|index| pod(&format!("old-{index}"), "w-1"));
        let pods = Some(served.iter().cloned().chain(older).map(Into::into).collect());
        let observed = Observation { workload, revisions, pods, events: None };
        for stable in [observed.stable(), observed.stable_at_start().ok()] {
            assert_eq!(stable.map(|stable| stable.name.as_str()), expected, "{strategy} {original:?}");
        }
    }
}

/// A ReplicaSet that was read later than its Deployment has a newer number already.
#[test]
fn the_number_on_the_workload_comes_first() {
    for (kind, recorded, expected) in [
        ("Deployment", Some("5"), Some(5)),
        ("Deployment", Some("five"), Some(6)),
        ("Deployment", None, Some(6)),
        ("StatefulSet", Some("5"), Some(6)),
    ] {
        let revision = |number: i64| {
            let template = template(&format!("x:{}", number - 4));
            let annotations = json!({"deployment.kubernetes.io/revision": number.to_string()});
            let metadata = json!({"ownerReferences": owned_by("w"), "annotations": annotations});
            let data = json!({"spec": {"template": template}});
            let rest = json!({"metadata": metadata, "spec": {"template": template}, "data": data, "revision": number});
            object("X", &format!("r{number}"), &rest)
        };
        let mut observation = observation(kind, [5, 6].map(revision), &[]);
        let mut workload = observation.workload.object().json().clone();
        workload["metadata"]["annotations"] = json!({"deployment.kubernetes.io/revision": recorded});
        observation.workload = Workload::of(Object::read(workload).unwrap()).unwrap();
        assert_eq!(observation.current_number(), expected, "{kind} {recorded:?}");
    }
}

/// The ControllerRevision of the live template was deleted, or the controller has not created it yet.
#[test]
fn without_the_live_revision_none_is_current() {
    let revision = |number: i64| {
        let data = json!({"spec": {"template": template(&format!("y:{number}"))}});
        let rest = json!({"metadata": {"ownerReferences": owned_by("w")}, "data": data, "revision": number});
        object("ControllerRevision", &format!("w-{number}"), &rest)
    };
    let pod = |hash: &str, ready: &str| pod("w-0", "w", hash, ready);
    for (pods, expected) in [
        (vec![], [None, None]),
        (vec![pod("w-3", "True")], [None, None]),
        (vec![pod("w-2", "True")], [None, Some(Role::Stable)]),
        (vec![pod("w-2", "False")], [None, Some(Role::Leaving)]),
    ] {
        let mut observation = observation("StatefulSet", [1, 2].map(revision), &pods);
        let roles: Vec<_> = counts_and_roles(&observation).into_iter().map(|(.., role)| role).collect();
        assert_eq!(roles, expected, "{pods:?}");
        observation.pods = None; // not readable: still none is current
        let role = observation.roles();
        assert!(observation.revisions.iter().all(|revision| role(revision).is_none()));
    }
}

#[test]
fn two_absent_hashes_do_not_match() {
    let revision = |number: i64| {
        let data = json!({"spec": {"template": template(&format!("x:{number}"))}});
        let rest = json!({"metadata": {"ownerReferences": owned_by("w")}, "data": data, "revision": number});
        object("ControllerRevision", &format!("w-{number}"), &rest)
    };
    let pods = [object("Pod", "p", &json!({"metadata": {"ownerReferences": owned_by("w")}}))];
    for kind in ["DaemonSet", "StatefulSet"] {
        let observation = observation(kind, [1, 2].map(revision), &pods);
        assert_eq!(counts_and_roles(&observation), [(0, 0, None), (0, 0, Some(Role::Current))], "{kind}");
    }
}
