//! Minimal objects, and their status.

use harness::prelude::*;

/// The time of every snapshot. No object is newer.
pub(crate) const NOW: &str = "2026-11-20T14:00:00Z";

fn template(image: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "app", "image": image}]},
    })
}

/// Returns `KIND/web` during a rollout from `x:1` to `x:2`: 1 of 3 pods is updated and not available.
pub(crate) fn workload(kind: &str) -> Value {
    let base = json!({
        "apiVersion": "apps/v1", "kind": kind,
        "metadata": {"name": "web", "namespace": "n", "uid": "w", "generation": 2},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": template("x:2")},
        "status": {"observedGeneration": 2},
    });
    let own = match kind {
        "Deployment" => json!({
            "status": {"replicas": 4, "updatedReplicas": 1, "readyReplicas": 3, "availableReplicas": 3},
        }),
        "DaemonSet" => json!({
            "spec": {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}}},
            "status": {
                "desiredNumberScheduled": 3, "currentNumberScheduled": 3, "updatedNumberScheduled": 1,
                "numberReady": 2, "numberAvailable": 2,
            },
        }),
        _ => json!({
            "spec": {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}},
            "status": {
                "replicas": 3, "updatedReplicas": 1, "readyReplicas": 2, "availableReplicas": 2,
                "currentReplicas": 2, "currentRevision": "web-1", "updateRevision": "web-2",
            },
        }),
    };
    merged(base, &own)
}

/// Returns `web-N`, the revision N with the image `x:N`.
pub(crate) fn revision(kind: &str, number: i64) -> Value {
    let base = json!({
        "apiVersion": "apps/v1",
        "metadata": {
            "name": format!("web-{number}"), "namespace": "n", "uid": format!("r{number}"),
            "labels": {"app": "web"},
            "ownerReferences": [{"controller": true, "kind": kind, "name": "web", "uid": "w"}],
        },
    });
    let template = template(&format!("x:{number}"));
    if kind == "Deployment" {
        let annotations = json!({"deployment.kubernetes.io/revision": number.to_string()});
        let own = json!({"kind": "ReplicaSet", "metadata": {"annotations": annotations}, "spec": {"template": template}});
        return merged(base, &own);
    }
    let hash = json!({"controller-revision-hash": number.to_string()});
    let own = json!({
        "kind": "ControllerRevision", "revision": number, "metadata": {"labels": hash},
        "data": {"spec": {"template": template}},
    });
    merged(base, &own)
}

/// Returns a healthy pod of revision N.
pub(crate) fn pod(kind: &str, name: &str, number: i64) -> Value {
    let (owner, hash) = match kind {
        "Deployment" => (format!("r{number}"), String::new()),
        "DaemonSet" => ("w".to_owned(), number.to_string()),
        _ => ("w".to_owned(), format!("web-{number}")),
    };
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": name, "namespace": "n", "uid": format!("uid-{name}"),
            "creationTimestamp": "2026-11-20T13:00:00Z",
            "labels": {"app": "web", "controller-revision-hash": hash},
            "ownerReferences": [{"controller": true, "uid": owner}],
        },
        "spec": {"nodeName": "node-1"},
        "status": {
            "phase": "Running",
            "conditions": [
                {"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-20T13:00:05Z"},
                {"type": "ContainersReady", "status": "True"},
            ],
            "containerStatuses": [{
                "name": "app", "image": "x", "ready": true, "started": true, "restartCount": 0,
                "state": {"running": {"startedAt": "2026-11-20T13:00:01Z"}},
            }],
        },
    })
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
