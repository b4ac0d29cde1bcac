//! A cluster with controllers on tokio's clock, and command lines that reach it without a socket.

#![expect(clippy::unwrap_used, reason = "a test that cannot get ready has failed")]
#![expect(clippy::missing_panics_doc, reason = "a test that cannot get ready has failed")]
#![expect(clippy::must_use_candidate, reason = "what is made in a lab is there without its key")]

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use rollout2::model::api::event::{Event, Events};
use rollout2::model::api::object::Object;
use rollout2::model::api::pod::Pod;
use rollout2::model::revision::Revisions;
use rollout2::model::status::observation::Observation;
use rollout2::model::status::verdict::kubectl_status;
use rollout2::model::workload::Workload;
use serde_json::{Value, json};
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::patch::Format;
use simcluster::resource::{
    CONTROLLERREVISIONS, DAEMONSETS, DEPLOYMENTS, EVENTS, PODS, REPLICASETS, STATEFULSETS,
};
use simcluster::rules::{Author, Deletion, Part};
use simcluster::{Clock, Controllers, Finalization, Key, Resource, SimCluster, Verb};
use tokio::task::JoinHandle;

use crate::{Ended, Run};

/// When every lab begins.
pub const START: &str = "2026-11-20T13:25:25Z";

/// A cluster of three nodes, whose controllers run in tokio's time. It must be made on a test's runtime.
#[derive(Debug)]
pub struct Lab {
    /// The cluster.
    pub cluster: SimCluster,
    controllers: JoinHandle<()>,
}

impl Default for Lab {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.controllers.abort();
    }
}

impl Lab {
    /// A lab whose controllers run one task at a time.
    pub fn new() -> Self {
        Self::with(Controllers::new())
    }

    /// A lab with these controllers.
    pub fn with(controllers: Controllers) -> Self {
        Self::of(SimCluster::builder(), controllers)
    }

    /// A lab whose objects do not say who wrote them, which halves the cost of a write.
    pub fn unattributed(controllers: Controllers) -> Self {
        Self::of(SimCluster::builder().without_managed_fields(), controllers)
    }

    fn of(builder: simcluster::Builder, controllers: Controllers) -> Self {
        Self::built(builder.nodes(3), controllers)
    }

    /// A lab of a cluster that is to be as its builder says, but for the clock, the upkeep and the history.
    pub fn built(builder: simcluster::Builder, controllers: Controllers) -> Self {
        Self::since(START.parse().unwrap(), builder, controllers)
    }

    /// The same, where it is later already.
    pub fn since(start: Timestamp, builder: simcluster::Builder, controllers: Controllers) -> Self {
        let builder = builder.clock(Clock::tokio(start));
        let cluster = builder.finalization(Finalization::ByControllers).history(100_000).build();
        let controllers = tokio::spawn(controllers.run(cluster.clone()));
        Self { cluster, controllers }
    }

    /// Lets so many seconds go by.
    pub async fn pass(&self, seconds: u64) {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }

    /// Follows with these words after `status`.
    pub async fn status(&self, words: &str) -> Ended {
        self.status_as("admin", words).await
    }

    /// The same in the name of another user.
    pub async fn status_as(&self, user: &str, words: &str) -> Ended {
        self.run_as(user, &format!("status {words}")).await
    }

    /// Runs any command line.
    pub async fn run(&self, words: &str) -> Ended {
        self.run_as("admin", words).await
    }

    /// The same in the name of another user.
    pub async fn run_as(&self, user: &str, words: &str) -> Ended {
        let client = kube::Client::new(self.cluster.service_for(user), "default");
        Run::of(words.split_whitespace()).at(START.parse().unwrap()).run_through(client).await
    }

