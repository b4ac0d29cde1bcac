//! The object that kubectl prints for a revision with `-o`.

use serde_json::Value;

use super::{kubectl_json, yaml};
use crate::model::api::object::drop_managed_fields;
use crate::model::revision::Revision;
use crate::model::workload::Workload;
use crate::model::workload::kind::RevisionStore;

/// Returns the object for a revision: a Deployment's ReplicaSet, or the current DaemonSet or StatefulSet with the
/// template of the revision.
#[must_use]
pub fn document(workload: &Workload, revision: &Revision, managed_fields: bool) -> Value {
    let mut document = match workload.kind().revisions {
        RevisionStore::ReplicaSets => revision.json(),
        RevisionStore::ControllerRevisions { .. } => {
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

/// Returns the name of a document: `replicaset.apps/web-67fd86cfbd`.
#[must_use]
pub fn name(document: &Value) -> String {
    let text = |pointer: &str| document.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    format!("{}.apps/{}", text("/kind").to_lowercase(), text("/metadata/name"))
}

/// Returns the document as kubectl's JSON.
#[must_use]
pub fn json(document: &Value) -> String {
    kubectl_json::kubectl_json(document)
}

/// Returns the document as kubectl's YAML.
#[must_use]
pub fn yaml(document: &Value) -> String {
    yaml::yaml(document)
}
