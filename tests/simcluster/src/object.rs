//! Access to the common fields of all objects.

use serde_json::{Map, Value};

/// Returns an object as JSON, with sorted members.
pub(crate) fn json_text(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default() // faster than `Display`; its keys are texts, so it cannot fail
}

/// Returns the text at a path such as `&["metadata", "name"]`; empty if it is absent or no text.
pub fn text<'v>(object: &'v Value, path: &[&str]) -> &'v str {
    at(object, path).and_then(Value::as_str).unwrap_or_default()
}

/// The value at a path of member names.
pub fn at<'v>(object: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(object, |value, member| value.get(member))
}

/// `metadata.name`.
pub fn name(object: &Value) -> &str {
    text(object, &["metadata", "name"])
}

/// `metadata.namespace`; empty for an object without one.
pub fn namespace(object: &Value) -> &str {
    text(object, &["metadata", "namespace"])
}

/// `metadata.uid`.
pub fn uid(object: &Value) -> &str {
    text(object, &["metadata", "uid"])
}

/// `metadata.resourceVersion`; 0 when it is absent or not a number.
pub fn resource_version(object: &Value) -> u64 {
    text(object, &["metadata", "resourceVersion"]).parse().unwrap_or(0)
}

/// `metadata.generation`; 0 when absent.
pub fn generation(object: &Value) -> i64 {
    at(object, &["metadata", "generation"]).and_then(Value::as_i64).unwrap_or(0)
}

/// Whether the object has a deletion timestamp.
pub fn is_terminating(object: &Value) -> bool {
    !text(object, &["metadata", "deletionTimestamp"]).is_empty()
}

/// Returns the uids of the owners.
pub fn owner_uids(object: &Value) -> impl Iterator<Item = &str> {
    owners(object).iter().map(|owner| text(owner, &["uid"]))
}

fn owners(object: &Value) -> &[Value] {
    list(object, &["metadata", "ownerReferences"])
}

/// The list at a path; empty when it is absent or no list.
pub fn list<'v>(object: &'v Value, path: &[&str]) -> &'v [Value] {
    at(object, path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The condition of a type in the status.
pub fn condition<'v>(object: &'v Value, kind: &str) -> Option<&'v Value> {
    list(object, &["status", "conditions"]).iter().find(|condition| condition["type"] == kind)
}

/// Whether a condition of the status is `True`.
pub fn has_condition(object: &Value, kind: &str) -> bool {
    condition(object, kind).is_some_and(|condition| condition["status"] == "True")
}

/// `metadata.finalizers`, as texts.
pub fn finalizers(object: &Value) -> impl Iterator<Item = &str> {
    list(object, &["metadata", "finalizers"]).iter().filter_map(Value::as_str)
}

/// Returns the members of a value, which becomes an object if it was none.
pub fn members(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    match value {
        Value::Object(map) => map,
        _ => unreachable!("the value was made an object above"),
    }
}

/// Returns the members of `metadata`, which is created if it is absent.
pub fn metadata(object: &mut Value) -> &mut Map<String, Value> {
    members(members(object).entry("metadata").or_insert(Value::Null))
}

/// Sets `key` in `map` to the value of the same key in `source`, or removes it if `source` lacks it.
pub(crate) fn keep(map: &mut Map<String, Value>, source: &Value, key: &str) {
    match source.get(key) {
        Some(value) => map.insert(key.to_owned(), value.clone()),
        None => map.remove(key),
    };
}

/// Removes the values that the API never stores: nulls in `metadata` and `spec`, and empty maps of metadata.
///
/// The real server drops them because it decodes objects into structs. Unknown fields stay, as in a newer server.
pub(crate) fn drop_noise(object: &mut Value) {
    let Value::Object(top) = object else { return };
    for part in ["metadata", "spec"] {
        if let Some(value) = top.get_mut(part) {
            drop_nulls(value);
        }
    }
    if let Some(Value::Object(metadata)) = top.get_mut("metadata") {
        for part in ["annotations", "labels", "finalizers", "ownerReferences"] {
            if metadata.get(part).is_some_and(is_empty) {
                metadata.remove(part);
            }
        }
    }
}

fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, member| !member.is_null());
            map.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}
