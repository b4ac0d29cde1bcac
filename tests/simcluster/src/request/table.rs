//! Tables, as `kubectl get` requests them.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::object;

/// The columns between `NAME` and `AGE` of a kind.
fn columns(kind: &str) -> &'static [&'static str] {
    match kind {
        "Deployment" => &["Ready", "Up-to-date", "Available"],
        "ReplicaSet" => &["Desired", "Current", "Ready"],
        "StatefulSet" => &["Ready"],
        "DaemonSet" => &["Desired", "Current", "Ready", "Up-to-date", "Available"],
        "ControllerRevision" => &["Controller", "Revision"],
        "Pod" => &["Ready", "Status", "Restarts"],
        "Event" => &["Type", "Reason", "Object", "Message"],
        "Namespace" | "Node" => &["Status"],
        _ => &[],
    }
}

/// A table of objects of one kind.
pub(super) fn table<'v>(kind: &str, objects: impl Iterator<Item = &'v Value>, now: Timestamp) -> Value {
    let names = ["Name"].iter().chain(columns(kind)).chain(&["Age"]);
    let definitions: Vec<Value> = names
        .map(|name| json!({ "name": name, "type": "string", "format": if *name == "Name" { "name" } else { "" }, "description": "", "priority": 0 }))
        .collect();
    let rows: Vec<Value> =
        objects.map(|object| json!({ "cells": cells(kind, object, now), "object": object })).collect();
    json!({ "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": {}, "columnDefinitions": definitions, "rows": rows })
}

fn cells(kind: &str, value: &Value, now: Timestamp) -> Vec<String> {
    let mut cells = vec![object::name(value).to_owned()];
    cells.extend(middle(kind, value));
    cells.push(age(value, now));
    cells
}

fn middle(kind: &str, value: &Value) -> Vec<String> {
    let status = |member: &str| value["status"][member].as_i64().unwrap_or(0).to_string();
    let wanted = || value["spec"]["replicas"].as_i64().unwrap_or(0).to_string();
    let word = |path: &[&str]| object::text(value, path).to_owned();
    match kind {
        "Deployment" => vec![
            format!("{}/{}", status("readyReplicas"), wanted()),
            status("updatedReplicas"),
            status("availableReplicas"),
        ],
        "ReplicaSet" => vec![wanted(), status("replicas"), status("readyReplicas")],
        "StatefulSet" => vec![format!("{}/{}", status("readyReplicas"), wanted())],
        "DaemonSet" => [
            "desiredNumberScheduled",
            "currentNumberScheduled",
            "numberReady",
            "updatedNumberScheduled",
            "numberAvailable",
        ]
        .map(status)
        .into(),
        "ControllerRevision" => vec![controller(value), value["revision"].to_string()],
        "Pod" => pod(value),
        "Event" => vec![word(&["type"]), word(&["reason"]), regarding(value), word(&["message"])],
        "Namespace" => vec![word(&["status", "phase"])],
        "Node" => vec![if is_true(value, "Ready") { "Ready" } else { "NotReady" }.to_owned()],
        _ => Vec::new(),
    }
}

fn pod(value: &Value) -> Vec<String> {
    let containers = object::list(value, &["status", "containerStatuses"]);
    let ready = containers.iter().filter(|container| container["ready"] == true).count();
    let restarts: i64 = containers.iter().filter_map(|container| container["restartCount"].as_i64()).sum();
    let reason = |state: &str| containers.iter().find_map(|one| one["state"][state]["reason"].as_str());
    let phase = object::text(value, &["status", "phase"]);
    let reason = reason("waiting").or_else(|| reason("terminated")).unwrap_or(phase);
    let status = if object::is_terminating(value) { "Terminating" } else { reason };
    let all = object::list(value, &["spec", "containers"]).len();
    vec![format!("{ready}/{all}"), status.to_owned(), restarts.to_string()]
}

fn controller(value: &Value) -> String {
    let owners = object::list(value, &["metadata", "ownerReferences"]);
    let owner = owners.iter().find(|owner| owner["controller"] == true);
    owner.map_or_else(String::new, |owner| {
        let (kind, name) = (object::text(owner, &["kind"]), object::text(owner, &["name"]));
        format!("{}.apps/{name}", kind.to_lowercase())
    })
}

fn regarding(event: &Value) -> String {
    let word = |member| object::text(event, &["involvedObject", member]);
    format!("{}/{}", word("kind").to_lowercase(), word("name"))
}

fn is_true(value: &Value, condition: &str) -> bool {
    let conditions = object::list(value, &["status", "conditions"]);
    conditions.iter().any(|one| one["type"] == condition && one["status"] == "True")
}

/// Returns the age in kubectl's short form.
fn age(value: &Value, now: Timestamp) -> String {
    let Ok(born) = object::text(value, &["metadata", "creationTimestamp"]).parse::<Timestamp>() else {
        return "<unknown>".to_owned();
    };
    match now.duration_since(born).as_secs().max(0) {
        seconds @ ..120 => format!("{seconds}s"),
        seconds @ ..7200 => format!("{}m", seconds / 60),
        seconds @ ..172_800 => format!("{}h", seconds / 3600),
        seconds => format!("{}d", seconds / 86_400),
    }
}
