//! Sets of fields in the form of `FieldsV1`: the fields of a value, and those that differ between two values.

use serde_json::{Map, Value, json};

use crate::patch::merge_key;

/// A tree of `f:member`, `k:{key}` and `v:value` steps. An empty tree is an atomic field.
pub(super) type Fields = Map<String, Value>;

/// Fields without a manager: the server sets them.
const SERVER_OWNED: [&str; 9] = [
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
];

/// Fields that are atomic.
fn is_atomic(member: &str) -> bool {
    matches!(member, "selector" | "nodeSelector" | "data" | "matchLabels")
}

/// Maps with arbitrary keys, which have an entry `.` for themselves.
fn is_map(member: &str) -> bool {
    matches!(member, "annotations" | "labels")
}

/// Returns the fields of `after` that `before` lacks or has with another value.
pub(super) fn changed(before: &Value, after: &Value) -> Fields {
    let mut fields = members_changed(before, after, &["apiVersion", "kind", "metadata"]);
    let [before, after] = [before, after].map(|object| object.get("metadata").unwrap_or(&Value::Null));
    let of_metadata = members_changed(before, after, &SERVER_OWNED);
    if !of_metadata.is_empty() {
        fields.insert("f:metadata".to_owned(), of_metadata.into());
    }
    fields
}

/// Returns how the members of `after` differ from those of `before`, without the members of these names.
fn members_changed(before: &Value, after: &Value, without: &[&str]) -> Fields {
    let members =
        after.as_object().into_iter().flatten().filter(|(name, _)| !without.contains(&name.as_str()));
    let of_member = |(name, value): (&String, &Value)| {
        let deeper = difference(name, before.get(name).unwrap_or(&Value::Null), value)?;
        Some((format!("f:{name}"), deeper.into()))
    };
    members.filter_map(of_member).collect()
}

/// Returns how `after` differs from `before`; `None` if nothing was added or set, although fields may have been
/// removed.
fn difference(member: &str, before: &Value, after: &Value) -> Option<Fields> {
    if before == after {
        return None;
    }
    let fields = match after {
        Value::Object(after) if !is_atomic(member) => map_difference(member, before, after),
        Value::Array(items) if member == "finalizers" => set_difference(before, items),
        Value::Array(items) => match merge_key(member) {
            Some(key) => list_difference(member, key, before, items),
            None => return Some(Fields::new()),
        },
        _ => return Some(Fields::new()),
    };
    let only_removed = fields.is_empty() && std::mem::discriminant(before) == std::mem::discriminant(after);
    (!only_removed).then_some(fields)
}

fn map_difference(member: &str, before: &Value, after: &Map<String, Value>) -> Fields {
    let mut fields = Fields::new();
    if is_map(member) && before.is_null() {
        fields.insert(".".to_owned(), json!({}));
    }
    for (name, value) in after {
        // The value of an arbitrary key is a string.
        let name_below = if is_map(member) { "" } else { name };
        if let Some(deeper) = difference(name_below, before.get(name).unwrap_or(&Value::Null), value) {
            fields.insert(format!("f:{name}"), deeper.into());
        }
    }
    fields
}

fn set_difference(before: &Value, after: &[Value]) -> Fields {
    let there = before.as_array().map_or(&[][..], Vec::as_slice);
    after.iter().filter(|item| !there.contains(item)).map(|item| (format!("v:{item}"), json!({}))).collect()
}

fn list_difference(list: &str, key: &str, before: &Value, after: &[Value]) -> Fields {
    let there = before.as_array().map_or(&[][..], Vec::as_slice);
    let mut fields = Fields::new();
    for item in after {
        let old = there.iter().find(|other| other.get(key) == item.get(key));
        if let Some(mut deeper) = difference(list_item(list), old.unwrap_or(&Value::Null), item) {
            if old.is_none() && list != "ownerReferences" {
                deeper.insert(".".to_owned(), json!({}));
            }
            fields.insert(item_step(list, key, item), deeper.into());
        }
    }
    fields
}

/// An owner reference is atomic. Every other item is owned field by field.
fn list_item(list: &str) -> &'static str {
    if list == "ownerReferences" { "data" } else { "" }
}

