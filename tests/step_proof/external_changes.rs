//! Changes of the workload by other clients during a run.

use std::sync::{Arc, Mutex};

use harness::Run;
use harness::cluster::START;
use serde_json::{Value, json};
use simcluster::patch::Format;
use simcluster::resource::PODS;
use simcluster::rules::{Author, Deletion, Part};
use simcluster::{Key, SimCluster, Store};

use crate::step_proof::nodes::{self, NodeFault};

/// A change by another client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ExternalChange {
    /// Wants so many pods.
    Scale(i64),
    /// Types `pause`.
    Pause,
    /// Applies a manifest with another image.
    Image(&'static str),
    /// Applies a manifest that names this strategy.
    Strategy(Value),
    /// Applies a manifest with these fields.
    Merge(Value),
    /// Deletes a pod.
    Delete(usize),
    /// Ends the containers of a pod.
    Restart(usize),
    /// Takes a node away, with what runs on it.
    NodeGone(usize),
    /// Adds a node.
    NodeComes,
    /// A node is not ready any more, or is again.
    NodeReady(usize, bool),
    /// Reserves other ordinals.
    Reserve(Value),
    /// Taints a node, so that no pod is wanted there; the one that is there stays.
    Taint(usize),
    /// Writes an unrelated annotation.
    Annotate(u64),
}

/// The revisions that others made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Others(Arc<Mutex<Vec<u64>>>);

impl Others {
    pub(crate) fn revisions(&self) -> Vec<u64> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) async fn act(&self, cluster: &SimCluster, set: &Key, change: &ExternalChange) {
        match change {
            ExternalChange::Pause => drop(command(cluster, set, "pause").await),
            change => cluster.store(|store| {
                let before = store.revision();
                change.happen(store, set);
                self.0.lock().unwrap().extend(before + 1..=store.revision());
            }),
        }
    }
}

impl Others {
    /// A node is not ready for a while. Returns whether it was chosen because it has an updated pod.
    pub(crate) async fn fail_node(&self, cluster: &SimCluster, set: &Key, fault: NodeFault) -> bool {
        tokio::time::sleep(fault.after).await;
        let (index, is_of_batch) = cluster.store(|store| fault.index(store, set));
        self.act(cluster, set, &ExternalChange::NodeReady(index, false)).await;
        tokio::time::sleep(fault.lasts).await;
        self.act(cluster, set, &ExternalChange::NodeReady(index, true)).await;
        is_of_batch
    }
}

/// A command of ours that does not step, typed by a colleague.
pub(crate) async fn command(cluster: &SimCluster, set: &Key, verb: &str) -> harness::Output {
    cluster.users(|users| users.add(simcluster::User::admin("colleague")));
    // The kinds of OpenKruise have the names of those of Kubernetes.
    let target = format!("{}.{}/{}", set.resource.singular, set.resource.group, set.name);
    Run::of([verb, &target])
        .at(START.parse().unwrap())
        .in_process(cluster.service_for("colleague"), "default")
        .run_async()
        .await
}

impl ExternalChange {
    fn happen(&self, store: &mut Store, set: &Key) {
        let patch = |store: &mut Store, patch: Value| {
            store.patch(set, Part::Object, Format::Merge, &patch, &Author::new("kubectl")).map(drop)
        };
        let done = match self {
            Self::Scale(replicas) => patch(store, json!({"spec": {"replicas": replicas}})),
            Self::Image(image) => patch(store, image_of(image)),
            Self::Strategy(strategy) => patch(store, json!({"spec": {"updateStrategy": strategy}})),
            Self::Merge(fields) => patch(store, fields.clone()),
            Self::Reserve(ordinals) => patch(store, json!({"spec": {"reserveOrdinals": ordinals}})),
            Self::Annotate(mark) => {
                patch(store, json!({"metadata": {"annotations": {"other": mark.to_string()}}}))
            }
            Self::NodeGone(index) => {
                nodes::goes(store, *index);
                Ok(())
            }
            Self::NodeComes => {
                nodes::comes(store);
                Ok(())
            }
            Self::NodeReady(index, is_ready) => {
                nodes::is_ready(store, *index, *is_ready);
                Ok(())
            }
            Self::Taint(index) => {
                nodes::is_tainted(store, *index);
                Ok(())
            }
            Self::Pause => Ok(()),
            Self::Delete(index) => match pod(store, *index) {
                Some((key, _)) => store.delete(&key, &Deletion::default(), &Author::new("kubectl")).map(drop),
                None => Ok(()),
            },
            Self::Restart(index) => match pod(store, *index) {
                Some((key, pod)) => {
                    let patch = simcluster::controller::restart_patch(&pod, store.now());
                    let author = Author::new("kubectl");
                    store.patch(&key, Part::Object, Format::Merge, &patch, &author).map(drop)
                }
                None => Ok(()),
            },
        };
        done.unwrap();
    }
}

/// The merge patch that sets the image.
pub(crate) fn image_of(image: &str) -> Value {
    json!({"spec": {"template": {"spec": {"containers": [{"name": "app", "image": image}]}}}})
}

fn pod(store: &Store, index: usize) -> Option<(simcluster::Key, Value)> {
    let pods: Vec<_> = store.list(&PODS, Some("default")).collect();
    let (key, pod) = pods.get(index % pods.len().max(1))?;
    Some(((*key).clone(), Value::clone(pod)))
}
