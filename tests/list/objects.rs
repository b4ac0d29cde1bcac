//! Workloads in every state, with their revisions and pods.

use harness::prelude::*;

/// The time of every snapshot; no object is newer.
pub(crate) const NOW: &str = "2026-11-20T14:00:00Z";

fn template(image: &str) -> Value {
    json!({"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "app", "image": image}]}})
}

/// Returns a Deployment and its two revisions, of which the second is current. `changes` are merged into it.
pub(crate) fn deployment(namespace: &str, name: &str, changes: &Value) -> Vec<Value> {
    let uid = format!("{namespace}-{name}");
    let base = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace, "uid": uid, "generation": 2, "labels": {"app": name}},
        "spec": {
            "replicas": 2, "selector": {"matchLabels": {"app": name}}, "template": template("x:2"),
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 0}},
        },
        "status": {
            "observedGeneration": 2, "replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2,
        },
    });
    let revision = |number: i64, created: &str| {
        json!({
            "apiVersion": "apps/v1", "kind": "ReplicaSet",
            "metadata": {
                "name": format!("{name}-{number}"), "namespace": namespace, "uid": format!("{uid}-{number}"),
                "labels": {"app": name}, "creationTimestamp": created,
                "annotations": {"deployment.kubernetes.io/revision": number.to_string()},
                "ownerReferences": [{"controller": true, "kind": "Deployment", "name": name, "uid": uid}],
            },
            "spec": {"template": template(&format!("x:{number}"))},
        })
    };
    vec![merged(base, changes), revision(1, "2026-11-20T09:00:00Z"), revision(2, "2026-11-20T13:30:00Z")]
}

/// Returns a StatefulSet whose partition keeps both pods on revision 1.
pub(crate) fn held_set(namespace: &str, name: &str) -> Vec<Value> {
    stateful_set(namespace, name, 2, 0)
}

/// Returns a StatefulSet of three pods, of which its partition keeps two on revision 1.
pub(crate) fn partly_updated_set(namespace: &str, name: &str) -> Vec<Value> {
    stateful_set(namespace, name, 3, 1)
}

/// Returns a StatefulSet whose partition is 2 and whose last `updated` pods run revision 2.
fn stateful_set(namespace: &str, name: &str, replicas: i64, updated: i64) -> Vec<Value> {
    let uid = format!("{namespace}-{name}");
    let set = json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet",
        "metadata": {"name": name, "namespace": namespace, "uid": uid, "generation": 2, "labels": {"app": name}},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template("x:2"),
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}},
        },
        "status": {
            "observedGeneration": 2, "replicas": replicas, "updatedReplicas": updated, "readyReplicas": replicas,
            "availableReplicas": replicas, "currentReplicas": replicas - updated, "currentRevision": format!("{name}-1"), "updateRevision": format!("{name}-2"),
        },
    });
    let revision = |number: i64| {
        json!({
            "apiVersion": "apps/v1", "kind": "ControllerRevision", "revision": number,
            "metadata": {
                "name": format!("{name}-{number}"), "namespace": namespace, "uid": format!("{uid}-{number}"),
                "labels": {"app": name, "controller-revision-hash": format!("{name}-{number}")},
                "creationTimestamp": format!("2026-11-20T1{number}:00:00Z"),
                "ownerReferences": [{"controller": true, "kind": "StatefulSet", "name": name, "uid": uid}],
            },
            "data": {"spec": {"template": template(&format!("x:{number}"))}},
        })
    };
    let pod = |ordinal: i64| {
        let revision = if ordinal < replicas - updated { 1 } else { 2 };
        let labels = json!({"metadata": {"name": format!("{name}-{ordinal}"),
            "labels": {"app": name, "controller-revision-hash": format!("{name}-{revision}")}}});
        merged(pod(namespace, name, "0", &uid), &labels)
    };
    [set, revision(1), revision(2)].into_iter().chain((0..replicas).map(pod)).collect()
}

