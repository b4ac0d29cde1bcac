//! The paths of no resource: discovery, version, health.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::Reply;
use crate::object::json_text;
use crate::{
    refusal::Refusal,
    resource::{ALL, KRUISE, Resource},
    store::Store,
};

/// The version of the cluster from which the fixtures were recorded.
const VERSION: (&str, &str, &str) = ("1", "36", "v1.36.2");

/// The API groups other than core.
const GROUPS: [&str; 3] = ["apps", "batch", "policy"];

/// Answers a GET of a path.
pub(super) fn answer(path: &str, store: &Store) -> Result<Reply, Refusal> {
    let steps: Vec<&str> = path.split('/').filter(|step| !step.is_empty()).collect();
    let value = match steps.as_slice() {
        ["healthz" | "livez" | "readyz", ..] => return Ok(Reply::text("ok")),
        ["version"] => version(),
        ["api"] => {
            json!({ "kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": [] })
        }
        ["apis"] => groups(store),
        ["apis", name] if GROUPS.contains(name) || *name == KRUISE && store.serves_kruise() => {
            let mut group = group(name, &versions(name, store));
            group["kind"] = "APIGroup".into();
            group["apiVersion"] = "v1".into();
            group
        }
        ["api", "v1"] => resources("v1", store),
        ["apis", name, "v1"] if GROUPS.contains(name) => resources(&format!("{name}/v1"), store),
        ["apis", KRUISE, version @ ("v1beta1" | "v1alpha1")] if store.serves_kruise() => {
            resources(&format!("{KRUISE}/{version}"), store)
        }
        _ => return Err(Refusal::no_such_path()),
    };
    Ok(Reply::json(200, json_text(&value)))
}

fn version() -> Value {
    let (major, minor, git_version) = VERSION;
    json!({
        "major": major, "minor": minor, "gitVersion": git_version, "gitCommit": "", "gitTreeState": "clean",
        "buildDate": "2026-06-01T00:00:00Z", "goVersion": "go1.26", "compiler": "gc", "platform": "linux/amd64",
    })
}

fn groups(store: &Store) -> Value {
    let served = GROUPS.into_iter().chain(store.serves_kruise().then_some(KRUISE));
    let groups: Vec<Value> = served.map(|name| group(name, &versions(name, store))).collect();
    json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": groups })
}

/// Returns the versions of a group in which a resource is served, the preferred one first.
fn versions(group: &str, store: &Store) -> Vec<&'static str> {
    let rows = ALL.iter().copied().filter(|resource| resource.group == group && store.serves(resource));
    let served: BTreeSet<&str> = rows.map(|resource| resource.version).collect();
    served.into_iter().rev().collect()
}

fn group(name: &str, versions: &[&str]) -> Value {
    let version = |version: &&str| json!({ "groupVersion": format!("{name}/{version}"), "version": version });
    let versions: Vec<Value> = versions.iter().map(version).collect();
    json!({ "name": name, "preferredVersion": versions.first(), "versions": versions })
}

fn resources(group_version: &str, store: &Store) -> Value {
    let is_listed = |resource: &&Resource| resource.api_version() == group_version && store.serves(resource);
    let rows = ALL.iter().copied().filter(is_listed);
    let resources: Vec<Value> = rows
        .flat_map(|resource| {
            let parts = resource.subresources.iter().filter(|part| **part != "scale");
            let parts = parts.map(|part| subresource(resource, part));
            std::iter::once(entry(resource)).chain(parts)
        })
        .collect();
    json!({ "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": resources })
}

fn entry(resource: &Resource) -> Value {
    json!({
        "name": resource.plural, "singularName": resource.singular, "namespaced": resource.namespaced, "kind": resource.kind,
        "verbs": ["create", "delete", "get", "list", "patch", "update", "watch"],
        "shortNames": resource.short_names,
    })
}

fn subresource(resource: &Resource, part: &str) -> Value {
    let (group, version, kind, verbs) = match part {
        "eviction" => ("policy", "v1", "Eviction", json!(["create"])),
        "log" => (resource.group, resource.version, resource.kind, json!(["get"])),
        _ => (resource.group, resource.version, resource.kind, json!(["get", "patch", "update"])),
    };
    json!({
        "name": format!("{}/{part}", resource.plural), "singularName": "", "namespaced": resource.namespaced,
        "group": group, "version": version, "kind": kind, "verbs": verbs,
    })
}