/// Such as `k:{"name":"web"}`; ports have their protocol in the key too.
fn item_step(list: &str, key: &str, item: &Value) -> String {
    let mut identity = json!({ key: item.get(key) });
    if list == "ports" {
        identity["protocol"] = item.get("protocol").cloned().unwrap_or_else(|| "TCP".into());
    }
    format!("k:{identity}")
}

/// Adds all fields of `more`.
pub(super) fn unite(fields: &mut Fields, more: &Fields) {
    for (step, deeper) in more {
        let mine = fields.entry(step.clone()).or_insert_with(|| json!({}));
        if let (Value::Object(mine), Value::Object(deeper)) = (mine, deeper) {
            unite(mine, deeper);
        }
    }
}

/// Removes all fields of `less`, and steps that have no fields then.
pub(super) fn subtract(fields: &mut Fields, less: &Fields) {
    for (step, deeper) in less {
        let Some(Value::Object(mine)) = fields.get_mut(step) else {
            continue;
        };
        if let Value::Object(deeper) = deeper
            && !deeper.is_empty()
            && !mine.is_empty()
        {
            subtract(mine, deeper);
            if !mine.is_empty() {
                continue;
            }
        }
        fields.remove(step);
    }
}

/// Keeps only the fields that `there` has. An atomic field is there if anything below it is. Of a map that is empty now, the
/// map itself stays.
pub(super) fn intersect(fields: &mut Fields, there: &Fields) {
    fields.retain(|step, deeper| match (step.as_str(), there.get(step), deeper) {
        (".", ..) => true,
        (_, None, _) => false,
        (_, Some(Value::Object(there)), Value::Object(mine)) if !mine.is_empty() && !there.is_empty() => {
            intersect(mine, there);
            !mine.is_empty()
        }
        (step, Some(Value::Object(there)), Value::Object(mine)) => {
            if there.is_empty() && !is_atomic(step.trim_start_matches("f:")) {
                mine.clear();
            }
            true
        }
        _ => true,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changed_fields_are_listed() {
        let before = json!({ "metadata": { "name": "web", "uid": "1" }, "spec": { "replicas": 1, "template": { "spec": { "containers": [{ "name": "web", "image": "a:1" }] } } } });
        let after = json!({ "metadata": { "name": "web", "uid": "2", "annotations": { "why": "x" } }, "spec": { "replicas": 1, "template": { "spec": { "containers": [{ "name": "web", "image": "a:2" }] } } } });
        assert_eq!(
            Value::Object(changed(&before, &after)),
            json!({
                "f:metadata": { "f:annotations": { ".": {}, "f:why": {} } },
                "f:spec": { "f:template": { "f:spec": { "f:containers": { "k:{\"name\":\"web\"}": { "f:image": {} } } } } },
            })
        );
    }

    #[test]
    fn a_removal_sets_nothing() {
        let before = json!({ "spec": { "paused": true, "env": [{ "name": "A" }, { "name": "B" }] }, "metadata": { "labels": { "a": "b" } } });
        let after = json!({ "spec": { "env": [{ "name": "A" }] }, "metadata": { "labels": {} } });
        assert_eq!(changed(&before, &after), Fields::new());
    }

    #[test]
    fn what_was_in_a_map_goes_when_it_is_emptied() {
        let limits = json!({ "resources": { "limits": { "cpu": "1" } } });
        let mut mine = changed(&json!({}), &limits);
        intersect(&mut mine, &changed(&json!({}), &json!({ "resources": {} })));
        assert_eq!(Value::Object(mine), json!({ "f:resources": {} }));
    }

    #[test]
    fn sets_unite_subtract_and_intersect() {
        let fields = |value: Value| value.as_object().unwrap().clone();
        let mut mine = fields(json!({ "f:spec": { "f:a": {}, "f:b": {} }, "f:status": {} }));
        subtract(&mut mine, &fields(json!({ "f:spec": { "f:a": {} }, "f:status": {} })));
        assert_eq!(Value::Object(mine.clone()), json!({ "f:spec": { "f:b": {} } }));
        unite(&mut mine, &fields(json!({ "f:spec": { "f:c": {} } })));
        intersect(&mut mine, &fields(json!({ "f:spec": { "f:c": {}, "f:d": {} } })));
        assert_eq!(Value::Object(mine), json!({ "f:spec": { "f:c": {} } }));
    }
}
