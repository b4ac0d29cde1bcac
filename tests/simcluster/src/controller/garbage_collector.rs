//! The garbage collector: deletion of dependents after their owner.

use serde_json::Value;

use super::plan::Plan;
use crate::object;
use crate::resource::Resource;
use crate::store::{Key, Store};

/// Returns the deletion of an object without existing owners.
pub(super) fn plan(store: &Store, key: &Key) -> Plan {
    let mut plan = Plan::default();
    if let Some(value) = store.get(key).filter(|value| is_left(store, value)) {
        plan.delete(key, object::uid(value));
    }
    plan
}

/// Whether no owner of an object exists any more, and its deletion has not begun.
pub(super) fn is_left(store: &Store, value: &Value) -> bool {
    let owners = object::list(value, &["metadata", "ownerReferences"]);
    !owners.is_empty()
        && !object::is_terminating(value)
        && !owners.iter().any(|owner| is_there(store, value, owner))
}

/// Whether an owner exists, with the same uid. An owner of a kind that is not served counts as existing.
fn is_there(store: &Store, value: &Value, owner: &Value) -> bool {
    let kind = Resource::of_kind(object::text(owner, &["apiVersion"]), object::text(owner, &["kind"]));
    kind.is_none_or(|kind| {
        let key = Key::new(kind, object::namespace(value), object::text(owner, &["name"]));
        store.get(&key).is_some_and(|there| there["metadata"]["uid"] == owner["uid"])
    })
}
