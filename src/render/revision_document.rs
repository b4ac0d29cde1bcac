//! A revision as the object kubectl prints with `-o`.

use serde_json::Value;

use super::{go_json, yaml};
use crate::model::object::drop_managed_fields;
use crate::model::revision::Revision;
use crate::model::workload::Workload;

/// The object that stands for a revision: a Deployment's ReplicaSet, or the DaemonSet or StatefulSet
/// as it is now with that revision's template in it.
#[must_use]
pub fn document(workload: &Workload, revision: &Revision, managed_fields: bool) -> Value {
    let mut document = match workload {
        Workload::Deployment(_) => revision.json(),
        Workload::DaemonSet(_) | Workload::StatefulSet(_) => {
            let mut document = workload.object().json().clone();
            if let Some(template) = document.pointer_mut("/spec/template") {
                *template = revision.template().json().clone();
            }
            document
        }
    };
    if !managed_fields {
        drop_managed_fields(&mut document);
    }
    document
}

/// `replicaset.apps/web-67fd86cfbd`.
#[must_use]
pub fn name(document: &Value) -> String {
    let text = |pointer: &str| document.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    format!("{}.apps/{}", text("/kind").to_lowercase(), text("/metadata/name"))
}

/// The document as kubectl's JSON, fields in the order of Go's structs.
#[must_use]
pub fn json(document: &Value) -> String {
    go_json::go_json(document)
}

/// The document as kubectl's YAML.
#[must_use]
pub fn yaml(document: &Value) -> String {
    yaml::yaml(document)
}
