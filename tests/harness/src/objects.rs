//! Minimal objects, for tests that write the objects of a snapshot by hand. The image of revision N is `x:N`.

use serde_json::{Value, json};

use crate::merged;

/// Returns a template with one container `app` of this image.
#[must_use]
pub fn template(app: &str, image: &str) -> Value {
    json!({"metadata": {"labels": {"app": app}}, "spec": {"containers": [{"name": "app", "image": image}]}})
}

/// Returns a workload of apps/v1 with the live template of revision 2, which its controller has observed.
#[must_use]
pub fn workload(kind: &str, namespace: &str, name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": kind,
        "metadata": {"name": name, "namespace": namespace, "uid": format!("{namespace}-{name}"), "generation": 2},
        "spec": {"selector": {"matchLabels": {"app": name}}, "template": template(name, "x:2")},
        "status": {"observedGeneration": 2},
    })
}

/// Returns `NAME-N`, the revision N of a workload.
#[must_use]
pub fn revision(workload: &Value, number: i64) -> Value {
    let (name, uid) = (text(workload, "name"), text(workload, "uid"));
    let owner = json!({"controller": true, "kind": workload["kind"], "name": name, "uid": uid});
    let base = json!({
        "apiVersion": "apps/v1",
        "metadata": {
            "name": format!("{name}-{number}"), "namespace": workload["metadata"]["namespace"],
            "uid": format!("{uid}-{number}"), "labels": {"app": name}, "ownerReferences": [owner],
        },
    });
    let template = template(name, &format!("x:{number}"));
    let own = if workload["kind"] == "Deployment" {
        let annotations = json!({"deployment.kubernetes.io/revision": number.to_string()});
        json!({"kind": "ReplicaSet", "metadata": {"annotations": annotations}, "spec": {"template": template}})
    } else {
        let hash = json!({"controller-revision-hash": number.to_string()});
        json!({"kind": "ControllerRevision", "revision": number, "metadata": {"labels": hash},
            "data": {"spec": {"template": template}}})
    };
    merged(base, &own)
}

/// Returns a healthy pod of revision N of a workload.
#[must_use]
pub fn pod(workload: &Value, pod: &str, number: i64) -> Value {
    let (name, uid) = (text(workload, "name"), text(workload, "uid"));
    let (owner, hash) = match workload["kind"].as_str() {
        Some("Deployment") => (format!("{uid}-{number}"), String::new()),
        Some("DaemonSet") => (uid.to_owned(), number.to_string()),
        _ => (uid.to_owned(), format!("{name}-{number}")),
    };
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": pod, "namespace": workload["metadata"]["namespace"], "uid": format!("uid-{pod}"),
            "creationTimestamp": "2026-11-20T13:00:00Z",
            "labels": {"app": name, "controller-revision-hash": hash},
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

fn text<'a>(object: &'a Value, member: &str) -> &'a str {
    object["metadata"][member].as_str().unwrap_or_default()
}
