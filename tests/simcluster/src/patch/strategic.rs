//! Strategic merge patch for the served kinds: merge keys of lists, and the directives that kubectl sends for them.

use serde_json::{Map, Value};

use super::merge_keys::merge_key;
use crate::object;
use crate::refusal::Refusal;

const PATCH: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";

/// Merges `patch` into `document`.
pub(super) fn apply(document: &mut Value, patch: &Value) -> Result<(), Refusal> {
    let (Value::Object(document), Value::Object(patch)) = (document, patch) else {
        return Err(Refusal::bad_request("error decoding patch: a strategic merge patch is an object"));
    };
    merge_objects(document, patch);
    Ok(())
}

fn merge_objects(document: &mut Map<String, Value>, patch: &Map<String, Value>) {
    if patch.get(PATCH).is_some_and(|directive| directive == "replace") {
        document.clear();
    }
    if let Some(Value::Array(retained)) = patch.get(RETAIN_KEYS) {
        document.retain(|member, _| retained.iter().any(|kept| kept == member));
    }
    for (member, wanted) in patch.iter().filter(|(member, _)| !member.starts_with('$')) {
        if wanted.is_null() {
            document.remove(member);
            continue;
        }
        match (document.get_mut(member), wanted, merge_key(member)) {
            (Some(Value::Object(current)), Value::Object(wanted), _) => merge_objects(current, wanted),
            (Some(Value::Array(current)), Value::Array(wanted), Some(key)) => {
                merge_lists(current, wanted, key);
            }
            _ => drop(document.insert(member.clone(), without_directives(wanted))),
        }
    }
}

/// Merges items into those with the same key, and adds the others.
fn merge_lists(current: &mut Vec<Value>, wanted: &[Value], key: &str) {
    for item in wanted {
        let place = current.iter().position(|there| there.get(key) == item.get(key));
        match (place, item) {
            (Some(place), _) if is_deletion(item) => drop(current.remove(place)),
            (Some(place), Value::Object(item)) => merge_objects(object::members(&mut current[place]), item),
            _ if is_deletion(item) => {}
            _ => current.push(without_directives(item)),
        }
    }
}

fn is_deletion(item: &Value) -> bool {
    item.get(PATCH).is_some_and(|directive| directive == "delete")
}

/// Returns the value of a patch that replaces nothing, without its directives.
fn without_directives(value: &Value) -> Value {
    match value {
        Value::Object(map) => map
            .iter()
            .filter(|(member, value)| !member.starts_with('$') && !value.is_null())
            .map(|(member, value)| (member.clone(), without_directives(value)))
            .collect(),
        Value::Array(items) => {
            items.iter().filter(|item| !is_deletion(item)).map(without_directives).collect()
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn patched(mut document: Value, patch: &Value) -> Value {
        apply(&mut document, patch).unwrap();
        document
    }

    #[test]
    fn containers_merge_by_name() {
        let document =
            json!({ "containers": [{ "name": "a", "image": "a:1" }, { "name": "b", "image": "b:1" }] });
        let after = patched(
            document,
            &json!({ "containers": [{ "name": "b", "image": "b:2" }, { "name": "c", "image": "c:1" }] }),
        );
        assert_eq!(
            after,
            json!({ "containers": [{ "name": "a", "image": "a:1" }, { "name": "b", "image": "b:2" }, { "name": "c", "image": "c:1" }] })
        );
    }

    #[test]
    fn a_template_is_replaced_as_a_rollback_does() {
        let document = json!({ "spec": { "replicas": 3, "template": { "metadata": { "labels": { "a": "b", "c": "d" } }, "spec": { "x": 1 } } } });
        let patch = json!({ "spec": { "template": { "$patch": "replace", "metadata": { "labels": { "a": "b" } }, "spec": { "y": 2 } } } });
        assert_eq!(
            patched(document, &patch),
            json!({ "spec": { "replicas": 3, "template": { "metadata": { "labels": { "a": "b" } }, "spec": { "y": 2 } } } })
        );
    }

    #[test]
    fn items_and_lists_obey_directives() {
        let document =
            json!({ "env": [{ "name": "A", "value": "1" }, { "name": "B", "value": "2" }], "args": ["x"] });
        let patch = json!({ "env": [{ "name": "A", "$patch": "delete" }], "args": ["y", "z"] });
        let deleted = patched(document, &patch);
        assert_eq!(deleted, json!({ "env": [{ "name": "B", "value": "2" }], "args": ["y", "z"] }));
    }

    #[test]
    fn only_retained_keys_stay() {
        let document = json!({ "strategy": { "type": "RollingUpdate", "rollingUpdate": {} } });
        let patch = json!({ "strategy": { "$retainKeys": ["type"], "type": "Recreate" } });
        assert_eq!(patched(document, &patch), json!({ "strategy": { "type": "Recreate" } }));
    }
}
