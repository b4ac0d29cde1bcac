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

/// The revisions of a StatefulSet, or of a workload of `OpenKruise`.
pub(super) struct Found {
    /// The revisions before this sync, lowest first.
    pub(super) known: Vec<Arc<Value>>,
    /// The revision of the status; that of the live template if the status has none.
    pub(super) current: Value,
    /// The revision of the live template.
    pub(super) update: Value,
}

/// Finds the revisions of an owner, and renumbers the one of the live template, or makes it from its data and number.
pub(super) fn find(
    store: &Store,
    owner: &Value,
    plan: &mut Plan,
    make: impl FnOnce(&Value, i64, &mut Plan) -> Value,
) -> Found {
    let known = of_owner(store, owner, plan);
    let data = template_data(owner);
    let newest = known.last();
    let next = newest.map_or(0, |newest| number(newest)) + 1;
    let update = match known.iter().rev().find(|one| one["data"] == data) {
        Some(same) if newest.is_some_and(|newest| newest["data"] != data) => renumber(same, next, plan),
        Some(same) => Value::clone(same),
        None => make(&data, next, plan),
    };
    let current = object::text(owner, &["status", "currentRevision"]);
    let current = known.iter().find(|one| object::name(one) == current);
    let current = current.map_or_else(|| update.clone(), |current| Value::clone(current));
    Found { known, current, update }
}

/// Deletes the lowest of the unused revisions, beyond a limit.
pub(super) fn truncate<'r>(unused: impl IntoIterator<Item = &'r Arc<Value>>, limit: i64, plan: &mut Plan) {
    let unused: Vec<_> = unused.into_iter().collect();
    for one in unused.iter().take(count::as_len(count::of(&unused) - limit)) {
        plan.delete(&Key::of(&CONTROLLERREVISIONS, one), object::uid(one));
    }
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
pub(super) fn renumber(revision: &Value, number: i64, plan: &mut Plan) -> Value {
    let mut renumbered = revision.clone();
    renumbered["revision"] = number.into();
    plan.update(&Key::of(&CONTROLLERREVISIONS, revision), Part::Object, renumbered.clone());
    renumbered
}
