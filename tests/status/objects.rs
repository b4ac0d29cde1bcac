//! A workload in the middle of a rollout, and its status.

use harness::objects;
use harness::prelude::*;

/// The time of every snapshot. No object is newer.
pub(crate) const NOW: &str = "2026-11-20T14:00:00Z";

/// Returns `KIND/web` during a rollout from `x:1` to `x:2`: 1 of 3 pods is updated and not available.
pub(crate) fn workload(kind: &str) -> Value {
    let own = match kind {
        "Deployment" => json!({
            "spec": {"replicas": 3},
            "status": {"replicas": 4, "updatedReplicas": 1, "readyReplicas": 3, "availableReplicas": 3},
        }),
        "DaemonSet" => json!({
            "spec": {
                "replicas": 3, "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}},
            },
            "status": {
                "desiredNumberScheduled": 3, "currentNumberScheduled": 3, "updatedNumberScheduled": 1,
                "numberReady": 2, "numberAvailable": 2,
            },
        }),
        _ => json!({
            "spec": {
                "replicas": 3, "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
            },
            "status": {
                "replicas": 3, "updatedReplicas": 1, "readyReplicas": 2, "availableReplicas": 2,
                "currentReplicas": 2, "currentRevision": "web-1", "updateRevision": "web-2",
            },
        }),
    };
    merged(objects::workload(kind, "n", "web"), &own)
}

/// Returns `web-N`, the revision N with the image `x:N`.
pub(crate) fn revision(kind: &str, number: i64) -> Value {
    objects::revision(&workload(kind), number)
}

/// Returns a healthy pod of revision N.
pub(crate) fn pod(kind: &str, name: &str, number: i64) -> Value {
    objects::pod(&workload(kind), name, number)
}

/// Returns a pod of revision N whose container `app` has this status.
pub(crate) fn broken_pod(kind: &str, name: &str, number: i64, container: &Value) -> Value {
    let unready = json!({"type": "Ready", "status": "False", "reason": "ContainersNotReady"});
    let container =
        merged(json!({"name": "app", "image": "x:2", "ready": false, "restartCount": 0}), container);
    merged(
        pod(kind, name, number),
        &json!({"status": {"phase": "Pending", "conditions": [unready], "containerStatuses": [container]}}),
    )
}

/// Returns a warning Event about an object.
pub(crate) fn warning(uid: &str, reason: &str, message: &str) -> Value {
    event("Warning", uid, reason, message)
}

fn event(type_: &str, uid: &str, reason: &str, message: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Event", "type": type_, "reason": reason, "message": message,
        "metadata": {"name": format!("{uid}.{reason}"), "namespace": "n"}, "lastTimestamp": NOW,
        "involvedObject": {"uid": uid},
    })
}

/// Runs `status web ARGS...` for a workload with two revisions and these objects.
pub(crate) fn status(kind: &str, objects: &[Value], args: &[&str]) -> Output {
    let mut items = vec![revision(kind, 1), revision(kind, 2), event("Normal", "nobody", "Tick", "the time")];
    if !objects.iter().any(|object| object["kind"] == "Pod") {
        items.push(merged(pod(kind, "stranger", 1), &json!({"metadata": {"namespace": "other"}})));
    }
    items.extend_from_slice(objects);
    let snapshot = json!({"kind": "List", "items": items}).to_string();
    let target = format!("{}/web", kind.to_lowercase());
    Run::of(["status", &target, "-n", "n", "--from", "-"].iter().chain(args)).stdin(snapshot).run()
}

/// Returns the JSON document of the same status.
pub(crate) fn document(kind: &str, objects: &[Value]) -> Value {
    let output = status(kind, objects, &["-o", "json"]);
    serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{}{}", output.stdout, output.stderr))
}

/// Returns the ids of its causes, in order.
pub(crate) fn cause_ids(document: &Value) -> Vec<&str> {
    let causes = document["causes"].as_array().into_iter().flatten();
    causes.filter_map(|cause| cause["id"].as_str()).collect()
}
