//! The defaults of the API server, as tables of paths and values.

use serde_json::{Map, Value, json};

use super::pod_defaults::{fill_pod, fill_template_spec};
use crate::{object, resource::Resource};

/// A path of fields, with `*` for every item of a list, and the JSON text of its default.
pub(super) type Default = (&'static str, &'static str);

const DEPLOYMENT: &[Default] = &[
    ("replicas", "1"),
    ("revisionHistoryLimit", "10"),
    ("progressDeadlineSeconds", "600"),
    ("strategy", "{}"),
    ("strategy.type", "\"RollingUpdate\""),
];
const DEPLOYMENT_ROLLING: &[Default] = &[
    ("rollingUpdate", "{}"),
    ("rollingUpdate.maxSurge", "\"25%\""),
    ("rollingUpdate.maxUnavailable", "\"25%\""),
];
const DAEMONSET: &[Default] =
    &[("revisionHistoryLimit", "10"), ("updateStrategy", "{}"), ("updateStrategy.type", "\"RollingUpdate\"")];
const DAEMONSET_ROLLING: &[Default] =
    &[("rollingUpdate", "{}"), ("rollingUpdate.maxSurge", "0"), ("rollingUpdate.maxUnavailable", "1")];
const STATEFULSET: &[Default] = &[
    ("replicas", "1"),
    ("revisionHistoryLimit", "10"),
    ("podManagementPolicy", "\"OrderedReady\""),
    ("persistentVolumeClaimRetentionPolicy", "{}"),
    ("persistentVolumeClaimRetentionPolicy.whenDeleted", "\"Retain\""),
    ("persistentVolumeClaimRetentionPolicy.whenScaled", "\"Retain\""),
    // Only if the whole strategy is absent: `type: RollingUpdate` alone gets no `rollingUpdate`.
    ("updateStrategy", "{\"type\":\"RollingUpdate\",\"rollingUpdate\":{}}"),
    ("updateStrategy.rollingUpdate.partition", "0"),
];
const REPLICASET: &[Default] = &[("replicas", "1")];
/// `completions` and `parallelism` have defaults only together: a Job with one of them is a work queue.
const JOB: &[Default] = &[
    ("parallelism", "1"),
    ("backoffLimit", "6"),
    ("completionMode", "\"NonIndexed\""),
    ("suspend", "false"),
    ("podReplacementPolicy", "\"TerminatingOrFailed\""),
    ("manualSelector", "false"),
];
const NAMESPACE: &[Default] = &[("finalizers", "[\"kubernetes\"]")];

/// Sets the defaults of an object.
pub(super) fn fill(resource: &Resource, value: &mut Value) {
    if resource.kind == "Pod" {
        fill_pod(value);
        return;
    }
    if resource.own_kind() == "Job" {
        fill_job(value);
    }
    let table = match resource.own_kind() {
        "Deployment" => DEPLOYMENT,
        "DaemonSet" => DAEMONSET,
        "StatefulSet" => STATEFULSET,
        "ReplicaSet" => REPLICASET,
        "Job" => JOB,
        "Namespace" => NAMESPACE,
        _ => return,
    };
    let spec = object::members(value).entry("spec").or_insert_with(|| json!({}));
    fill_table(spec, table);
    match resource.own_kind() {
        "Deployment" => fill_rolling(spec, "strategy", DEPLOYMENT_ROLLING),
        "DaemonSet" => fill_rolling(spec, "updateStrategy", DAEMONSET_ROLLING),
        _ => {}
    }
    if let Some(template) = spec.get_mut("template") {
        let pod = object::members(template).entry("spec").or_insert_with(|| json!({}));
        fill_template_spec(pod);
    }
}

/// Sets what a table cannot: one completion if nothing is said of pods, and the labels by which the Job finds its pods
/// (`generateSelector` of the registry).
fn fill_job(job: &mut Value) {
    let (uid, name) = (object::uid(job).to_owned(), object::name(job).to_owned());
    let spec = object::members(object::members(job).entry("spec").or_insert_with(|| json!({})));
    if !spec.contains_key("completions") && !spec.contains_key("parallelism") {
        spec.insert("completions".to_owned(), 1.into());
    }
    spec.entry("selector")
        .or_insert_with(|| json!({ "matchLabels": { "batch.kubernetes.io/controller-uid": uid } }));
    let template = object::members(spec.entry("template").or_insert_with(|| json!({})));
    let metadata = object::members(template.entry("metadata").or_insert_with(|| json!({})));
    let labels = object::members(metadata.entry("labels").or_insert_with(|| json!({})));
    for prefix in ["", "batch.kubernetes.io/"] {
        labels.insert(format!("{prefix}controller-uid"), uid.as_str().into());
        labels.insert(format!("{prefix}job-name"), name.as_str().into());
    }
}

fn fill_rolling(spec: &mut Value, strategy: &str, table: &[Default]) {
    if let Some(strategy) = spec.get_mut(strategy).filter(|strategy| strategy["type"] == "RollingUpdate") {
        fill_table(strategy, table);
    }
}

/// Applies a table in its order: a later row can set a default in an object that an earlier row created.
pub(super) fn fill_table(value: &mut Value, table: &[Default]) {
    for (path, default) in table {
        let steps: Vec<&str> = path.split('.').collect();
        fill_path(value, &steps, default);
    }
}

fn fill_path(value: &mut Value, steps: &[&str], default: &str) {
    match (steps, value) {
        ([last], Value::Object(map)) => fill_member(map, last, default),
        (["*", rest @ ..], Value::Array(items)) => {
            for item in items {
                fill_path(item, rest, default);
            }
        }
        ([first, rest @ ..], Value::Object(map)) => {
            if let Some(member) = map.get_mut(*first) {
                fill_path(member, rest, default);
            }
        }
        _ => {}
    }
}

fn fill_member(map: &mut Map<String, Value>, member: &str, default: &str) {
    if !map.contains_key(member) {
        // A default that is no JSON is a mistake in a table above, which a test would show.
        map.insert(member.to_owned(), serde_json::from_str(default).unwrap_or(Value::Null));
    }
}
