//! A Deployment that is changed while it is paused, and what its pods did since.

use std::collections::BTreeMap;

use harness::Output;
use harness::test_cluster::TestCluster;
use serde_json::{Value, json};
use simcluster::resource::PODS;
use simcluster::{Key, object};

/// The fields that a plan replaces.
const OWN: [&str; 4] = ["paused", "minReadySeconds", "progressDeadlineSeconds", "strategy"];

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

    /// The same with a strategy, and with a change that a pause holds.
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

    pub(super) async fn step(&self, words: &str) -> Output {
        self.cluster.run(&format!("step deployment/web {words}")).await
    }

    pub(super) fn scale(&self, replicas: i64) {
        self.cluster.editor().patch(&self.web, &json!({"spec": {"replicas": replicas}}));
    }

    pub(super) fn object(&self) -> Value {
        self.cluster.sim.store(|store| Value::clone(store.find(&self.web).unwrap()))
    }

    /// The fields that a plan replaces, as far as they are present.
    pub(super) fn own(&self) -> Value {
        let spec = &self.object()["spec"];
        OWN.iter().filter_map(|name| Some(((*name).to_owned(), spec.get(*name)?.clone()))).collect()
    }

    pub(super) fn hold(&self) -> Option<Value> {
        let object = self.object();
        let text = object.pointer("/metadata/annotations/kubectl-rollout2~1held")?.as_str()?;
        Some(serde_json::from_str(text).unwrap())
    }

    /// How many pods run each image, and how many of them are ready: `1.0 6/6, 2.0 5/5`.
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

    /// The fewest ready pods at one time since a revision, and the most pods of an image.
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
                    let staying = || pods.values().flatten();
                    fewest = fewest.min(staying().filter(|(ready, _)| *ready).count());
                    most = most.max(staying().filter(|(_, runs)| *runs).count());
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
