//! A simulated cluster with a workload of OpenKruise.

use std::time::Duration;

use harness::{Output, Run};
use serde_json::{Value, json};
use simcluster::patch::Format;
use simcluster::resource::{
    ADVANCED_DAEMONSETS, ADVANCED_DAEMONSETS_V1ALPHA1, ADVANCED_STATEFULSETS, CLONESETS, CLONESETS_V1ALPHA1,
};
use simcluster::rules::{Author, Part};
use simcluster::{Builder, Controllers, Finalization, Key, Resource, SimCluster};

const LONG: Duration = Duration::from_secs(3600);

pub(crate) struct KruiseCluster {
    pub(crate) sim: SimCluster,
    pub(crate) controllers: Controllers,
}

impl KruiseCluster {
    /// Starts a cluster with the newest release.
    pub(crate) fn new() -> Self {
        Self::of(SimCluster::builder().nodes(3).kruise())
    }

    /// Starts the cluster of a builder.
    pub(crate) fn of(builder: Builder) -> Self {
        let sim = builder.finalization(Finalization::ByControllers).build();
        Self { sim, controllers: Controllers::new() }
    }

    /// Creates a workload with three pods that are updated in place.
    pub(crate) fn create(&mut self, resource: &'static Resource) -> Key {
        let template = json!({
            "metadata": {"labels": {"app": resource.kind}},
            "spec": {"containers": [{"name": "main", "image": "web:1"}]},
        });
        let policy = if resource.kind == "DaemonSet" { "rollingUpdateType" } else { "podUpdatePolicy" };
        let strategy = if resource.kind == "CloneSet" && resource.version == "v1alpha1" {
            json!({"type": "InPlaceIfPossible", "maxUnavailable": 1})
        } else {
            json!({"type": "RollingUpdate", "rollingUpdate": {policy: "InPlaceIfPossible", "maxUnavailable": 1}})
        };
        let spec = json!({
            "replicas": 3, "selector": {"matchLabels": {"app": resource.kind}}, "template": template,
            "updateStrategy": strategy, "revisionHistoryLimit": 10, "podManagementPolicy": "Parallel",
        });
        let object = json!({"metadata": {"name": "web"}, "spec": spec});
        let created = self
            .sim
            .store(|store| store.create(resource, "default", object, &Author::new("kubectl")).unwrap());
        self.settle();
        Key::of(resource, &created)
    }

    /// Merges a patch into an object.
    pub(crate) fn patch(&self, key: &Key, patch: &Value) {
        self.sim.store(|store| {
            store.patch(key, Part::Object, Format::Merge, patch, &Author::new("kubectl")).unwrap()
        });
    }

    /// Sets the image of the only container.
    pub(crate) fn set_image(&self, key: &Key, image: &str) {
        let containers = json!([{"name": "main", "image": image}]);
        self.patch(key, &json!({"spec": {"template": {"spec": {"containers": containers}}}}));
    }

    /// Runs the controllers until nothing changes.
    pub(crate) fn settle(&mut self) {
        self.controllers.settle(&self.sim, LONG);
        self.sim.store(|store| store.clock().advance(Duration::from_secs(10)));
    }

    /// Returns an object.
    pub(crate) fn get(&self, key: &Key) -> Value {
        self.sim.store(|store| Value::clone(store.find(key).unwrap()))
    }

    /// Runs a command line.
    pub(crate) async fn run(&self, args: &[&str]) -> Output {
        Run::of(args).run_against(kube::Client::new(self.sim.service(), "default")).await
    }
}

/// The kinds of the newest release, with their targets on a command line.
pub(crate) const KINDS: [(&Resource, &str); 3] =
    [(&CLONESETS, "cloneset/web"), (&ADVANCED_STATEFULSETS, "asts/web"), (&ADVANCED_DAEMONSETS, "ads/web")];

/// The kinds of OpenKruise 1.8.
pub(crate) const OLD_KINDS: [(&Resource, &str); 3] = [
    (&CLONESETS_V1ALPHA1, "cloneset/web"),
    (&ADVANCED_STATEFULSETS, "asts/web"),
    (&ADVANCED_DAEMONSETS_V1ALPHA1, "ads/web"),
];
