//! One revision as kubectl prints it: the text of `history --revision`, and the object of `-o`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::template_text::{pod_template_text, with_change_cause};
use crate::model::api::object::drop_managed_fields;
use crate::model::kind::Workload;
use crate::model::revision::{Revision, RevisionNumber, Revisions};

/// Returns the template that kubectl describes for a revision. For a Deployment it has the change-cause as an
/// annotation.
#[must_use]
pub fn described(workload: &Workload, revision: &Revision) -> Value {
    let cause = revision.cause.as_ref().filter(|_| workload.kind().revisions().shows_change_cause());
    let template = revision.template();
    cause.map_or_else(|| template.json().clone(), |cause| with_change_cause(template.json(), cause))
}

/// Returns kubectl's description of one revision.
#[must_use]
pub fn one(workload: &Workload, revision: &Revision, template: &Value) -> String {
    let text = pod_template_text(template);
    format!("{} with revision #{}\n{text}\n", workload.reference(), revision.label())
}

/// Returns the revisions by number, as kubectl does. A missing number counts as 0, and a revision with an
/// unreadable number is left out. Of several revisions with one number the current one wins, else the last.
#[must_use]
pub fn by_number(revisions: &Revisions) -> BTreeMap<i64, &Revision> {
    let mut numbered = BTreeMap::new();
    let running_last =
        revisions.iter().filter(|revision| !revisions.is_current(revision)).chain(revisions.current());
    for revision in running_last {
        match revision.number {
            RevisionNumber::Known(number) => numbered.insert(number, revision),
            RevisionNumber::Missing => numbered.insert(0, revision),
            RevisionNumber::Unreadable(_) => None,
        };
    }
    numbered
}

/// Returns the object for a revision: a Deployment's ReplicaSet, or the current DaemonSet or StatefulSet with the
/// template of the revision.
#[must_use]
pub fn document(workload: &Workload, revision: &Revision, managed_fields: bool) -> Value {
    let template = revision.template().json().clone();
    let mut document = workload.kind().revisions().document(workload.object(), revision.json(), template);
    if !managed_fields {
        drop_managed_fields(&mut document);
    }
    document
}

/// Returns the name of a document: `replicaset.apps/web-67fd86cfbd`, `cloneset.apps.kruise.io/web`.
#[must_use]
pub fn name(document: &Value) -> String {
    let text = |pointer: &str| document.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let group = text("/apiVersion").split_once('/').map_or("apps", |(group, _)| group);
    format!("{}.{group}/{}", text("/kind").to_lowercase(), text("/metadata/name"))
}
