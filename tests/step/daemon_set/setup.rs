//! A cluster of six nodes in three zones, and its changes.

use harness::prelude::*;
use simcluster::resource::PODDISRUPTIONBUDGETS;
use simcluster::{Store, object};

pub(super) const ZONE: &str = "topology.kubernetes.io/zone";

/// Six nodes in three zones, and a DaemonSet `agent` on all of them.
pub(super) struct Nodes {
    pub(super) cluster: Cluster,
    pub(super) agent: Key,
}

impl Nodes {
    pub(super) async fn new(more: &Value) -> Self {
        let (cluster, agent) = Cluster::simulated().nodes(6).daemon_set(more).await;
        Self { cluster, agent }
    }

    /// Returns a cluster whose DaemonSet was paused and then changed to an image.
    pub(super) async fn held(image: &str) -> Self {
        let nodes = Self::new(&json!({})).await;
        nodes.hold(image).await;
        nodes
    }

    pub(super) async fn hold(&self, image: &str) {
        self.cluster.run("pause daemonset/agent").await.ends(0);
        self.cluster.editor().set_image(&self.agent, image);
        self.cluster.advance(10).await;
        self.cluster.sim.forget_requests();
    }

    pub(super) async fn step(&self, args: &str) -> Output {
        self.cluster.run(&format!("step daemonset/agent {args}")).await
    }

    pub(super) fn object(&self) -> Value {
        self.cluster.object(&self.agent)
    }

    pub(super) fn strategy(&self) -> Value {
        self.object()["spec"]["updateStrategy"].clone()
    }

    pub(super) fn is_held(&self) -> bool {
        self.cluster.hold(&self.agent).is_some()
    }

    /// Returns the node and the image of every pod that is not terminating, sorted by node.
    pub(super) fn images(&self) -> Vec<(String, String)> {
        let mut images: Vec<(String, String)> = self.cluster.sim.store(|store| {
            let remaining =
                store.list(&PODS, Some("default")).filter(|(_, pod)| !object::is_terminating(pod));
            let image = |pod: &Value| object::text(&pod["spec"]["containers"][0], &["image"]).to_owned();
            remaining
                .map(|(_, pod)| (object::text(pod, &["spec", "nodeName"]).to_owned(), image(pod)))
                .collect()
        });
        images.sort();
        images
    }

    /// Returns the pod on a node.
    pub(super) fn pod_on(&self, node: &str) -> Key {
        pod_on(&self.cluster.editor(), node).unwrap()
    }

    /// Returns how many nodes run an image.
    pub(super) fn nodes_with(&self, image: &str) -> usize {
        self.images().iter().filter(|(_, there)| there == image).count()
    }

    /// Returns the nodes whose pods `step` deleted or evicted, in order.
    pub(super) fn removals(&self) -> Vec<String> {
        let requests = self.cluster.sim.requests();
        let ours = requests.iter().filter(|request| {
            let removes = matches!(request.verb(), Some(Verb::Delete | Verb::Create));
            removes && request.user.as_deref() == Some("admin") && request.path.contains("/pods/")
        });
        ours.filter_map(|request| self.node_of(&request.path)).collect()
    }

    /// Returns the node of the pod in a request path.
    pub(super) fn node_of(&self, path: &str) -> Option<String> {
        self.cluster.sim.store(|store| {
            let changes = store.changes_after(0).ok()?;
            let mut states = changes
                .filter(|change| change.key.resource == &PODS && path.contains(&change.key.name))
                .filter_map(|change| change.after.as_deref());
            let node = |pod: &Value| object::text(pod, &["spec", "nodeName"]).to_owned();
            states.find_map(|pod| Some(node(pod)).filter(|node| !node.is_empty()))
        })
    }

    /// Returns the highest number of unavailable pods since a revision of the store.
    pub(super) fn max_unavailable_since(&self, after: u64) -> i64 {
        self.cluster.sim.store(|store| {
            let changes = store.changes_after(after).unwrap().filter(|change| change.key == self.agent);
            let unavailable =
                changes.filter_map(|change| change.after.as_deref()?["status"]["numberUnavailable"].as_i64());
            unavailable.max().unwrap_or_default()
        })
    }

    pub(super) fn create_budget(&self, name: &str, spec: &Value) {
        let mut spec = spec.clone();
        spec["selector"] = json!({"matchLabels": {"app": "agent"}});
        let budget = json!({"metadata": {"name": name}, "spec": spec});
        self.cluster.sim.store(|store| {
            store.create(&PODDISRUPTIONBUDGETS, "default", budget, &Author::new("test")).unwrap();
        });
    }
}

pub(super) fn pod_on(editor: &Editor, node: &str) -> Option<Key> {
    editor.sim.store(|store| on_node(store, node))
}

fn on_node(store: &Store, node: &str) -> Option<Key> {
    let mut pods = store.list(&PODS, Some("default"));
    pods.find(|(_, pod)| object::text(pod, &["spec", "nodeName"]) == node).map(|(key, _)| key.clone())
}

pub(super) fn set_node_ready(editor: &Editor, node: &str, status: &str) {
    editor.sim.store(|store| set_ready(store, node, status));
}

fn set_ready(store: &mut Store, node: &str, status: &str) {
    let conditions = json!([{"type": "Ready", "status": status}]);
    let (node, author) = (Key::new(&NODES, "", node), Author::new("node-controller"));
    store.edit(&node, Part::Status, &author, |node| node["status"]["conditions"] = conditions).unwrap();
}

/// Sets a node and its pod to not ready, as the node controller does.
pub(super) fn fail_node(store: &mut Store, node: &str) {
    set_ready(store, node, "Unknown");
    let not_ready = json!([{"type": "Ready", "status": "False", "reason": "NodeNotReady"}]);
    let (on_it, author) = (on_node(store, node).unwrap(), Author::new("node-controller"));
    store.edit(&on_it, Part::Status, &author, |pod| pod["status"]["conditions"] = not_ready).unwrap();
}
