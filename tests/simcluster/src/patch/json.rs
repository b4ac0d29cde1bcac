//! JSON Patch (RFC 6902) as in the API server's library (evanphx/json-patch, version 4).
//!
//! It differs from the RFC: a `test` with null passes on an absent member, and a `replace` of an absent member adds it. A
//! missing parent is an error, as in the RFC. There are no `move`, no `copy` and no negative indexes.

use serde_json::{Map, Value};

use crate::refusal::Refusal;

/// Applies every operation in order, or returns the bare 422 without the operation that failed.
pub(super) fn apply(document: &mut Value, operations: &Value) -> Result<(), Refusal> {
    let operations = operations.as_array().ok_or_else(|| {
        Refusal::bad_request(
            "error decoding patch: json: cannot unmarshal object into Go value of type jsonpatch.Patch",
        )
    })?;
    operations
        .iter()
        .try_for_each(|operation| apply_one(document, operation).ok_or_else(Refusal::patch_failed))
}

/// Applies one operation; `None` if it does not apply.
fn apply_one(document: &mut Value, operation: &Value) -> Option<()> {
    let path = operation.get("path")?.as_str()?;
    let value = operation.get("value").unwrap_or(&Value::Null);
    match operation.get("op")?.as_str()? {
        "test" => test(document, path, value),
        "add" => add(document, path, value.clone()),
        "remove" => remove(document, path).map(drop),
        "replace" => replace(document, path, value.clone()),
        _ => None,
    }
}

/// The parent of the last step of a path.
enum Holder<'d> {
    Object(&'d mut Map<String, Value>, String),
    List(&'d mut Vec<Value>, String),
}

/// Returns the parent; `None` if a step is missing or has no members.
fn holder<'d>(document: &'d mut Value, path: &str) -> Option<Holder<'d>> {
    let (parents, last) = path
        .strip_prefix('/')?
        .rsplit_once('/')
        .map_or(("", path.strip_prefix('/')?), |(parents, last)| (parents, last));
    let mut at = document;
    for step in parents.split('/').filter(|_| !parents.is_empty()) {
        at = match at {
            Value::Object(map) => map.get_mut(&unescape(step))?,
            Value::Array(items) => {
                let index = index(step, items.len())?;
                items.get_mut(index)?
            }
            _ => return None,
        };
    }
    match at {
        Value::Object(map) => Some(Holder::Object(map, unescape(last))),
        Value::Array(items) => Some(Holder::List(items, last.to_owned())),
        _ => None,
    }
}

fn unescape(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// Returns the index of a step in a list of this length; the index can be the length.
fn index(step: &str, length: usize) -> Option<usize> {
    step.parse().ok().filter(|index| *index <= length)
}

/// Returns the value at a path; null for an absent member of an existing object.
fn get(document: &mut Value, path: &str) -> Option<Value> {
    match holder(document, path)? {
        Holder::Object(map, key) => Some(map.get(&key).cloned().unwrap_or(Value::Null)),
        Holder::List(items, step) => items.get(index(&step, items.len())?).cloned(),
    }
}

fn test(document: &mut Value, path: &str, expected: &Value) -> Option<()> {
    let found = if path.is_empty() { document.clone() } else { get(document, path)? };
    (found == *expected).then_some(())
}

fn add(document: &mut Value, path: &str, value: Value) -> Option<()> {
    match holder(document, path)? {
        Holder::Object(map, key) => {
            map.insert(key, value);
        }
        Holder::List(items, step) if step == "-" => items.push(value),
        Holder::List(items, step) => {
            let place = index(&step, items.len())?;
            items.insert(place, value);
        }
    }
    Some(())
}

fn replace(document: &mut Value, path: &str, value: Value) -> Option<()> {
    if path.is_empty() {
        *document = value;
        return Some(());
    }
    match holder(document, path)? {
        Holder::Object(map, key) => {
            map.insert(key, value);
        }
        Holder::List(items, step) => {
            let index = index(&step, items.len())?;
            *items.get_mut(index)? = value;
        }
    }
    Some(())
}

fn remove(document: &mut Value, path: &str) -> Option<Value> {
    match holder(document, path)? {
        Holder::Object(map, key) => map.remove(&key),
        Holder::List(items, step) => {
            let index = index(&step, items.len()).filter(|index| *index < items.len())?;
            Some(items.remove(index))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn patched(operations: &Value) -> Option<Value> {
        let mut document = json!({ "metadata": { "name": "web" }, "spec": { "list": [1, 2, 3], "a/b": 1 } });
        apply(&mut document, operations).ok().map(|()| document)
    }

    fn passes(operation: &Value) -> bool {
        patched(&json!([operation])).is_some()
    }

    #[test]
    fn a_test_with_null_passes_on_an_absent_member() {
        assert!(passes(&json!({ "op": "test", "path": "/spec/paused", "value": null })));
        assert!(passes(&json!({ "op": "test", "path": "/spec/paused" })));
        assert!(!passes(&json!({ "op": "test", "path": "/spec/paused", "value": true })));
        assert!(!passes(&json!({ "op": "test", "path": "/metadata/name", "value": null })));
    }

    #[test]
    fn a_missing_parent_fails_even_a_test_with_null() {
        assert!(!passes(&json!({ "op": "test", "path": "/metadata/annotations/a", "value": null })));
        assert!(!passes(&json!({ "op": "add", "path": "/metadata/annotations/a", "value": "b" })));
    }

    #[test]
    fn a_replace_of_an_absent_member_adds_it() {
        let after =
            patched(&json!([{ "op": "replace", "path": "/metadata/annotations", "value": { "a": "b" } }]))
                .unwrap();
        assert_eq!(after["metadata"]["annotations"], json!({ "a": "b" }));
    }

    #[test]
    fn lists_take_indexes() {
        let after = patched(&json!([
            { "op": "add", "path": "/spec/list/-", "value": 4 },
            { "op": "add", "path": "/spec/list/0", "value": 0 },
            { "op": "remove", "path": "/spec/list/4" },
            { "op": "replace", "path": "/spec/list/1", "value": 9 },
        ]));
        assert_eq!(after.unwrap()["spec"]["list"], json!([0, 9, 2, 3]));
        assert!(!passes(&json!({ "op": "replace", "path": "/spec/list/3", "value": 0 })));
        assert!(!passes(&json!({ "op": "remove", "path": "/spec/list/3" })));
    }

    #[test]
    fn a_slash_is_escaped() {
        assert!(passes(&json!({ "op": "test", "path": "/spec/a~1b", "value": 1 })));
    }

    #[test]
    fn an_absent_member_cannot_be_removed() {
        assert!(!passes(&json!({ "op": "remove", "path": "/spec/paused" })));
        assert!(!passes(&json!({ "op": "frob", "path": "/spec" })));
    }
}
