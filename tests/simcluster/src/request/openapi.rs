//! The part of `OpenAPI` v3 from which kubectl learns that the server validates fields (`apply`, `create -f`, `edit`).
//!
//! There are no schemas, so `kubectl explain` does not work.

use serde_json::{Map, Value, json};

use crate::resource::{ALL, Resource};

/// The API groups with a document.
pub(super) fn index() -> Value {
    let paths: Map<String, Value> = ["api/v1", "apis/apps/v1", "apis/policy/v1"]
        .into_iter()
        .map(|group| (group.to_owned(), json!({ "serverRelativeURL": format!("/openapi/v3/{group}") })))
        .collect();
    json!({ "paths": paths })
}

/// Returns the document of a group: every kind has a PATCH with the parameter `fieldValidation`.
pub(super) fn document(group: &str) -> Value {
    let rows = ALL.iter().copied().filter(|resource| resource.group == group);
    let paths: Map<String, Value> =
        rows.map(|resource| (object_path(resource), json!({ "patch": patch(resource) }))).collect();
    json!({ "openapi": "3.0.0", "info": { "title": "simcluster", "version": "v1.36.2" }, "paths": paths })
}

fn object_path(resource: &Resource) -> String {
    let root = if resource.group.is_empty() { "/api" } else { "/apis" };
    let namespace = if resource.namespaced { "namespaces/{namespace}/" } else { "" };
    format!("{root}/{}/{namespace}{}/{{name}}", resource.api_version(), resource.plural)
}

fn patch(resource: &Resource) -> Value {
    let parameter = |name: &str| json!({ "name": name, "in": "query", "schema": { "type": "string" } });
    json!({
        "parameters": [parameter("dryRun"), parameter("fieldManager"), parameter("fieldValidation")],
        "x-kubernetes-group-version-kind": { "group": resource.group, "version": resource.version, "kind": resource.kind },
        "responses": {},
    })
}
