//! Equality of pod templates.

use serde_json::Value;

use crate::object;

/// Whether two templates are equal except for one label. An absent field equals an empty list or map. Order is
/// significant.
pub(super) fn equal_without_label(one: &Value, other: &Value, label: &str) -> bool {
    plain(one, label) == plain(other, label)
}

fn plain(template: &Value, label: &str) -> Value {
    let mut plain = template.clone();
    if let Some(labels) = plain.get_mut("metadata").and_then(|metadata| metadata.get_mut("labels")) {
        object::members(labels).remove(label);
    }
    drop_empty(&mut plain);
    plain
}

/// Removes empty lists and maps that Go does not distinguish from absent ones. A volume source such as `emptyDir: {}`
/// stays.
fn drop_empty(template: &mut Value) {
    if let Some(Value::Object(metadata)) = template.get_mut("metadata") {
        metadata.retain(|_, value| !is_empty_or_null(value));
    }
    if let Some(spec) = template.get_mut("spec") {
        drop_empty_lists(spec);
    }
}

fn drop_empty_lists(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null() && !member.as_array().is_some_and(Vec::is_empty));
            members.values_mut().for_each(drop_empty_lists);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_empty_lists),
        _ => {}
    }
}

fn is_empty_or_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const HASH: &str = "pod-template-hash";

    fn template(labels: &Value, annotations: &Value, node: &str) -> Value {
        json!({ "metadata": { "labels": labels, "annotations": annotations }, "spec": { "nodeName": node } })
    }

    /// The table of Kubernetes' `TestEqualIgnoreHash`, each row both ways.
    #[test]
    fn only_the_hash_may_differ() {
        let none = json!({});
        let base = template(&json!({ "app": "a", HASH: "1" }), &none, "n");
        let rows = [
            (true, base.clone()),
            (true, template(&json!({ "app": "a", HASH: "2" }), &none, "n")),
            (true, template(&json!({ "app": "a" }), &none, "n")),
            (
                true,
                json!({ "metadata": { "labels": { "app": "a" } }, "spec": { "nodeName": "n", "volumes": [] } }),
            ),
            (false, template(&json!({ "app": "b", HASH: "1" }), &none, "n")),
            (false, template(&json!({ HASH: "1" }), &none, "n")),
            (false, template(&json!({ "app": "a", "more": "x", HASH: "2" }), &none, "n")),
            (false, template(&json!({ "app": "a", HASH: "1" }), &json!({ "note": "x" }), "n")),
            (false, template(&json!({ "app": "a", HASH: "1" }), &none, "m")),
            (false, template(&json!({ "app": "a" }), &none, "m")),
            (false, template(&json!({ "app": "b" }), &none, "m")),
        ];
        for (equal, other) in rows {
            assert_eq!(equal_without_label(&base, &other, HASH), equal, "{other}");
            assert_eq!(equal_without_label(&other, &base, HASH), equal, "{other}, the other way round");
        }
    }
}
