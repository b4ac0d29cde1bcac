//! Nodes that are added, deleted, and not ready for a while.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use simcluster::resource::{NODES, PODS};
use simcluster::rules::{Author, Deletion, Part};
use simcluster::{Key, Store};

/// A node that is not ready for a while.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeFault {
    pub(crate) after: Duration,
    pub(crate) lasts: Duration,
    /// The number of the node; without one, a node of the batch in progress.
    pub(crate) index: Option<usize>,
}

impl NodeFault {
    /// Returns the index of its node, and whether that is of the batch: the last one that the batch names, or that of the
    /// updated pod that changed last.
    pub(crate) fn index(self, store: &Store, set: &Key) -> (usize, bool) {
        let image = |object: &Value, spec: &str| {
            object.pointer(spec).map(|spec| spec["containers"][0]["image"].clone())
        };
        let set = store.get(set);
        let live = set.and_then(|set| image(set, "/spec/template/spec"));
        let updated = store.list(&PODS, None).map(|(_, pod)| pod).filter(|pod| image(pod, "/spec") == live);
        let version = |pod: &&Arc<Value>| {
            pod["metadata"]["resourceVersion"].as_str().and_then(|version| version.parse::<u64>().ok())
        };
        let last = updated.filter(|pod| pod["spec"]["nodeName"].is_string()).max_by_key(version);
        let hold = set.and_then(|set| set["metadata"]["annotations"]["kubectl-rollout2/held"].as_str());
        let hold: Value = hold.and_then(|hold| serde_json::from_str(hold).ok()).unwrap_or_default();
        let slot = hold["plan"]["batch"]["slots"].as_array().and_then(|slots| slots.last()?.as_str());
        let of_pod = last.and_then(|pod| pod["spec"]["nodeName"].as_str());
        let place = |node: &str| store.list(&NODES, None).position(|(key, _)| key.name == *node);
        match (self.index, slot.and_then(place).or_else(|| of_pod.and_then(place))) {
            (None, Some(place)) => (place, true),
            (index, _) => (index.unwrap_or_default(), false),
        }
    }
}

/// A node is taken away, and the pods on it with it, as the collector of pods does.
pub(crate) fn goes(store: &mut Store, index: usize) {
    let nodes: Vec<Key> = store.list(&NODES, None).map(|(key, _)| key.clone()).collect();
    if nodes.len() < 2 {
        return;
    }
    let (node, author) = (&nodes[index % nodes.len()], Author::new("kubectl"));
    store.delete(node, &Deletion::default(), &author).unwrap();
    let at_once = Deletion { grace_seconds: Some(0), ..Deletion::default() };
    for pod in on(store, &node.name) {
        store.delete(&pod, &at_once, &author).unwrap();
    }
}

/// A node is added.
pub(crate) fn comes(store: &mut Store) {
    let number = store.list(&NODES, None).count() + 100;
    let name = format!("node-{number}");
    let zone = format!("z{}", number % 3);
    let capacity = json!({"cpu": "64", "memory": "256Gi", "pods": "5000"});
    let node = json!({
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone}},
        "status": {
            "capacity": capacity, "allocatable": capacity,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
        },
    });
    if store.get(&Key::new(&NODES, "", &name)).is_none() {
        store.create(&NODES, "", node, &Author::new("kubelet")).unwrap();
    }
}

/// A node becomes not ready, and its pods with it, as the node controller has it; or is ready again.
pub(crate) fn is_ready(store: &mut Store, index: usize, is_ready: bool) {
    let nodes: Vec<Key> = store.list(&NODES, None).map(|(key, _)| key.clone()).collect();
    let (node, author) = (nodes[index % nodes.len()].clone(), Author::new("node-controller"));
    let status = if is_ready { "True" } else { "Unknown" };
    let now = store.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let set = |object: &mut Value| {
        object["status"]["conditions"][0]["status"] = status.into();
        object["status"]["conditions"][0]["lastTransitionTime"] = now.clone().into();
    };
    store.edit(&node, Part::Status, &author, set).unwrap();
    if is_ready {
        return; // its kubelet says the rest
    }
    for pod in on(store, &node.name) {
        let unready = |pod: &mut Value| {
            for condition in pod["status"]["conditions"].as_array_mut().into_iter().flatten() {
                if condition["type"] == "Ready" && condition["status"] == "True" {
                    condition["status"] = "False".into();
                    condition["lastTransitionTime"] = now.clone().into();
                }
            }
        };
        store.edit(&pod, Part::Status, &author, unready).unwrap();
    }
}

/// A node is tainted: pods come there no more, and those that are there stay.
pub(crate) fn is_tainted(store: &mut Store, index: usize) {
    let nodes: Vec<Key> = store.list(&NODES, None).map(|(key, _)| key.clone()).collect();
    let taint = |node: &mut Value| node["spec"]["taints"] = json!([{"key": "x", "effect": "NoSchedule"}]);
    store.edit(&nodes[index % nodes.len()], Part::Object, &Author::new("kubectl"), taint).unwrap();
}

fn on(store: &Store, node: &str) -> Vec<Key> {
    let pods = store.list(&PODS, None).filter(|(_, pod)| pod["spec"]["nodeName"] == *node);
    pods.map(|(key, _)| key.clone()).collect()
}
