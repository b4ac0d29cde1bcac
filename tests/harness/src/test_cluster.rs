//! A simulated cluster with controllers on tokio's clock, and command lines that reach it without a socket.

#![expect(clippy::unwrap_used, reason = "a failed setup fails the test")]
#![expect(clippy::missing_panics_doc, reason = "a failed setup fails the test")]
#![expect(clippy::must_use_candidate, reason = "a test often needs the object, not its key")]

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use rollout2::model::api::event::{Event, Events};
use rollout2::model::api::object::Object;
use rollout2::model::api::pod::Pod;
use rollout2::model::kind::Workload;
use rollout2::model::observation::Observation;
use rollout2::model::revision::Revisions;
use serde_json::{Value, json};
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::patch::Format;
use simcluster::resource::{
    CONTROLLERREVISIONS, DAEMONSETS, DEPLOYMENTS, EVENTS, PODS, REPLICASETS, STATEFULSETS,
};
use simcluster::rules::{Author, Deletion, Part};
use simcluster::{Clock, Controllers, Finalization, Key, Resource, SimCluster, Verb};
use tokio::task::JoinHandle;

use crate::{Output, Run, kubectl_status};

/// The time at which the clock of every test cluster starts.
pub const START: &str = "2026-11-20T13:25:25Z";

/// A simulated cluster of three nodes whose controllers run on tokio's clock. Create it on the runtime of the test.
#[derive(Debug)]
pub struct TestCluster {
    /// The simulated API server and its store.
    pub sim: SimCluster,
    controllers: JoinHandle<()>,
}

/// The objects of a cluster at a moment. Users, logs and options of the builder are not saved.
#[derive(Debug)]
pub struct SavedCluster {
    objects: Value,
    now: Timestamp,
}

impl SavedCluster {
    /// Starts a cluster with these objects, at this time.
    pub fn start(&self) -> TestCluster {
        let builder = SimCluster::builder().snapshot(&self.objects).unwrap();
        TestCluster::starting_at(self.now, builder, Controllers::new())
    }
}

impl Default for TestCluster {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for TestCluster {
    fn drop(&mut self) {
        self.controllers.abort();
    }
}

impl TestCluster {
    /// Starts a cluster whose controllers run one task at a time.
    pub fn new() -> Self {
        Self::with_controllers(Controllers::new())
    }

    /// Starts a cluster with these controllers.
    pub fn with_controllers(controllers: Controllers) -> Self {
        Self::with_nodes(SimCluster::builder(), controllers)
    }

    /// Starts a cluster that serves the kinds of OpenKruise.
    pub fn kruise() -> Self {
        Self::with_nodes(SimCluster::builder().kruise(), Controllers::new())
    }

    /// Starts a cluster that keeps no `managedFields`, which halves the cost of a write.
    pub fn without_managed_fields(controllers: Controllers) -> Self {
        Self::with_nodes(SimCluster::builder().without_managed_fields(), controllers)
    }

    fn with_nodes(builder: simcluster::Builder, controllers: Controllers) -> Self {
        Self::from_builder(builder.nodes(3), controllers)
    }

    /// Starts the cluster of a builder. Clock, finalization and history are set here.
    pub fn from_builder(builder: simcluster::Builder, controllers: Controllers) -> Self {
        Self::starting_at(START.parse().unwrap(), builder, controllers)
    }

    /// Starts the cluster of a builder with its clock at a given time.
    pub fn starting_at(start: Timestamp, builder: simcluster::Builder, controllers: Controllers) -> Self {
        let builder = builder.clock(Clock::tokio(start));
        let sim = builder.finalization(Finalization::ByControllers).history(100_000).build();
        let controllers = tokio::spawn(controllers.run(sim.clone()));
        Self { sim, controllers }
    }

    /// Returns the present objects and time, to start any number of clusters with them.
    pub fn saved(&self) -> SavedCluster {
        self.sim.store(|store| SavedCluster { objects: store.snapshot(), now: store.now() })
    }

    /// Stops the controllers for the rest of the test.
    pub fn stop_controllers(&self) {
        self.controllers.abort();
    }

    /// Waits for this many seconds of the simulated time.
    pub async fn advance(&self, seconds: u64) {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }

    /// Runs `status` with these arguments.
    pub async fn status(&self, args: &str) -> Output {
        self.status_as("admin", args).await
    }

    /// Runs `status` with these arguments as another user.
    pub async fn status_as(&self, user: &str, args: &str) -> Output {
        self.run_as(user, &format!("status {args}")).await
    }

    /// Runs a command line.
    pub async fn run(&self, args: &str) -> Output {
        self.run_as("admin", args).await
    }

    /// Runs a command line as another user.
    pub async fn run_as(&self, user: &str, args: &str) -> Output {
        let client = kube::Client::new(self.sim.service_for(user), "default");
        Run::of(args.split_whitespace()).at(START.parse().unwrap()).run_against(client).await
    }

