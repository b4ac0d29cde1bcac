//! Workloads in every state, with their revisions and pods.

use harness::objects::{pod, revision, workload};
use harness::prelude::*;

/// The time of every snapshot; no object is newer.
pub(crate) const NOW: &str = "2026-11-20T14:00:00Z";

/// Returns a Deployment and its two revisions, of which the second is current. `changes` are merged into it.
pub(crate) fn deployment(namespace: &str, name: &str, changes: &Value) -> Vec<Value> {
    let complete = json!({
        "metadata": {"labels": {"app": name}},
        "spec": {
            "replicas": 2,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 0}},
        },
        "status": {"replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2},
    });
    let deployment = merged(merged(workload("Deployment", namespace, name), &complete), changes);
    let [first, second] = [(1, "09:00"), (2, "13:30")].map(|(number, created)| {
        let created = json!({"metadata": {"creationTimestamp": format!("2026-11-20T{created}:00Z")}});
        merged(revision(&deployment, number), &created)
    });
    vec![deployment, first, second]
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
    let own = json!({
        "metadata": {"labels": {"app": name}},
        "spec": {
            "replicas": replicas,
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}},
        },
        "status": {
            "replicas": replicas, "updatedReplicas": updated, "readyReplicas": replicas,
            "availableReplicas": replicas, "currentReplicas": replicas - updated,
            "currentRevision": format!("{name}-1"), "updateRevision": format!("{name}-2"),
        },
    });
    let set = merged(workload("StatefulSet", namespace, name), &own);
    let revision = |number: i64| {
        let created = json!({"metadata": {"creationTimestamp": format!("2026-11-20T1{number}:00:00Z")}});
        merged(revision(&set, number), &created)
    };
    let pod = |ordinal: i64| {
        let revision = if ordinal < replicas - updated { 1 } else { 2 };
        ready_pod(&set, &ordinal.to_string(), revision)
    };
    let pods = (0..replicas).map(pod);
    [set.clone(), revision(1), revision(2)].into_iter().chain(pods).collect()
}

/// Returns a pod of revision N that has been ready for two hours.
fn ready_pod(workload: &Value, suffix: &str, number: i64) -> Value {
    let name = format!("{}-{suffix}", workload["metadata"]["name"].as_str().unwrap());
    let changes = json!({
        "metadata": {"creationTimestamp": "2026-11-20T10:00:00Z"},
        "status": {
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-20T12:00:00Z"}],
            "containerStatuses": [{"name": "app", "image": "x", "ready": true, "restartCount": 0, "state": {"running": {}}}],
        },
    });
    merged(pod(workload, &name, number), &changes)
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
    merged(ready_pod(&workload("Deployment", namespace, app), "2-a", 2), &changes)
}

/// Returns a rollout from revision 1 to 2 of which one of two pods is updated.
fn half_way(namespace: &str, name: &str, changes: &Value) -> Vec<Value> {
    let counters = json!({"status": {"updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1}});
    let mut objects = deployment(namespace, name, &merged(counters, changes));
    objects.push(ready_pod(&objects[0], "1-a", 1));
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
    objects.extend(["2-a", "2-b"].map(|suffix| ready_pod(&objects[0], suffix, 2)));
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
