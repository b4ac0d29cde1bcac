//! Test objects: workloads of every kind, healthy, crashing and held, with pods, revisions and events.

use harness::prelude::*;
use rollout2::cli::definition;

/// The namespace of the shop.
pub(crate) const NAMESPACE: &str = "shop";

/// Returns every verb that prints text from the cluster, so that no test omits one.
pub(crate) fn verbs() -> Vec<String> {
    let program = definition();
    let verbs = program.get_subcommands().filter(|verb| !verb.is_hide_set());
    let names = verbs
        .map(clap::Command::get_name)
        .filter(|name| !["completion", "explain", "version"].contains(name));
    names.map(str::to_owned).collect()
}

/// Returns the recorded shop without duplicates of similar objects.
pub(crate) fn shop() -> Value {
    let mut shop = snapshot("shop");
    let items = shop["items"].as_array_mut().unwrap();
    remove_similar(items);
    // What the Deployment `checkout` names.
    let written = || {
        json!([{"manager": "kubectl-edit", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
            "time": "2026-11-20T13:20:00Z", "fieldsV1": {"f:data": {"f:a": {}}}}])
    };
    for (kind, name) in [("ConfigMap", "common"), ("Secret", "creds")] {
        items.push(json!({"apiVersion": "v1", "kind": kind, "data": {"a": "Yg=="}, "metadata": {
            "name": name, "namespace": NAMESPACE, "annotations": {"a": "b"}, "labels": {"a": "b"},
            "managedFields": written()}}));
    }
    shop
}

/// The name prefix of failing workloads.
const FAILING: [&str; 6] = ["badimage", "config", "crash", "unschedulable", "sts-bad", "quota"];

/// Returns workloads of the shop that fail, each with another cause.
pub(crate) fn trouble() -> Value {
    let mut items: Vec<Value> = Vec::new();
    for namespace in ["broken", "quota"] {
        let mut recorded = snapshot(namespace);
        items.append(recorded["items"].as_array_mut().unwrap());
    }
    items.retain(|item| {
        let name = item["metadata"]["name"].as_str().unwrap();
        FAILING.iter().any(|failing| name.starts_with(failing)) || item["metadata"]["namespace"] == "quota"
    });
    remove_similar(&mut items);
    let text = json!({"kind": "List", "items": items}).to_string();
    let moved = ["broken", "quota"].iter().fold(text, |text, namespace| {
        text.replace(&format!("\"namespace\":\"{namespace}\""), &format!("\"namespace\":\"{NAMESPACE}\""))
    });
    serde_json::from_str(&moved).unwrap()
}

/// Keeps the newest of similar objects.
fn remove_similar(items: &mut Vec<Value>) {
    let mut seen: Vec<String> = Vec::new();
    items.reverse();
    items.retain(|item| {
        let owner = item["metadata"]["ownerReferences"][0]["name"].as_str().unwrap_or_default();
        let (likeness, most) = match item["kind"].as_str() {
            Some("Pod") => (format!("pod of {owner}"), 1),
            Some("ReplicaSet" | "ControllerRevision") => (format!("revision of {owner}"), 2),
            Some("Event") if item["type"] != "Warning" => return false,
            Some("Event") => (format!("{} about {}", item["reason"], item["involvedObject"]["kind"]), 1),
            _ => return true,
        };
        seen.push(likeness.clone());
        seen.iter().filter(|before| **before == likeness).count() <= most
    });
    items.reverse();
    for item in items {
        if !matches!(item["kind"].as_str(), Some("Deployment" | "StatefulSet" | "DaemonSet")) {
            item["metadata"].as_object_mut().unwrap().remove("managedFields");
        }
    }
}

/// Returns a cluster with these objects, and a log for every container.
pub(crate) fn cluster(snapshot: &Value, log_line: &str) -> SimCluster {
    let cluster = SimCluster::builder().snapshot(snapshot).unwrap().build();
    let pods: Vec<_> =
        snapshot["items"].as_array().unwrap().iter().filter(|item| item["kind"] == "Pod").collect();
    cluster.store(|store| {
        for pod in pods {
            let uid = pod["metadata"]["uid"].as_str().unwrap_or_default();
            for container in pod["spec"]["containers"].as_array().into_iter().flatten() {
                let name = container["name"].as_str().unwrap_or_default();
                let output = store.logs_mut().of_mut(uid, name);
                output.previous = Some(vec![format!("panic: {log_line}")]);
                output.current = output.previous.clone();
            }
        }
    });
    cluster
}
