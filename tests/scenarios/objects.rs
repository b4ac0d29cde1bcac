//! The workloads of the scenarios, and conditions to wait for.

use serde_json::{Value, json};

use harness::real::RealCluster;

/// A workload in a scenario.
pub(crate) struct Workload<'g> {
    cluster: &'g RealCluster,
    /// The path of the object in the API.
    pub(crate) path: String,
    /// The target on a command line.
    pub(crate) name: &'static str,
}

impl<'g> Workload<'g> {
    /// Creates the Deployment `web`.
    pub(crate) async fn web(cluster: &'g RealCluster, more: &Value) -> Self {
        Self::new(cluster, "Deployment", "deployments", "deployment/web", more).await
    }

    /// Creates the `StatefulSet` `db`.
    pub(crate) async fn db(cluster: &'g RealCluster, more: &Value) -> Self {
        Self::new(cluster, "StatefulSet", "statefulsets", "statefulset/db", more).await
    }

    /// Creates the `DaemonSet` `agent`.
    pub(crate) async fn agent(cluster: &'g RealCluster, more: &Value) -> Self {
        Self::new(cluster, "DaemonSet", "daemonsets", "daemonset/agent", more).await
    }

    async fn new(
        cluster: &'g RealCluster,
        kind: &str,
        plural: &str,
        name: &'static str,
        more: &Value,
    ) -> Self {
        let short = name.split('/').nth(1).unwrap();
        let labels = json!({ "app": short });
        let container = json!({ "name": "app", "image": "app:1.0" });
        let mut spec = json!({
            "selector": { "matchLabels": labels },
            "template": {
                "metadata": { "labels": labels },
                "spec": { "containers": [container], "terminationGracePeriodSeconds": 1 },
            },
        });
        if kind == "StatefulSet" {
            spec["serviceName"] = short.into();
        }
        spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let metadata = json!({ "name": short, "annotations": { CAUSE: "first release" } });
        let value = json!({ "apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec });
        Self { path: cluster.create(plural, &value).await, cluster, name }
    }

    /// Merges a patch into the spec.
    pub(crate) async fn patch(&self, spec: &Value) {
        self.cluster.patch(&self.path, &json!({ "spec": spec })).await;
    }

    /// Sets the image and the change-cause.
    pub(crate) async fn set_image(&self, image: &str, cause: &str) {
        let containers = json!([{ "name": "app", "image": image }]);
        let patch = json!({
            "metadata": { "annotations": { CAUSE: cause } },
            "spec": { "template": { "spec": { "containers": containers } } },
        });
        self.cluster.patch(&self.path, &patch).await;
    }

    /// Sets the partition of a `StatefulSet`.
    pub(crate) async fn partition(&self, partition: i64) {
        self.patch(&json!({ "updateStrategy": { "rollingUpdate": { "partition": partition } } })).await;
    }

    /// Waits until the workload matches and its last change was observed.
    pub(crate) async fn wait_until(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let observed =
            |object: &Value| object["status"]["observedGeneration"] == object["metadata"]["generation"];
        self.cluster.wait_until(&self.path, what, |object| observed(object) && wanted(object)).await
    }

    /// Waits until the rollout is complete and no outdated pod remains, not even a terminating one.
    pub(crate) async fn wait_until_complete(&self) {
        self.wait_until("complete", is_complete).await;
        let leaving = |pod: &Value| !pod["metadata"]["deletionTimestamp"].is_null();
        self.cluster.wait_until_pods("no pod is about to go", |pods| !pods.iter().any(leaving)).await;
        // Waits for the last terminating pod too.
        self.wait_until("complete", is_complete).await;
    }

    /// Returns the exit code and stdout of `status`.
    pub(crate) async fn status(&self) -> (u8, String) {
        let output = self.cluster.rollout2(&["status", self.name, "--watch=false"]).await;
        (output.exit, output.stdout)
    }

    /// Returns the causes that `status` prints.
    pub(crate) async fn causes(&self) -> String {
        self.cluster.rollout2(&["status", self.name, "--watch=false"]).await.stderr
    }
}

/// The change-cause annotation.
const CAUSE: &str = "kubernetes.io/change-cause";

/// Returns a counter of the status; 0 if it is absent.
pub(crate) fn count(object: &Value, member: &str) -> i64 {
    object["status"][member].as_i64().unwrap_or(0)
}

/// Whether every wanted pod is updated and available, and no other remains.
fn is_complete(object: &Value) -> bool {
    let all = |members: &[&str], wanted: i64| members.iter().all(|member| count(object, member) == wanted);
    match object["spec"]["replicas"].as_i64() {
        Some(wanted) if object["kind"] == "Deployment" => {
            all(&["replicas", "updatedReplicas", "availableReplicas"], wanted)
        }
        Some(wanted) => {
            all(&["replicas", "updatedReplicas", "readyReplicas"], wanted)
                && (object["status"]["currentRevision"] == object["status"]["updateRevision"]
                    || object["spec"]["updateStrategy"]["type"] == "OnDelete")
        }
        None => {
            let desired = count(object, "desiredNumberScheduled");
            desired > 0 && all(&["updatedNumberScheduled", "numberAvailable"], desired)
        }
    }
}

/// Whether a Deployment reports that its progress deadline passed.
pub(crate) fn is_past_deadline(deployment: &Value) -> bool {
    let conditions = deployment["status"]["conditions"].as_array().into_iter().flatten();
    conditions.into_iter().any(|condition| condition["reason"] == "ProgressDeadlineExceeded")
}
