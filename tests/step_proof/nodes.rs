//! Nodes that are added, deleted, and not ready for a while.

use serde_json::{Value, json};
use simcluster::resource::{NODES, PODS};
use simcluster::rules::{Author, Deletion, Part};
use simcluster::{Key, Store};

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
    let set = |object: &mut Value| object["status"]["conditions"][0]["status"] = status.into();
    store.edit(&node, Part::Status, &author, set).unwrap();
    if is_ready {
        return; // its kubelet says the rest
    }
    for pod in on(store, &node.name) {
        let unready = |pod: &mut Value| {
            for condition in pod["status"]["conditions"].as_array_mut().into_iter().flatten() {
                if condition["type"] == "Ready" {
                    condition["status"] = "False".into();
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
