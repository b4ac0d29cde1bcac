//! Strategic merge patch for the served kinds: merge keys of lists, and `$` directives.

use serde_json::{Map, Value};

use super::lists::merge_lists;
use crate::refusal::Refusal;

pub(super) const PATCH: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const ORDER: &str = "$setElementOrder/";
const DELETE: &str = "$deleteFromPrimitiveList/";

/// Merges `patch` into `document`.
pub(super) fn apply(document: &mut Value, patch: &Value) -> Result<(), Refusal> {
    let (Value::Object(document), Value::Object(patch)) = (document, patch) else {
        return Err(Refusal::bad_request("error decoding patch: a strategic merge patch is an object"));
    };
    merge_objects(document, patch)
}

pub(super) fn merge_objects(
    document: &mut Map<String, Value>,
    patch: &Map<String, Value>,
) -> Result<(), Refusal> {
    match patch.get(PATCH).map(|directive| directive.as_str().unwrap_or_default()) {
        None | Some("merge") => {}
        Some("replace") => {
            *document = patch
                .iter()
                .filter(|(member, _)| *member != PATCH)
                .map(|(member, value)| (member.clone(), value.clone()))
                .collect();
            return Ok(());
        }
        Some("delete") => {
            document.clear();
            return Ok(());
        }
        Some(_) => return Err(unknown_directive(&patch[PATCH])),
    }
    if let Some(Value::Array(retained)) = patch.get(RETAIN_KEYS) {
        document.retain(|member, _| retained.iter().any(|kept| kept == member));
    }
    for (member, wanted) in patch.iter().filter(|(member, _)| !member.starts_with('$')) {
        merge_member(document, member, wanted, patch)?;
    }
    for (list, unwanted) in
        patch.iter().filter_map(|(member, value)| Some((member.strip_prefix(DELETE)?, value.as_array()?)))
    {
        if let Some(Value::Array(items)) = document.get_mut(list) {
            items.retain(|item| !unwanted.contains(item));
        }
    }
    Ok(())
}

fn merge_member(
    document: &mut Map<String, Value>,
    member: &str,
    wanted: &Value,
    patch: &Map<String, Value>,
) -> Result<(), Refusal> {
    if wanted.is_null() {
        document.remove(member);
        return Ok(());
    }
    let order = patch.get(&format!("{ORDER}{member}")).and_then(Value::as_array);
    match (document.get_mut(member), wanted) {
        (Some(Value::Object(current)), Value::Object(wanted)) => merge_objects(current, wanted),
        (Some(Value::Array(current)), Value::Array(wanted)) => {
            let merged = merge_lists(member, current, wanted, order)?;
            *current = merged;
            Ok(())
        }
        _ => {
            document.insert(member.to_owned(), without_directives(wanted));
            Ok(())
        }
    }
}

/// The `$patch` of an item.
pub(super) fn directive(item: &Value) -> Option<&str> {
    item.get(PATCH).and_then(Value::as_str)
}

/// Returns the value of a patch that replaces nothing, without its directives.
pub(super) fn without_directives(value: &Value) -> Value {
    match value {
        Value::Object(map) => map
            .iter()
            .filter(|(member, value)| !member.starts_with('$') && !value.is_null())
            .map(|(member, value)| (member.clone(), without_directives(value)))
            .collect(),
        Value::Array(items) => {
            items.iter().filter(|item| directive(item) != Some("delete")).map(without_directives).collect()
        }
        other => other.clone(),
    }
}

pub(super) fn unknown_directive(directive: &Value) -> Refusal {
    Refusal::bad_request(format!("Unknown patch type found: {directive} in map"))
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
        let deleted = patched(
            document.clone(),
            &json!({ "env": [{ "name": "A", "$patch": "delete" }], "args": ["y", "z"] }),
        );
        assert_eq!(deleted, json!({ "env": [{ "name": "B", "value": "2" }], "args": ["y", "z"] }));
        let replaced =
            patched(document, &json!({ "env": [{ "$patch": "replace" }, { "name": "C" }], "args": null }));
        assert_eq!(replaced, json!({ "env": [{ "name": "C" }] }));
    }

    #[test]
    fn kubectls_element_order_is_kept() {
        let document = json!({ "containers": [{ "name": "injected" }, { "name": "a" }, { "name": "b" }] });
        let patch = json!({ "$setElementOrder/containers": [{ "name": "b" }, { "name": "a" }], "containers": [{ "name": "a", "image": "a:2" }] });
        assert_eq!(
            patched(document, &patch),
            json!({ "containers": [{ "name": "injected" }, { "name": "b" }, { "name": "a", "image": "a:2" }] })
        );
    }

    #[test]
    fn retained_keys_and_sets_work() {
        let document =
            json!({ "strategy": { "type": "RollingUpdate", "rollingUpdate": {} }, "finalizers": ["a", "b"] });
        let patch = json!({
            "strategy": { "$retainKeys": ["type"], "type": "Recreate" },
            "$deleteFromPrimitiveList/finalizers": ["a"], "finalizers": ["c", "b"],
        });
        assert_eq!(
            patched(document, &patch),
            json!({ "strategy": { "type": "Recreate" }, "finalizers": ["b", "c"] })
        );
    }

    #[test]
    fn an_item_without_its_key_is_refused() {
        let refusal = apply(&mut json!({ "env": [] }), &json!({ "env": [{ "value": "x" }] })).unwrap_err();
        assert_eq!(refusal.code, 400);
    }
}
