//! Simulated clusters, with controllers or with recorded objects, and command lines that reach them.

#![expect(clippy::unwrap_used, reason = "a failed setup fails the test")]

use std::ffi::OsString;
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
    CONTROLLERREVISIONS, DAEMONSETS, DEPLOYMENTS, EVENTS, JOBS, PODS, REPLICASETS, STATEFULSETS,
};
use simcluster::rules::{Author, Deletion, Part};
use simcluster::{
    Builder, Clock, Controllers, Finalization, Key, Protocols, Resource, Served, ServerCertificate,
    SimCluster, SimService, User, Verb,
};
use tokio::task::JoinHandle;

use crate::recorded::shared_snapshot;
use crate::{Output, Run, kubectl_status, merged};

/// The time at which the clock of every test cluster starts.
pub const START: &str = "2026-11-20T13:25:25Z";

/// A simulated cluster, reached in this process or through a socket. Create it on the runtime of the test.
#[derive(Debug)]
pub struct Cluster {
    /// The simulated API server and its store.
    pub sim: SimCluster,
    namespace: &'static str,
    controllers: Option<Task>,
    server: Option<Served>,
    _faults: UsedFaults,
}

/// How a cluster starts.
#[derive(Debug)]
pub struct Setup {
    builder: Builder,
    /// Its controllers; none if its objects stay as they are.
    controllers: Option<Controllers>,
    /// The time of tokio's clock at the start, if the cluster has controllers and no socket.
    start: Timestamp,
    namespace: &'static str,
}

/// The objects of a cluster at a moment. Users, logs and options of the builder are not saved.
#[derive(Debug)]
pub struct SavedCluster {
    objects: Value,
    now: Timestamp,
}

impl SavedCluster {
    /// Saves the present objects and time of a simulated API server.
    pub fn of(sim: &SimCluster) -> Self {
        sim.store(|store| Self { objects: store.snapshot(), now: store.now() })
    }

    /// Starts a cluster with these objects, at this time.
    pub fn start(&self) -> Cluster {
        Setup { builder: self.builder(), start: self.now, ..Cluster::simulated() }.start()
    }

    /// Returns a builder of an API server with these objects. Its clock stands still at this time.
    pub fn builder(&self) -> Builder {
        SimCluster::builder().snapshot(&self.objects).unwrap().clock(Clock::stepped(self.now))
    }
}

impl Setup {
    /// Changes the options of the API server.
    pub fn with(self, change: impl FnOnce(Builder) -> Builder) -> Self {
        Self { builder: change(self.builder), ..self }
    }

    /// Serves the kinds of OpenKruise, and runs their controllers.
    pub fn kruise(self) -> Self {
        self.with(Builder::kruise)
    }

    /// Sets the number of nodes.
    pub fn nodes(self, count: usize) -> Self {
        self.with(|builder| builder.nodes(count))
    }

    /// Adds a user.
    pub fn user(self, user: User) -> Self {
        self.with(|builder| builder.user(user))
    }

    /// Sets the controllers.
    pub fn controllers(self, controllers: Controllers) -> Self {
        Self { controllers: Some(controllers), ..self }
    }

    /// Sets the namespace of the commands.
    pub fn namespace(self, namespace: &'static str) -> Self {
        Self { namespace, ..self }
    }

    /// Starts the cluster in this process. Its controllers run on tokio's clock.
    pub fn start(self) -> Cluster {
        let clock = Clock::tokio(self.start);
        self.start_on(clock)
    }

    /// Starts the cluster on a socket. Its controllers run on the system clock.
    pub fn served(self) -> Cluster {
        self.served_with(ServerCertificate::Good, Protocols::default())
    }

    /// Starts the cluster on a socket with this certificate, over these protocols.
    pub fn served_with(self, certificate: ServerCertificate, protocols: Protocols) -> Cluster {
        let cluster = self.start_on(Clock::System);
        let server = Some(cluster.sim.serve_with(certificate, protocols).unwrap());
        Cluster { server, ..cluster }
    }

    /// Starts the cluster in this process, and waits a minute for the Deployment `web`.
    pub async fn deployment(self, replicas: i64, more: &Value) -> (Cluster, Key) {
        self.with_workload(|cluster| cluster.deployment(replicas, more)).await
    }

    /// Starts the cluster in this process, and waits a minute for the `StatefulSet` `db`.
    pub async fn stateful_set(self, replicas: i64, more: &Value) -> (Cluster, Key) {
        self.with_workload(|cluster| cluster.stateful_set(replicas, more)).await
    }

    /// Starts the cluster in this process, and waits a minute for the `DaemonSet` `agent`.
    pub async fn daemon_set(self, more: &Value) -> (Cluster, Key) {
        self.with_workload(|cluster| cluster.daemon_set(more)).await
    }

    async fn with_workload(self, create: impl FnOnce(&Cluster) -> Key) -> (Cluster, Key) {
        let cluster = self.start();
        let key = create(&cluster);
        cluster.advance(60).await;
        (cluster, key)
    }

    fn start_on(self, clock: Clock) -> Cluster {
        let Self { builder, controllers, namespace, .. } = self;
        let builder = match controllers {
            Some(_) => builder.clock(clock).finalization(Finalization::ByControllers).history(100_000),
            None => builder,
        };
        let sim = builder.build();
        let controllers = controllers.map(|controllers| Task(tokio::spawn(controllers.run(sim.clone()))));
        Cluster { _faults: UsedFaults(sim.clone()), sim, namespace, controllers, server: None }
    }
}

/// Fails a test that ends before each of its faults with `once` or `times` applied to a request.
#[derive(Debug)]
struct UsedFaults(SimCluster);

