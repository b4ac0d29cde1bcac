//! Observations for tests, from revisions and pods as their controllers and the kubelet write them. The uid of each workload
//! is `u`.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Observation;
use crate::api::object::Object;
use crate::api::pod::Pod;
use crate::kind::Workload;
use crate::revision::Revisions;

/// Returns a template with one container.
pub(crate) fn template(image: &str) -> Value {
    json!({"spec": {"containers": [{"name": "c", "image": image}]}})
}

/// Returns a revision, with the members that the store of any kind has. Its uid is its name.
pub(crate) fn revision(name: &str, number: i64, template: &Value) -> Value {
    json!({"kind": "X", "revision": number, "data": {"spec": {"template": template}}, "spec": {"template": template},
        "metadata": {"name": name, "uid": name, "labels": {"controller-revision-hash": name},
            "annotations": {"deployment.kubernetes.io/revision": number.to_string()},
            "ownerReferences": [{"controller": true, "uid": "u"}]}})
}

/// Returns a pod of a revision of a kind of workload.
pub(crate) fn pod(kind: &str, name: &str, revision: &str, ready: bool) -> Value {
    let owner = if kind == "Deployment" { revision } else { "u" };
    let ready = if ready { "True" } else { "False" };
    json!({"kind": "Pod", "status": {"conditions": [{"type": "Ready", "status": ready}]},
        "metadata": {"name": name, "labels": {"controller-revision-hash": revision},
            "ownerReferences": [{"controller": true, "uid": owner}]}})
}

/// Returns the observation of a workload.
pub(crate) fn observation(
    workload: &Value,
    revisions: impl IntoIterator<Item = Value>,
    pods: impl IntoIterator<Item = Value>,
) -> Observation {
    let read = |object| Object::read(object).unwrap();
    let workload = Workload::of_json(workload).unwrap();
    let revisions = Revisions::of(&workload, revisions.into_iter().map(read));
    let pods = pods.into_iter().map(|pod| Arc::new(Pod::read(&read(pod)))).collect();
    Observation { workload, revisions, pods: Some(pods), events: None }
}
