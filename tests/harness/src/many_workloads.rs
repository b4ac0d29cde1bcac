//! Generates thousands of workloads from a recorded one.

use serde_json::{Value, json};

use crate::data;

/// Generates copies of one recorded Deployment.
#[derive(Clone, Debug)]
pub struct WorkloadGenerator {
    deployment: Value,
    replica_set: Value,
    pod: Value,
}

/// The size and the health of one generated Deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The number of its revisions.
    pub revisions: usize,
    /// The number of its pods, all of the newest revision.
    pub pods: usize,
    /// Whether the pods crash. Otherwise they are ready.
    pub crashing: bool,
}

impl WorkloadGenerator {
    /// Returns a generator of copies of the recorded Deployment `shop/web`.
    #[expect(clippy::expect_used, reason = "test support: a missing recording fails the test")]
    pub fn from_recording() -> Self {
        let text = std::fs::read(data().join("shop/snapshot.json")).expect("the recording can be read");
        let list: Value = serde_json::from_slice(&text).expect("the recording is JSON");
        let first = |kind: &str| {
            let matches = |item: &&Value| {
                item["kind"] == kind
                    && item["metadata"]["name"].as_str().is_some_and(|name| name.starts_with("web"))
            };
            let items = list["items"].as_array().into_iter().flatten();
            items.clone().find(matches).expect("the recording has one of each").clone()
        };
        Self { deployment: first("Deployment"), replica_set: first("ReplicaSet"), pod: first("Pod") }
    }

    /// Returns a Deployment with its ReplicaSets, oldest first, and its pods.
    pub fn deployment(&self, namespace: &str, name: &str, shape: Shape) -> Vec<Value> {
        let uid = format!("{namespace}-{name}");
        let mut deployment = self.deployment.clone();
        rename(&mut deployment, namespace, name, &uid);
        deployment["metadata"]["annotations"]["deployment.kubernetes.io/revision"] =
            shape.revisions.to_string().into();
        deployment["spec"]["selector"] = json!({"matchLabels": {"app": name}});
        deployment["spec"]["replicas"] = shape.pods.into();
        deployment["status"] = status(&deployment, shape);
        set_labels_and_image(&mut deployment["spec"]["template"], name, shape.revisions);
        let mut objects = vec![deployment];
        for number in 1..=shape.revisions {
            objects.push(self.replica_set(namespace, name, number, shape));
        }
        for index in 0..shape.pods {
            objects.push(self.pod(namespace, name, index, shape));
        }
        objects
    }

    fn replica_set(&self, namespace: &str, name: &str, number: usize, shape: Shape) -> Value {
        let full_name = format!("{name}-{number:010}");
        let mut set = self.replica_set.clone();
        rename(&mut set, namespace, &full_name, &format!("{namespace}-{full_name}"));
        set["metadata"]["labels"] = json!({"app": name, "pod-template-hash": format!("{number:010}")});
        set["metadata"]["annotations"]["deployment.kubernetes.io/revision"] = number.to_string().into();
        set["metadata"]["ownerReferences"] = owned_by("Deployment", namespace, name);
        set["spec"]["template"] = self.deployment["spec"]["template"].clone();
        set_labels_and_image(&mut set["spec"]["template"], name, number);
        set["spec"]["template"]["metadata"]["labels"]["pod-template-hash"] = format!("{number:010}").into();
        let pods = if number == shape.revisions { shape.pods } else { 0 };
        let ready = if shape.crashing { 0 } else { pods };
        set["spec"]["replicas"] = pods.into();
        set["status"] = json!({"replicas": pods, "readyReplicas": ready, "availableReplicas": ready});
        set
    }

    fn pod(&self, namespace: &str, name: &str, index: usize, shape: Shape) -> Value {
        let hash = format!("{:010}", shape.revisions);
        let full_name = format!("{name}-{hash}-{index:05}");
        let mut pod = self.pod.clone();
        rename(&mut pod, namespace, &full_name, &format!("{namespace}-{full_name}"));
        pod["metadata"]["labels"] = json!({"app": name, "pod-template-hash": hash});
        pod["metadata"]["ownerReferences"] = owned_by("ReplicaSet", namespace, &format!("{name}-{hash}"));
        if shape.crashing {
            crash(&mut pod["status"]);
        }
        pod
    }
}

fn rename(object: &mut Value, namespace: &str, name: &str, uid: &str) {
    let metadata = &mut object["metadata"];
    metadata["namespace"] = namespace.into();
    metadata["name"] = name.into();
    metadata["uid"] = uid.into();
}

fn owned_by(kind: &str, namespace: &str, name: &str) -> Value {
    json!([{
        "apiVersion": "apps/v1", "blockOwnerDeletion": true, "controller": true, "kind": kind, "name": name,
        "uid": format!("{namespace}-{name}"),
    }])
}

/// Sets the labels and the image of a template. Every revision number has an image of its own.
fn set_labels_and_image(template: &mut Value, name: &str, number: usize) {
    template["metadata"]["labels"] = json!({"app": name});
    template["spec"]["containers"][0]["image"] = format!("shop/web:{number}").into();
}

fn status(deployment: &Value, shape: Shape) -> Value {
    let ready = if shape.crashing { 0 } else { shape.pods };
    json!({
        "observedGeneration": deployment["metadata"]["generation"], "replicas": shape.pods,
        "updatedReplicas": shape.pods, "readyReplicas": ready, "availableReplicas": ready,
        "conditions": deployment["status"]["conditions"],
    })
}

fn crash(status: &mut Value) {
    for condition in status["conditions"].as_array_mut().into_iter().flatten() {
        if condition["type"] == "Ready" || condition["type"] == "ContainersReady" {
            condition["status"] = "False".into();
        }
    }
    let container = &mut status["containerStatuses"][0];
    container["ready"] = false.into();
    container["restartCount"] = 3.into();
    container["lastState"] =
        json!({"terminated": {"exitCode": 1, "reason": "Error", "message": "no DB_URL"}});
    container["state"] = json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 40s"}});
}
