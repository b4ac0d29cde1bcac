//! A Deployment that was changed while it was paused, and the states of its pods.

use harness::prelude::*;

/// The fields of the spec that a plan replaces.
const REPLACED_FIELDS: [&str; 4] = ["paused", "minReadySeconds", "progressDeadlineSeconds", "strategy"];

/// A Deployment `web` of pods that run `app:1.0`.
pub(super) struct Web {
    pub(super) cluster: Cluster,
    pub(super) web: Key,
}

impl Web {
    pub(super) async fn new(replicas: i64, more: &Value) -> Self {
        let (cluster, web) = Cluster::simulated().deployment(replicas, more).await;
        Self { cluster, web }
    }

    /// Returns a Deployment with a strategy that was paused and then changed to an image.
    pub(super) async fn changed(replicas: i64, surge: Value, unavailable: Value, image: &str) -> Self {
        let web = Self::new(replicas, &strategy(&surge, &unavailable)).await;
        web.pause_and_change(image).await;
        web
    }

    pub(super) async fn pause_and_change(&self, image: &str) {
        self.cluster.run("pause deployment/web").await.ends(0);
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
        self.cluster.object(&self.web)
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
        self.cluster.hold(&self.web)
    }

    pub(super) fn pods(&self) -> String {
        self.cluster.ready_pods()
    }

    pub(super) fn extremes(&self, after: u64, image: &str) -> (usize, usize) {
        self.cluster.extremes(after, image)
    }
}

pub(super) fn strategy(surge: &Value, unavailable: &Value) -> Value {
    let rolling = json!({"maxSurge": surge, "maxUnavailable": unavailable});
    json!({"strategy": {"type": "RollingUpdate", "rollingUpdate": rolling}})
}
