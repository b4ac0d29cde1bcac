//! A workload of OpenKruise on a simulated cluster, paused and then changed.

use std::collections::BTreeMap;

use harness::Output;
use harness::test_cluster::TestCluster;
use serde_json::{Value, json};
use simcluster::resource::{ADVANCED_DAEMONSETS, ADVANCED_STATEFULSETS, CLONESETS, NODES, PODS};
use simcluster::rules::{Author, Part};
use simcluster::{Controllers, Key, Resource, SimCluster, object};

/// A workload `web` of pods that run `app:1.0`.
pub(super) struct Web {
    pub(super) cluster: TestCluster,
    pub(super) key: Key,
    pub(super) target: &'static str,
}

/// Each kind with its name on the command line.
pub(super) const KINDS: [(&Resource, &str); 3] =
    [(&CLONESETS, "cloneset/web"), (&ADVANCED_STATEFULSETS, "asts/web"), (&ADVANCED_DAEMONSETS, "ads/web")];

impl Web {
    /// Creates a workload with limits in `rollingUpdate`. An Advanced `DaemonSet` has a pod on each of the nodes.
    pub(super) async fn new(kind: (&'static Resource, &'static str), pods: usize, rolling: &Value) -> Self {
        let (resource, target) = kind;
        let builder = SimCluster::builder().kruise().nodes(pods);
        let cluster = TestCluster::from_builder(builder, Controllers::new());
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
        ends(&self.run("pause").await, 0);
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
        self.cluster.sim.store(|store| Value::clone(store.find(&self.key).unwrap()))
    }

    pub(super) fn strategy(&self) -> Value {
        self.object()["spec"]["updateStrategy"].clone()
    }

    pub(super) fn partition(&self) -> Value {
        self.strategy()["rollingUpdate"]["partition"].clone()
    }

    pub(super) fn hold(&self) -> Option<Value> {
        let object = self.object();
        let text = object.pointer("/metadata/annotations/kubectl-rollout2~1held")?.as_str()?;
        Some(serde_json::from_str(text).unwrap())
    }

    /// Returns the ready pods and all pods of each image: `1.0 6/6, 2.0 4/4`.
    pub(super) fn pods(&self) -> String {
        let mut images = BTreeMap::<String, (usize, usize)>::new();
        self.cluster.sim.store(|store| {
            for (_, pod) in store.list(&PODS, Some("default")).filter(|(_, pod)| !object::is_terminating(pod))
            {
                let image = object::text(&pod["spec"]["containers"][0], &["image"]);
                let (ready, all) = images.entry(image.trim_start_matches("app:").to_owned()).or_default();
                (*ready, *all) = (*ready + usize::from(is_ready(pod)), *all + 1);
            }
        });
        let words = images.iter().map(|(image, (ready, all))| format!("{image} {ready}/{all}"));
        words.collect::<Vec<_>>().join(", ")
    }

    /// Returns the uids of the pods by name.
    pub(super) fn uids(&self) -> BTreeMap<String, String> {
        self.cluster.sim.store(|store| {
            let pods = store.list(&PODS, Some("default"));
            pods.map(|(key, pod)| (key.name.clone(), object::uid(pod).to_owned())).collect()
        })
    }

    /// Returns the lowest number of ready pods since a revision of the store.
    pub(super) fn fewest_ready(&self, after: u64) -> usize {
        let mut pods = BTreeMap::new();
        let mut fewest = usize::MAX;
        self.cluster.sim.store(|store| {
            for change in store.changes_after(0).unwrap().filter(|change| change.key.resource == &PODS) {
                let pod = change.after.as_deref().filter(|pod| !object::is_terminating(pod));
                pods.insert(change.key.name.clone(), pod.is_some_and(is_ready));
                if change.revision > after {
                    fewest = fewest.min(pods.values().filter(|ready| **ready).count());
                }
            }
        });
        fewest
    }
}

fn is_ready(pod: &Value) -> bool {
    let conditions = object::list(pod, &["status", "conditions"]);
    conditions.iter().any(|one| one["type"] == "Ready" && one["status"] == "True")
}

#[track_caller]
pub(super) fn ends(output: &Output, exit: u8) {
    assert_eq!(output.exit, exit, "{}", output.transcript);
}
