//! Reading fields of JSON that may be anything: what is missing or of the wrong type is as if not set.

use serde_json::Value;

/// A member of an object; of anything else, null.
pub(super) fn member<'a>(object: &'a Value, name: &str) -> &'a Value {
    object.get(name).unwrap_or(&Value::Null)
}

/// The member if it is an object: what Go has as a pointer to a struct that is not nil.
pub(super) fn part<'a>(object: &'a Value, name: &str) -> Option<&'a Value> {
    object.get(name).filter(|member| member.is_object())
}

/// A text, empty when not set.
pub(super) fn words<'a>(object: &'a Value, name: &str) -> &'a str {
    member(object, name).as_str().unwrap_or_default()
}

/// A whole number, 0 when not set.
pub(super) fn number(object: &Value, name: &str) -> i64 {
    member(object, name).as_i64().unwrap_or_default()
}

/// Whether a flag is set and true.
pub(super) fn flag(object: &Value, name: &str) -> bool {
    member(object, name).as_bool().unwrap_or_default()
}

/// The objects in a list.
pub(super) fn items<'a>(object: &'a Value, name: &str) -> Vec<&'a Value> {
    elements(object, name).filter(|item| item.is_object()).collect()
}

/// The texts in a list.
pub(super) fn texts<'a>(object: &'a Value, name: &str) -> Vec<&'a str> {
    elements(object, name).filter_map(Value::as_str).collect()
}

/// The members of an object that are texts, sorted by name.
pub(super) fn entries(object: &Value) -> Vec<(&str, &str)> {
    let members = object.as_object().into_iter().flatten();
    let mut entries: Vec<_> =
        members.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?))).collect();
    entries.sort_unstable();
    entries
}

/// A port, which is a number or a name; 0 when not set.
pub(super) fn port(object: &Value, name: &str) -> String {
    match member(object, name) {
        Value::String(port) => port.clone(),
        _ => number(object, name).to_string(),
    }
}

fn elements<'a>(object: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    member(object, name).as_array().into_iter().flatten()
}
