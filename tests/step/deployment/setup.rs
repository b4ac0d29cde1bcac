//! A Deployment that was changed while it was paused, and the states of its pods.

use std::collections::BTreeMap;

use harness::Output;
use harness::test_cluster::TestCluster;
use serde_json::{Value, json};
use simcluster::resource::PODS;
use simcluster::{Key, object};

/// The fields of the spec that a plan replaces.
const REPLACED_FIELDS: [&str; 4] = ["paused", "minReadySeconds", "progressDeadlineSeconds", "strategy"];

/// A Deployment `web` of pods that run `app:1.0`.
pub(super) struct Web {
    pub(super) cluster: TestCluster,
    pub(super) web: Key,
}

impl Web {
    pub(super) async fn new(replicas: i64, more: &Value) -> Self {
        let cluster = TestCluster::new();
        let web = cluster.deployment(replicas, more);
        cluster.advance(30).await;
        Self { cluster, web }
    }

    /// Returns a Deployment with a strategy that was paused and then changed to an image.
    pub(super) async fn changed(replicas: i64, surge: Value, unavailable: Value, image: &str) -> Self {
        let web = Self::new(replicas, &strategy(&surge, &unavailable)).await;
        web.pause_and_change(image).await;
        web
    }

    pub(super) async fn pause_and_change(&self, image: &str) {
        let paused = self.cluster.run("pause deployment/web").await;
        assert_eq!(paused.exit, 0, "{}", paused.transcript);
        self.cluster.editor().set_image(&self.web, image);
        self.cluster.advance(10).await;
    }

    pub(super) async fn step(&self, args: &str) -> Output {
        self.cluster.run(&format!("step deployment/web {args}")).await
    }

    pub(super) fn scale(&self, replicas: i64) {
        self.cluster.editor().patch(&self.web, &json!({"spec": {"replicas": replicas}}));
    }

    pub(super) fn object(&self) -> Value {
        self.cluster.sim.store(|store| Value::clone(store.find(&self.web).unwrap()))
    }

    /// Returns the fields that a plan replaces, without those that are absent.
    pub(super) fn replaced_fields(&self) -> Value {
        let spec = &self.object()["spec"];
        REPLACED_FIELDS
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), spec.get(*name)?.clone())))
            .collect()
    }

    pub(super) fn hold(&self) -> Option<Value> {
        let object = self.object();
        let text = object.pointer("/metadata/annotations/kubectl-rollout2~1held")?.as_str()?;
        Some(serde_json::from_str(text).unwrap())
    }

    /// Returns the ready pods and all pods of each image: `1.0 6/6, 2.0 5/5`.
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
        images
            .iter()
            .map(|(image, (ready, all))| format!("{image} {ready}/{all}"))
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Returns the lowest number of ready pods since a revision of the store, and the highest number of pods of an
    /// image.
    pub(super) fn extremes(&self, after: u64, image: &str) -> (usize, usize) {
        let mut pods = BTreeMap::new();
        let (mut fewest, mut most) = (usize::MAX, 0);
        self.cluster.sim.store(|store| {
            for change in store.changes_after(0).unwrap().filter(|change| change.key.resource == &PODS) {
                let state = change.after.as_deref().filter(|pod| !object::is_terminating(pod)).map(|pod| {
                    (is_ready(pod), object::text(&pod["spec"]["containers"][0], &["image"]) == image)
                });
                pods.insert(change.key.name.clone(), state);
                if change.revision > after {
                    let remaining = || pods.values().flatten();
                    fewest = fewest.min(remaining().filter(|(ready, _)| *ready).count());
                    most = most.max(remaining().filter(|(_, runs)| *runs).count());
                }
            }
        });
        (fewest, most)
    }
}

fn is_ready(pod: &Value) -> bool {
    let conditions = object::list(pod, &["status", "conditions"]);
    conditions.iter().any(|one| one["type"] == "Ready" && one["status"] == "True")
}

pub(super) fn strategy(surge: &Value, unavailable: &Value) -> Value {
    let rolling = json!({"maxSurge": surge, "maxUnavailable": unavailable});
    json!({"strategy": {"type": "RollingUpdate", "rollingUpdate": rolling}})
}

#[track_caller]
pub(super) fn ends(output: &Output, exit: u8) {
    assert_eq!(output.exit, exit, "{}", output.transcript);
}