impl Drop for UsedFaults {
    fn drop(&mut self) {
        let unused = self.0.unused_faults();
        assert!(unused.is_empty() || std::thread::panicking(), "faults without a request: {unused:?}");
    }
}

/// A task that ends with its cluster.
#[derive(Debug)]
struct Task(JoinHandle<()>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Cluster {
    /// A cluster of three nodes whose controllers run one task at a time. The commands use the namespace `default`.
    pub fn simulated() -> Setup {
        Setup {
            builder: SimCluster::builder().nodes(3),
            controllers: Some(Controllers::new()),
            start: START.parse().unwrap(),
            namespace: "default",
        }
    }

    /// A cluster with the recorded objects of a namespace, without controllers. The commands use the namespace `shop`.
    pub fn recorded(namespace: &str) -> Setup {
        Self::of(shared_snapshot(namespace))
    }

    /// A cluster with the objects of a list, without controllers. The commands use the namespace `shop`.
    pub fn of(list: &Value) -> Setup {
        Self::built(SimCluster::builder().snapshot(list).unwrap())
    }

    /// A cluster with these options of the API server, without controllers. The commands use the namespace `shop`.
    pub fn built(builder: Builder) -> Setup {
        Setup { builder, controllers: None, namespace: "shop", ..Self::simulated() }
    }

    /// Returns the present objects and time, to start any number of clusters with them.
    pub fn saved(&self) -> SavedCluster {
        SavedCluster::of(&self.sim)
    }

    /// Returns the socket of a served cluster.
    pub fn server(&self) -> &Served {
        self.server.as_ref().unwrap()
    }

    /// Returns the socket of a served cluster, to stop it.
    pub fn server_mut(&mut self) -> &mut Served {
        self.server.as_mut().unwrap()
    }

    /// Returns the kubeconfig of the administrator of a served cluster, with a client certificate.
    pub fn kubeconfig(&self) -> Value {
        self.kubeconfig_of("admin")
    }

    /// Returns the kubeconfig of a user of a served cluster, with a client certificate.
    pub fn kubeconfig_of(&self, user: &str) -> Value {
        self.server().kubeconfig(user, self.namespace).unwrap()
    }

    /// Returns a command of the administrator that reaches this cluster.
    pub fn command<A: Into<OsString>>(&self, args: impl IntoIterator<Item = A>) -> Run {
        self.command_as("admin", args)
    }

    /// Returns a command of a user that reaches this cluster.
    pub fn command_as<A: Into<OsString>>(&self, user: &str, args: impl IntoIterator<Item = A>) -> Run {
        let run = Run::of(args).on(self, user);
        if self.controllers.is_some() && self.server.is_none() { run.at(START.parse().unwrap()) } else { run }
    }

    /// Returns the service of a user, and the namespace of the commands.
    pub(crate) fn service(&self, user: &str) -> (SimService, &'static str) {
        (self.sim.service_for(user), self.namespace)
    }

    /// Whether the cluster is reached through a socket.
    pub(crate) fn is_served(&self) -> bool {
        self.server.is_some()
    }

    /// Returns the requests so far, each as method and path.
    pub fn lines(&self) -> Vec<String> {
        self.sim.requests().iter().map(simcluster::RecordedRequest::line).collect()
    }

    /// Stops the controllers for the rest of the test.
    pub fn stop_controllers(&self) {
        self.controllers.iter().for_each(|task| task.0.abort());
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
        self.command_as(user, args.split_whitespace()).run_async().await
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
        self.create(resource, name, &spec)
    }

    /// Creates the Job `migrate` with one container, whose pods are not restarted.
    pub fn create_job(&self, image: &str, more: &Value) -> Key {
        let pod = json!({"restartPolicy": "Never", "containers": [{"name": "app", "image": image}]});
        self.create(&JOBS, "migrate", &merged(json!({"template": {"spec": pod}}), more))
    }

    fn create(&self, resource: &'static Resource, name: &str, spec: &Value) -> Key {
        let value = json!({"metadata": {"name": name}, "spec": spec});
        let author = Author::new("kubectl-create");
        let created = self.sim.store(|store| store.create(resource, "default", value, &author).unwrap());
        Key::of(resource, &created)
    }

    /// Merges a patch into an object.
    pub fn patch(&self, key: &Key, patch: &Value) {
        self.patch_as("kubectl-patch", Format::Merge, key, patch);
    }

    /// Applies a patch to an object as a field manager.
    pub fn patch_as(&self, manager: &str, format: Format, key: &Key, patch: &Value) {
        let author = Author::new(manager);
        self.sim.store(|store| store.patch(key, Part::Object, format, patch, &author).unwrap());
    }

    /// Sets the image of the only container.
    pub fn set_image(&self, key: &Key, image: &str) {
        self.patch(key, &image_patch(image));
    }

    /// Deletes an object.
    pub fn delete(&self, key: &Key) {
        self.sim.store(|store| store.delete(key, &Deletion::default(), &Author::new("kubectl")).unwrap());
    }
}

fn image_patch(image: &str) -> Value {
    let containers = json!([{"name": "app", "image": image}]);
    json!({"spec": {"template": {"spec": {"containers": containers}}}})
}

/// Returns the change of the image of a workload's first container.
pub fn image_change(image: &'static str) -> impl Fn(&mut Value) + Copy + Send + Sync {
    move |object| object["spec"]["template"]["spec"]["containers"][0]["image"] = image.into()
}

/// Returns `base` with the members of `more`.
pub fn with(mut base: Value, more: &Value) -> Value {
    if let (Value::Object(base), Value::Object(more)) = (&mut base, more) {
        base.extend(more.clone());
    }
    base
}