/// Returns a ready pod of an owner.
pub(crate) fn pod(namespace: &str, app: &str, suffix: &str, owner: &str) -> Value {
    let name = format!("{app}-{suffix}");
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": name, "namespace": namespace, "uid": format!("uid-{namespace}-{name}"),
            "creationTimestamp": "2026-11-20T10:00:00Z", "labels": {"app": app},
            "ownerReferences": [{"controller": true, "uid": owner}],
        },
        "spec": {"nodeName": "node-1"},
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-20T12:00:00Z"}],
            "containerStatuses": [{"name": "app", "image": "x", "ready": true, "restartCount": 0, "state": {"running": {}}}],
        },
    })
}

/// Returns a pod of revision 2 that crashes.
pub(crate) fn crashing_pod(namespace: &str, app: &str) -> Value {
    let changes = json!({
        "metadata": {"creationTimestamp": "2026-11-20T13:30:01Z"},
        "status": {
            "conditions": [{"type": "Ready", "status": "False", "lastTransitionTime": "2026-11-20T13:30:01Z"}],
            "containerStatuses": [{
                "name": "app", "image": "x:2", "ready": false, "restartCount": 3,
                "state": {"waiting": {"reason": "CrashLoopBackOff"}},
                "lastState": {"terminated": {"reason": "Error", "exitCode": 1, "message": "panic: no DB_URL"}},
            }],
        },
    });
    merged(pod(namespace, app, "2-a", &format!("{namespace}-{app}-2")), &changes)
}

/// Returns a rollout from revision 1 to 2 of which one of two pods is updated.
fn half_way(namespace: &str, name: &str, changes: &Value) -> Vec<Value> {
    let counters = json!({"status": {"updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1}});
    let mut objects = deployment(namespace, name, &merged(counters, changes));
    objects.push(pod(namespace, name, "1-a", &format!("{namespace}-{name}-1")));
    objects
}

/// Returns one workload in each state, in the namespaces `shop` and `test`.
pub(crate) fn every_state() -> Vec<Value> {
    let condition = |status: &str, reason: &str| {
        json!([{"type": "Progressing", "status": status, "reason": reason,
            "lastTransitionTime": "2026-11-20T13:50:00Z", "lastUpdateTime": "2026-11-20T13:50:00Z"}])
    };
    let none_available = json!({"status": {"updatedReplicas": 1, "readyReplicas": 0, "availableReplicas": 0,
        "conditions": condition("False", "ProgressDeadlineExceeded")}});
    let paused =
        json!({"spec": {"paused": true}, "status": {"conditions": condition("Unknown", "DeploymentPaused")}});
    let mut objects = Vec::new();
    objects.extend(complete("shop", "web"));
    objects.extend(held_set("shop", "db"));
    objects.extend(half_way("shop", "api", &json!({})));
    objects.extend(half_way("shop", "paid", &paused));
    objects.extend(half_way("test", "cart", &json!({})));
    objects.push(crashing_pod("test", "cart"));
    objects.extend(deployment("shop", "checkout", &none_available));
    objects.push(crashing_pod("shop", "checkout"));
    objects.extend(deployment("test", "late", &json!({"metadata": {"generation": 3}})));
    objects.push(json!({
        "apiVersion": "v1", "kind": "Event", "type": "Normal", "reason": "Tick", "lastTimestamp": NOW,
        "metadata": {"name": "tick", "namespace": "shop"}, "involvedObject": {"uid": "nobody"},
    }));
    objects
}

/// Returns a Deployment whose pods were ready two hours ago.
pub(crate) fn complete(namespace: &str, name: &str) -> Vec<Value> {
    let mut objects = deployment(namespace, name, &json!({}));
    let owner = format!("{namespace}-{name}-2");
    objects.extend(["2-a", "2-b"].map(|suffix| pod(namespace, name, suffix, &owner)));
    objects
}

/// Runs `list ARGS...` for a snapshot with these objects.
pub(crate) fn list(objects: &[Value], args: &[&str]) -> Output {
    listing(objects, args).run()
}

/// Prepares `list ARGS...` for a snapshot with these objects.
pub(crate) fn listing(objects: &[Value], args: &[&str]) -> Run {
    let snapshot = json!({"kind": "List", "items": objects}).to_string();
    Run::of(["list", "--from", "-"].iter().chain(args)).stdin(snapshot)
}
