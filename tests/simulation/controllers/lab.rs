//! A cluster with its controllers, and the states of its objects.

use std::time::Duration;

use harness::cluster::{Editor, with};
use serde_json::{Value, json};
use simcluster::resource::{DAEMONSETS, DEPLOYMENTS, PODS, REPLICASETS, STATEFULSETS};
use simcluster::rules::Author;
use simcluster::{Builder, Controller, Controllers, Finalization, Key, Resource, SimCluster, Task, object};

/// Long enough for every rollout that completes.
pub(crate) const LONG: Duration = Duration::from_secs(3600);

/// A cluster of three nodes with controllers on a stepped clock.
pub(crate) struct Lab {
    pub(crate) cluster: SimCluster,
    pub(crate) controllers: Controllers,
}

impl Lab {
    pub(crate) fn new() -> Self {
        Self::with(Controllers::new())
    }

    pub(crate) fn with(controllers: Controllers) -> Self {
        Self { cluster: builder().build(), controllers }
    }

    /// Returns a lab with the feature gate `MaxUnavailableStatefulSet`.
    pub(crate) fn gated() -> Self {
        let cluster = builder().max_unavailable_stateful_set().build();
        Self { cluster, controllers: Controllers::new() }
    }

    /// Creates an object of apps/v1 in the namespace `default`.
    pub(crate) fn create(&self, resource: &'static Resource, value: &Value) -> Key {
        let made = self.cluster.store(|store| {
            store.create(resource, "default", value.clone(), &Author::new("kubectl-create")).unwrap()
        });
        Key::of(resource, &made)
    }

    /// Merges a patch into an object.
    pub(crate) fn patch(&self, key: &Key, patch: &Value) {
        self.editor().patch(key, patch);
    }

    /// Sets the image of the only container.
    pub(crate) fn image(&self, key: &Key, image: &str) {
        self.editor().set_image(key, image);
    }

    pub(crate) fn delete(&self, key: &Key) {
        self.editor().delete(key);
    }

    pub(crate) fn get(&self, key: &Key) -> Value {
        self.cluster.store(|store| Value::clone(store.find(key).unwrap()))
    }

    /// Executes the task of one controller for one object.
    pub(crate) fn step(&mut self, controller: Controller, key: &Key) {
        let task = Task::new(controller, key.clone());
        self.cluster.store(|store| self.controllers.step(store, &task));
    }

    /// Returns the `ReplicaSet` that was created last.
    pub(crate) fn newest_set(&self) -> Key {
        let number = |key: &Key| object::resource_version(&self.get(key));
        let keys: Vec<Key> =
            self.cluster.store(|store| store.list(&REPLICASETS, None).map(|(key, _)| key.clone()).collect());
        keys.into_iter().max_by_key(number).unwrap()
    }

    /// Runs until nothing is due for an hour, and advances the clock by some seconds.
    pub(crate) fn settle(&mut self) {
        self.controllers.settle(&self.cluster, LONG);
        self.cluster.store(|store| store.clock().advance(Duration::from_secs(10)));
    }

    /// Runs for some seconds.
    pub(crate) fn run_for(&mut self, seconds: u64) {
        self.controllers.run_for(&self.cluster, Duration::from_secs(seconds));
    }

    pub(crate) fn revision(&self) -> u64 {
        self.cluster.store(|store| store.revision())
    }

    /// Returns every state of an object after a revision, as text and without repetitions.
    pub(crate) fn states(&self, key: &Key, after: u64, tell: impl Fn(&Value) -> String) -> Vec<String> {
        let mut states: Vec<String> = self.cluster.store(|store| {
            let changes = store.changes_after(after).unwrap().filter(|change| change.key == *key);
            changes.filter_map(|change| change.after.as_deref().map(&tell)).collect()
        });
        states.dedup();
        states
    }

    /// Returns the names and images of the pods that are not being deleted, by name.
    pub(crate) fn images(&self) -> Vec<(String, String)> {
        self.cluster.store(|store| {
            let staying = store.list(&PODS, Some("default")).filter(|(_, pod)| !object::is_terminating(pod));
            let image = |pod: &Value| object::text(&pod["spec"]["containers"][0], &["image"]).to_owned();
            staying.map(|(key, pod)| (key.name.clone(), image(pod))).collect()
        })
    }

    /// A Deployment `web` of `replicas` pods.
    pub(crate) fn deployment(&self, replicas: i64, more: &Value) -> Key {
        self.editor().create_workload(&DEPLOYMENTS, "web", &with(json!({ "replicas": replicas }), more))
    }

    /// A `StatefulSet` `db` of `replicas` pods.
    pub(crate) fn stateful_set(&self, replicas: i64, more: &Value) -> Key {
        let spec = json!({ "replicas": replicas, "serviceName": "db" });
        self.editor().create_workload(&STATEFULSETS, "db", &with(spec, more))
    }

    /// A `DaemonSet` `agent`.
    pub(crate) fn daemon_set(&self, more: &Value) -> Key {
        self.editor().create_workload(&DAEMONSETS, "agent", more)
    }

    pub(crate) fn editor(&self) -> Editor {
        Editor::new(&self.cluster)
    }
}

pub(crate) fn builder() -> Builder {
    let builder = SimCluster::builder().finalization(Finalization::ByControllers);
    builder.nodes(3).history(100_000).without_managed_fields()
}

/// Returns the state of a Deployment in the form of the recorded traces: generation, observed generation, revision,
/// `replicas/updated/ready/available/terminating` and the reason of `Progressing`.
pub(crate) fn printed(deployment: &Value) -> String {
    let status = &deployment["status"];
    let count = |member: &str| match status.get(member).and_then(Value::as_i64) {
        None | Some(0) if member != "terminatingReplicas" => "-".to_owned(),
        None => "-".to_owned(),
        Some(number) => number.to_string(),
    };
    let counts: Vec<String> =
        ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "terminatingReplicas"]
            .map(count)
            .into();
    format!(
        "{} obs={} rev={} {} {}",
        object::generation(deployment),
        status["observedGeneration"],
        object::text(deployment, &["metadata", "annotations", "deployment.kubernetes.io/revision"]),
        counts.join("/"),
        object::condition(deployment, "Progressing")
            .map_or("", |condition| object::text(condition, &["reason"])),
    )
}
