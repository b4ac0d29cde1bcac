//! The garbage collector: deletion of dependents after their owner, or before it.

use std::sync::Arc;

use serde_json::Value;

use super::plan::{Plan, Write};
use crate::object;
use crate::resource::Resource;
use crate::rules::{Deletion, FOREGROUND, ORPHAN, Part, Propagation};
use crate::store::{Key, Store};

/// Returns the next writes for an object, as a dependent and as an owner that is being deleted.
pub(super) fn plan(store: &Store, key: &Key) -> Plan {
    let mut plan = Plan::default();
    let Some(value) = store.get(key) else { return plan };
    if waits_with(value, FOREGROUND) {
        delete_dependents(store, key, value, &mut plan);
    } else if waits_with(value, ORPHAN) {
        orphan_dependents(store, key, value, &mut plan);
    } else {
        follow_owners(store, key, value, &mut plan);
    }
    plan
}

/// Whether an object is being deleted and has a finalizer of the garbage collector.
pub(super) fn has_work_with(value: &Value) -> bool {
    waits_with(value, FOREGROUND) || waits_with(value, ORPHAN)
}

/// Whether an owner of the object does not exist.
pub(super) fn misses_an_owner(store: &Store, value: &Value) -> bool {
    owners(value).iter().any(|owner| !is_there(store, value, owner))
}

fn waits_with(value: &Value, finalizer: &str) -> bool {
    object::is_terminating(value) && object::finalizers(value).any(|one| one == finalizer)
}

fn owners(value: &Value) -> &[Value] {
    object::list(value, &["metadata", "ownerReferences"])
}

/// Whether an owner exists, with the same uid. An owner of a kind that is not served counts as existing.
fn is_there(store: &Store, value: &Value, owner: &Value) -> bool {
    let kind = Resource::of_kind(object::text(owner, &["apiVersion"]), object::text(owner, &["kind"]));
    kind.is_none_or(|kind| {
        let key = Key::new(kind, object::namespace(value), object::text(owner, &["name"]));
        store.get(&key).is_some_and(|there| there["metadata"]["uid"] == owner["uid"])
    })
}

/// Deletes an object without existing owners, or removes the references to owners that do not exist.
fn follow_owners(store: &Store, key: &Key, value: &Arc<Value>, plan: &mut Plan) {
    let owners = owners(value);
    let missing = owners.iter().filter(|owner| !is_there(store, value, owner)).count();
    if missing == 0 || object::is_terminating(value) {
        return;
    }
    if missing == owners.len() {
        plan.delete(key, object::uid(value));
        return;
    }
    plan.update(key, Part::Object, with_owners(value, |owner| is_there(store, value, owner)));
}

/// Deletes the dependents first, recursively, and then removes the finalizer of the owner.
fn delete_dependents(store: &Store, key: &Key, owner: &Arc<Value>, plan: &mut Plan) {
    let dependents = dependents(store, owner);
    let blocks = |value: &Arc<Value>| {
        let reference = owners(value).iter().find(|one| one["uid"] == owner["metadata"]["uid"]);
        reference.is_some_and(|reference| reference["blockOwnerDeletion"] == true)
    };
    for (dependent, value) in dependents.iter().filter(|(_, value)| !object::is_terminating(value)) {
        let deletion = Deletion {
            uid: Some(object::uid(value).to_owned()),
            propagation: Propagation::Foreground,
            ..Deletion::default()
        };
        plan.writes.push(Write::Delete { key: dependent.clone(), deletion });
    }
    if !dependents.iter().any(|(_, value)| blocks(value)) {
        release(key, owner, plan);
    }
}

fn orphan_dependents(store: &Store, key: &Key, owner: &Arc<Value>, plan: &mut Plan) {
    for (dependent, value) in dependents(store, owner) {
        let orphan = with_owners(&value, |one| one["uid"] != owner["metadata"]["uid"]);
        plan.update(&dependent, Part::Object, orphan);
    }
    release(key, owner, plan);
}

fn dependents(store: &Store, owner: &Value) -> Vec<(Key, Arc<Value>)> {
    let keys = store.owned_by(object::uid(owner));
    keys.into_iter().filter_map(|key| store.get(&key).map(Arc::clone).map(|value| (key, value))).collect()
}

fn release(key: &Key, owner: &Value, plan: &mut Plan) {
    let mut released = owner.clone();
    if let Some(Value::Array(finalizers)) = object::metadata(&mut released).get_mut("finalizers") {
        finalizers.retain(|finalizer| finalizer != FOREGROUND && finalizer != ORPHAN);
    }
    plan.update(key, Part::Object, released);
}

fn with_owners(value: &Value, stays: impl Fn(&Value) -> bool) -> Value {
    let mut kept = value.clone();
    if let Some(Value::Array(references)) = object::metadata(&mut kept).get_mut("ownerReferences") {
        references.retain(stays);
    }
    kept
}
