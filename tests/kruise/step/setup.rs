//! A workload of OpenKruise on a simulated cluster, paused and then changed.

use std::collections::BTreeMap;

use harness::prelude::*;
use simcluster::object;

/// A workload `web` of pods that run `app:1.0`.
pub(super) struct Web {
    pub(super) cluster: Cluster,
    pub(super) key: Key,
    pub(super) target: &'static str,
}

pub(super) use crate::kruise::cluster::KINDS;

impl Web {
    /// Creates a workload with limits in `rollingUpdate`. An Advanced `DaemonSet` has a pod on each of the nodes.
    pub(super) async fn new(kind: (&'static Resource, &'static str), pods: usize, rolling: &Value) -> Self {
        let (resource, target) = kind;
        let cluster = Cluster::simulated().kruise().nodes(pods).start();
        let policy = if resource.kind == "DaemonSet" { "rollingUpdateType" } else { "podUpdatePolicy" };
        let mut limits = json!({policy: "InPlaceIfPossible", "maxUnavailable": 1});
        for (name, value) in rolling.as_object().unwrap() {
            limits[name] = value.clone();
        }
        let mut spec = json!({
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": limits},
            "podManagementPolicy": "Parallel", "revisionHistoryLimit": 10,
        });
        if resource.kind != "DaemonSet" {
            spec["replicas"] = pods.into();
        }
        let key = cluster.editor().create_workload(resource, "web", &spec);
        cluster.advance(60).await;
        Self { cluster, key, target }
    }

    /// Returns a workload that was paused and then changed to an image.
    pub(super) async fn changed(
        kind: (&'static Resource, &'static str),
        pods: usize,
        rolling: &Value,
        image: &str,
    ) -> Self {
        let web = Self::new(kind, pods, rolling).await;
        web.pause_and_change(image).await;
        web
    }

    pub(super) async fn pause_and_change(&self, image: &str) {
        self.run("pause").await.ends(0);
        self.cluster.editor().set_image(&self.key, image);
        self.cluster.advance(10).await;
    }

    /// Runs a verb with this workload as the first argument: `step --all`.
    pub(super) async fn run(&self, args: &str) -> Output {
        let (verb, rest) = args.split_once(' ').unwrap_or((args, ""));
        self.cluster.run(&format!("{verb} {} {rest}", self.target)).await
    }

    pub(super) fn patch(&self, patch: &Value) {
        self.cluster.editor().patch(&self.key, patch);
    }

    /// A node becomes ready or not, and its pods with it.
    pub(super) fn node_is_ready(&self, node: &str, is_ready: bool) {
        let status = if is_ready { "True" } else { "Unknown" };
        self.cluster.sim.store(|store| {
            let author = Author::new("node-controller");
            let set = |object: &mut Value| object["status"]["conditions"][0]["status"] = status.into();
            store.edit(&Key::new(&NODES, "", node), Part::Status, &author, set).unwrap();
            let pods = store.list(&PODS, None).filter(|(_, pod)| pod["spec"]["nodeName"] == *node);
            let pods: Vec<Key> = pods.map(|(key, _)| key.clone()).collect();
            for pod in pods {
                let set = |pod: &mut Value| {
                    let conditions = pod["status"]["conditions"].as_array_mut().into_iter().flatten();
                    for condition in conditions.filter(|one| one["type"] == "Ready") {
                        condition["status"] = if is_ready { "True" } else { "False" }.into();
                    }
                };
                store.edit(&pod, Part::Status, &author, set).unwrap();
            }
        });
    }

    pub(super) fn object(&self) -> Value {
        self.cluster.object(&self.key)
    }

    pub(super) fn strategy(&self) -> Value {
        self.object()["spec"]["updateStrategy"].clone()
    }

    pub(super) fn partition(&self) -> Value {
        self.strategy()["rollingUpdate"]["partition"].clone()
    }

    pub(super) fn hold(&self) -> Option<Value> {
        self.cluster.hold(&self.key)
    }

    pub(super) fn pods(&self) -> String {
        self.cluster.ready_pods()
    }

    /// Returns the uids of the pods by name.
    pub(super) fn uids(&self) -> BTreeMap<String, String> {
        self.cluster.sim.store(|store| {
            let pods = store.list(&PODS, Some("default"));
            pods.map(|(key, pod)| (key.name.clone(), object::uid(pod).to_owned())).collect()
        })
    }
}