    /// Runs an action after the given milliseconds, while a command follows.
    pub fn later(&self, milliseconds: u64, act: impl FnOnce(&Hands) + Send + 'static) {
        let hands = self.hands();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(milliseconds)).await;
            act(&hands);
        });
    }

    /// Someone who changes things.
    pub fn hands(&self) -> Hands {
        Hands { cluster: self.cluster.clone() }
    }

    /// A Deployment `web`.
    pub fn deployment(&self, replicas: i64, more: &Value) -> Key {
        self.hands().workload(&DEPLOYMENTS, "web", &with(json!({"replicas": replicas}), more))
    }

    /// A `StatefulSet` `db`.
    pub fn stateful_set(&self, replicas: i64, more: &Value) -> Key {
        let spec = json!({"replicas": replicas, "serviceName": "db"});
        self.hands().workload(&STATEFULSETS, "db", &with(spec, more))
    }

    /// A `DaemonSet` `agent`.
    pub fn daemon_set(&self, more: &Value) -> Key {
        self.hands().workload(&DAEMONSETS, "agent", more)
    }

    /// The newest revision of the cluster.
    pub fn revision(&self) -> u64 {
        self.cluster.store(|store| store.revision())
    }

    /// Sets the image at the very moment at which the follower reads the workload for the first time, so
    /// that it sees every state from there on.
    pub fn image_when_followed(&self, key: &Key, image: &str) {
        self.patch_when_followed(key, &image_patch(image));
    }

    /// The same with any change.
    pub fn patch_when_followed(&self, key: &Key, patch: &Value) {
        let (target, patch) = (key.clone(), patch.clone());
        let act = FaultAction::write_before(move |store| {
            store.patch(&target, Part::Object, Format::Merge, &patch, &Author::new("kubectl-set")).unwrap();
        });
        self.cluster.fault(Fault::on(Requests::of(Verb::Get, key.resource), act).once());
    }

    /// What kubectl would have printed for every state of a workload after a revision, without the repeated
    /// lines, to the line at which it would have stopped.
    pub fn kubectls_lines(&self, key: &Key, after: u64) -> Vec<String> {
        let states: Vec<_> = self.cluster.store(|store| {
            let changes = store.changes_after(after).unwrap().filter(|change| change.key == *key);
            changes.filter_map(|change| change.after.clone()).collect()
        });
        let mut lines = Vec::new();
        for state in states {
            let workload = Workload::of(Object::read(Value::clone(&state)).unwrap()).unwrap();
            match kubectl_status(&workload, None) {
                Ok(printed) => {
                    lines.push(printed.line);
                    if printed.done {
                        break;
                    }
                }
                Err(text) => {
                    lines.push(format!("error: {text}"));
                    break;
                }
            }
        }
        lines.dedup();
        lines
    }
}

/// All there is to see of a workload at this moment, straight from the store.
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

/// An object of the namespace `default`.
pub fn key(resource: &'static Resource, name: &str) -> Key {
    Key::new(resource, "default", name)
}

/// Makes external changes, also while a command runs.
#[derive(Clone, Debug)]
pub struct Hands {
    /// The cluster whose hands they are.
    pub cluster: SimCluster,
}

impl Hands {
    /// Creates a workload of apps/v1 with one container `app:1.0`.
    pub fn workload(&self, resource: &'static Resource, name: &str, spec: &Value) -> Key {
        let labels = json!({"app": name});
        let template = json!({
            "metadata": {"labels": labels}, "spec": {"containers": [{"name": "app", "image": "app:1.0"}]},
        });
        let spec = with(json!({"selector": {"matchLabels": labels}, "template": template}), spec);
        let value = json!({"metadata": {"name": name}, "spec": spec});
        let author = Author::new("kubectl-create");
        let made = self.cluster.store(|store| store.create(resource, "default", value, &author).unwrap());
        Key::of(resource, &made)
    }

    /// Merges a patch into an object.
    pub fn patch(&self, key: &Key, patch: &Value) {
        let author = Author::new("kubectl-patch");
        self.cluster.store(|store| store.patch(key, Part::Object, Format::Merge, patch, &author).unwrap());
    }

    /// Sets the image of the only container.
    pub fn image(&self, key: &Key, image: &str) {
        self.patch(key, &image_patch(image));
    }

    /// Deletes an object, and what it owns after it.
    pub fn delete(&self, key: &Key) {
        let options = Deletion::of_options(&json!({"propagationPolicy": "Background"}));
        self.cluster.store(|store| store.delete(key, &options, &Author::new("kubectl")).unwrap());
    }
}

fn image_patch(image: &str) -> Value {
    let containers = json!([{"name": "app", "image": image}]);
    json!({"spec": {"template": {"spec": {"containers": containers}}}})
}

/// `base` with the members of `more`.
pub fn with(mut base: Value, more: &Value) -> Value {
    if let (Value::Object(base), Value::Object(more)) = (&mut base, more) {
        base.extend(more.clone());
    }
    base
}