    /// Runs an action after the given milliseconds, while a command runs.
    pub fn later(&self, milliseconds: u64, act: impl FnOnce(&Editor) + Send + 'static) {
        let editor = self.editor();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(milliseconds)).await;
            act(&editor);
        });
    }

    /// Returns an editor of the objects of this cluster.
    pub fn editor(&self) -> Editor {
        Editor::new(&self.sim)
    }

    /// Creates the Deployment `web`.
    pub fn deployment(&self, replicas: i64, more: &Value) -> Key {
        self.editor().create_workload(&DEPLOYMENTS, "web", &with(json!({"replicas": replicas}), more))
    }

    /// Creates the `StatefulSet` `db`.
    pub fn stateful_set(&self, replicas: i64, more: &Value) -> Key {
        let spec = json!({"replicas": replicas, "serviceName": "db"});
        self.editor().create_workload(&STATEFULSETS, "db", &with(spec, more))
    }

    /// Creates the `DaemonSet` `agent`.
    pub fn daemon_set(&self, more: &Value) -> Key {
        self.editor().create_workload(&DAEMONSETS, "agent", more)
    }

    /// Returns the newest revision of the store, which is the `resourceVersion` of a list.
    pub fn revision(&self) -> u64 {
        self.sim.store(|store| store.revision())
    }

    /// Sets the image when the command under test reads the workload for the first time, so that the command
    /// observes every state that follows.
    pub fn set_image_on_first_read(&self, key: &Key, image: &str) {
        self.patch_on_first_read(key, &image_patch(image));
    }

    /// Applies a patch when the command under test reads the workload for the first time.
    pub fn patch_on_first_read(&self, key: &Key, patch: &Value) {
        let (target, patch) = (key.clone(), patch.clone());
        let action = FaultAction::write_before(move |store| {
            store.patch(&target, Part::Object, Format::Merge, &patch, &Author::new("kubectl-set")).unwrap();
        });
        self.sim.fault(Fault::on(Requests::of(Verb::Get, key.resource), action).once());
    }

    /// Returns what `kubectl rollout status` prints for the states of a workload after a revision of the store,
    /// until kubectl exits. Repeated lines are left out.
    pub fn expected_kubectl_lines(&self, key: &Key, after: u64) -> Vec<String> {
        let states: Vec<_> = self.sim.store(|store| {
            let changes = store.changes_after(after).unwrap().filter(|change| change.key == *key);
            changes.filter_map(|change| change.after.clone()).collect()
        });
        let mut lines = Vec::new();
        for state in states {
            let (line, is_done) = kubectl_status(&state);
            lines.push(line);
            if is_done {
                break;
            }
        }
        lines.dedup();
        lines
    }
}

/// Observes a workload: reads it and everything that belongs to it from the store.
pub fn observed(cluster: &SimCluster, key: &Key) -> Option<Observation> {
    let (workload, [sets, revisions, pods, events]) = cluster.store(|store| {
        let all = |resource: &'static Resource| -> Vec<Object> {
            let values = store.list(resource, Some(&key.namespace)).map(|(_, value)| Value::clone(value));
            values.map(|value| Object::read(value).unwrap()).collect()
        };
        let workload = store.get(key).map(|value| Object::read(Value::clone(value)).unwrap());
        (workload, [all(&REPLICASETS), all(&CONTROLLERREVISIONS), all(&PODS), all(&EVENTS)])
    });
    let workload = Workload::of(workload?)?;
    let revisions = Revisions::of(&workload, sets.into_iter().chain(revisions));
    let pods = Some(pods.iter().map(Pod::read).map(Into::into).collect());
    let events = Some(Events::of(events.iter().filter_map(Event::read)));
    Some(Observation { workload, revisions, pods, events })
}

/// Returns the key of an object in the namespace `default`.
pub fn key(resource: &'static Resource, name: &str) -> Key {
    Key::new(resource, "default", name)
}

/// Changes objects in the store as another client does, also while a command runs.
#[derive(Clone, Debug)]
pub struct Editor {
    /// The cluster whose objects change.
    pub sim: SimCluster,
}

impl Editor {
    /// Returns an editor of the objects of a cluster.
    pub fn new(sim: &SimCluster) -> Self {
        Self { sim: sim.clone() }
    }

    /// Creates a workload of apps/v1 with one container `app:1.0`.
    pub fn create_workload(&self, resource: &'static Resource, name: &str, spec: &Value) -> Key {
        let labels = json!({"app": name});
        let template = json!({
            "metadata": {"labels": labels}, "spec": {"containers": [{"name": "app", "image": "app:1.0"}]},
        });
        let spec = with(json!({"selector": {"matchLabels": labels}, "template": template}), spec);
        let value = json!({"metadata": {"name": name}, "spec": spec});
        let author = Author::new("kubectl-create");
        let created = self.sim.store(|store| store.create(resource, "default", value, &author).unwrap());
        Key::of(resource, &created)
    }

    /// Merges a patch into an object.
    pub fn patch(&self, key: &Key, patch: &Value) {
        let author = Author::new("kubectl-patch");
        self.sim.store(|store| store.patch(key, Part::Object, Format::Merge, patch, &author).unwrap());
    }

    /// Sets the image of the only container.
    pub fn set_image(&self, key: &Key, image: &str) {
        self.patch(key, &image_patch(image));
    }

    /// Deletes an object with background propagation.
    pub fn delete(&self, key: &Key) {
        let options = Deletion::of_options(&json!({"propagationPolicy": "Background"}));
        self.sim.store(|store| store.delete(key, &options, &Author::new("kubectl")).unwrap());
    }
}

fn image_patch(image: &str) -> Value {
    let containers = json!([{"name": "app", "image": image}]);
    json!({"spec": {"template": {"spec": {"containers": containers}}}})
}

/// Returns `base` with the members of `more`.
pub fn with(mut base: Value, more: &Value) -> Value {
    if let (Value::Object(base), Value::Object(more)) = (&mut base, more) {
        base.extend(more.clone());
    }
    base
}
