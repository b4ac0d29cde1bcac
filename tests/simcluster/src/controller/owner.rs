//! Owner references: controllers, adoption and release.

use std::sync::Arc;

use serde_json::{Value, json};

use super::plan::Plan;
use crate::object;
use crate::resource::Resource;
use crate::rules::Part;
use crate::selector::matches_labels;
use crate::store::Store;

/// Returns the owner reference to a controller.
pub(super) fn reference(owner: &Value) -> Value {
    json!({
        "apiVersion": owner["apiVersion"], "kind": owner["kind"],
        "name": object::name(owner), "uid": object::uid(owner),
        "controller": true, "blockOwnerDeletion": true,
    })
}

/// Returns the owner reference to the object's controller, if it has one.
pub(super) fn controller_of(value: &Value) -> Option<&Value> {
    object::list(value, &["metadata", "ownerReferences"]).iter().find(|owner| owner["controller"] == true)
}

/// Whether `owner` controls the object.
pub(super) fn controls(owner: &Value, value: &Value) -> bool {
    controller_of(value).is_some_and(|reference| reference["uid"] == owner["metadata"]["uid"])
}

/// Oldest first, then by name.
fn sort_by_age(objects: &mut [Arc<Value>]) {
    objects.sort_by(|one, other| age_order(one).cmp(&age_order(other)));
}

/// Returns the sort key for age.
pub(super) fn age_order(value: &Value) -> (&str, &str) {
    (object::text(value, &["metadata", "creationTimestamp"]), object::name(value))
}

/// Returns the objects of `owner` after it has adopted matching orphans and released objects that no longer match.
pub(super) fn claim(
    store: &Store,
    resource: &'static Resource,
    owner: &Value,
    plan: &mut Plan,
) -> Vec<Arc<Value>> {
    let mut claimed = Vec::new();
    for (key, value) in store.list(resource, Some(object::namespace(owner))) {
        let controller = controller_of(value);
        let mine = controller.is_some_and(|reference| reference["uid"] == owner["metadata"]["uid"]);
        let fits = || selects(owner, value);
        let settled = object::is_terminating(owner) || object::is_terminating(value);
        match (mine, controller.is_none()) {
            (true, _) if settled || fits() => claimed.push(Arc::clone(value)),
            (true, _) => plan.update(key, Part::Object, released(value, owner)),
            (false, true) if !settled && fits() => {
                let adopted = adopted(value, owner);
                plan.update(key, Part::Object, adopted.clone());
                claimed.push(Arc::new(adopted));
            }
            _ => {}
        }
    }
    sort_by_age(&mut claimed);
    claimed
}

/// Whether the owner's selector matches the object's labels.
pub(super) fn selects(owner: &Value, value: &Value) -> bool {
    let labels = object::at(value, &["metadata", "labels"]).unwrap_or(&Value::Null);
    matches_labels(&owner["spec"]["selector"], labels)
}

fn adopted(value: &Value, owner: &Value) -> Value {
    let mut adopted = value.clone();
    let references = object::metadata(&mut adopted).entry("ownerReferences").or_insert_with(|| json!([]));
    if let Value::Array(references) = references {
        references.push(reference(owner));
    }
    adopted
}

fn released(value: &Value, owner: &Value) -> Value {
    let mut released = value.clone();
    if let Some(Value::Array(references)) = object::metadata(&mut released).get_mut("ownerReferences") {
        references.retain(|reference| reference["uid"] != owner["metadata"]["uid"]);
    }
    released
}
