//! `ControllerRevisions` of DaemonSets and StatefulSets.

use std::sync::Arc;

use serde_json::{Value, json};

use super::count;
use super::owner::{age_order, claim, reference};
use super::plan::Plan;
use crate::object;
use crate::resource::CONTROLLERREVISIONS;
use crate::rules::Part;
use crate::store::{Key, Store};

/// `.revision`.
pub(super) fn number(revision: &Value) -> i64 {
    count::at(revision, &["revision"])
}

/// Returns the revisions of an owner, by number, then by age, then by name.
pub(super) fn of_owner(store: &Store, owner: &Value, plan: &mut Plan) -> Vec<Arc<Value>> {
    let mut revisions = claim(store, &CONTROLLERREVISIONS, owner, plan);
    revisions.sort_by(|one, other| {
        number(one).cmp(&number(other)).then_with(|| age_order(one).cmp(&age_order(other)))
    });
    revisions
}

/// Returns the `data` of a revision: a patch that restores the live template.
pub(super) fn template_data(owner: &Value) -> Value {
    let mut template = owner["spec"]["template"].clone();
    object::members(&mut template).insert("$patch".to_owned(), "replace".into());
    json!({ "spec": { "template": template } })
}

/// Returns the template that a revision restores.
pub(super) fn template_of(revision: &Value) -> Value {
    let mut template = revision["data"]["spec"]["template"].clone();
    object::members(&mut template).remove("$patch");
    template
}

/// Creates a revision with the labels of the template and the present annotations of the owner.
pub(super) fn make(
    owner: &Value,
    name: &str,
    label: (&str, &str),
    data: &Value,
    number: i64,
    plan: &mut Plan,
) -> Value {
    let labels = object::at(owner, &["spec", "template", "metadata", "labels"]);
    let mut labels = labels.cloned().unwrap_or_else(|| json!({}));
    object::members(&mut labels).insert(label.0.to_owned(), label.1.into());
    let revision = json!({
        "metadata": {
            "name": name, "namespace": object::namespace(owner), "labels": labels,
            "annotations": owner["metadata"]["annotations"], "ownerReferences": [reference(owner)],
        },
        "data": data, "revision": number,
    });
    plan.create(&CONTROLLERREVISIONS, object::namespace(owner), revision.clone());
    revision
}

/// Renumbers a revision whose template was restored.
pub(super) fn renumber(revision: &Value, number: i64, plan: &mut Plan) {
    let mut renumbered = revision.clone();
    renumbered["revision"] = number.into();
    plan.update(&Key::of(&CONTROLLERREVISIONS, revision), Part::Object, renumbered);
}
