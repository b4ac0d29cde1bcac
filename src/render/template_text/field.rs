//! Reads fields of untyped JSON, formats values as Go's `fmt` does, and writes indented lines of them: labels and annotations
//! too. A missing field and a field of the wrong type count as not set.

use std::fmt::{Display, Write};

use serde_json::{Map, Value};

use crate::model::api::managed_fields::LAST_APPLIED;
use crate::model::revision::CHANGE_CAUSE;
use crate::model::text::yaml::yaml;

/// Returns a member of an object; null if there is none.
pub(super) fn member<'a>(object: &'a Value, name: &str) -> &'a Value {
    object.get(name).unwrap_or(&Value::Null)
}

/// Returns a member that is an object: in Go, a pointer to a struct that is not nil.
pub(super) fn part<'a>(object: &'a Value, name: &str) -> Option<&'a Value> {
    object.get(name).filter(|member| member.is_object())
}

/// Returns a string; empty if not set.
pub(super) fn words<'a>(object: &'a Value, name: &str) -> &'a str {
    member(object, name).as_str().unwrap_or_default()
}

/// Returns an integer; 0 if not set.
pub(super) fn number(object: &Value, name: &str) -> i64 {
    member(object, name).as_i64().unwrap_or_default()
}

/// Returns a boolean; false if not set.
pub(super) fn flag(object: &Value, name: &str) -> bool {
    member(object, name).as_bool().unwrap_or_default()
}

/// Returns the objects in a list.
pub(super) fn items<'a>(object: &'a Value, name: &str) -> Vec<&'a Value> {
    elements(object, name).filter(|item| item.is_object()).collect()
}

/// Returns the strings in a list.
pub(super) fn texts<'a>(object: &'a Value, name: &str) -> Vec<&'a str> {
    elements(object, name).filter_map(Value::as_str).collect()
}

/// Returns the string members of an object, sorted by name.
fn entries(object: &Value) -> Vec<(&str, &str)> {
    let members = object.as_object().into_iter().flatten();
    let mut entries: Vec<_> =
        members.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?))).collect();
    entries.sort_unstable();
    entries
}

/// Returns a port, which is a number or a name; 0 if not set.
pub(super) fn port(object: &Value, name: &str) -> String {
    match member(object, name) {
        Value::String(port) => port.clone(),
        _ => number(object, name).to_string(),
    }
}

fn elements<'a>(object: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    member(object, name).as_array().into_iter().flatten()
}

/// A text that is written line by line.
#[derive(Default)]
pub(super) struct IndentedText(String);

impl IndentedText {
    /// Writes one line, indented by two spaces for each level.
    pub(super) fn line(&mut self, level: usize, line: impl Display) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.0, "{:indent$}{line}", "", indent = 2 * level);
    }

    /// Writes one line `name:⇥value`.
    pub(super) fn field(&mut self, level: usize, name: &str, value: impl Display) {
        self.line(level, format_args!("{name}:\t{value}"));
    }

    /// Writes a value as YAML.
    pub(super) fn yaml(&mut self, value: &Value) {
        for line in yaml(value).lines() {
            self.line(2, line);
        }
    }

    /// Writes a field unless its value is empty.
    pub(super) fn field_if_set(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.field(1, name, value);
        }
    }

    /// Writes a field with items, each on its own line.
    pub(super) fn listed(&mut self, name: &str, items: &[String]) {
        let items = if items.is_empty() { "<none>".to_owned() } else { items.join("\n\t") };
        self.field(1, name, items);
    }

    /// Returns the text with escape and carriage return escaped, as kubectl does: a template is untrusted, and an
    /// escape sequence in it would reach the terminal.
    pub(super) fn finish(self) -> String {
        self.0.replace('\u{1b}', "^[").replace('\r', "\\r")
    }
}

/// Formats a list of strings (`%v`): `[a b]`.
pub(super) fn list(texts: &[&str]) -> String {
    format!("[{}]", texts.join(" "))
}

/// Formats a quantity as it is stored: the API server stores the canonical form, and a number of a manifest is its digits.
pub(super) fn as_stored(quantity: &Value) -> String {
    quantity.as_str().map_or_else(|| quantity.to_string(), str::to_owned)
}

/// The longest annotation, in bytes, that stays on one line.
const MAX_LINE: usize = 140;

/// Returns `name=value` items, sorted.
pub(super) fn pairs(labels: &Value) -> Vec<String> {
    entries(labels).iter().map(|(name, value)| format!("{name}={value}")).collect()
}

/// Returns `name: value` items, sorted, without the manifest of `kubectl apply`. Long values, and values of several lines,
/// begin below their name.
pub(super) fn annotations(annotations: &Value) -> Vec<String> {
    let shown = entries(annotations).into_iter().filter(|(name, _)| *name != LAST_APPLIED);
    shown.map(|(name, value)| annotation(name, value.strip_suffix('\n').unwrap_or(value))).collect()
}

fn annotation(name: &str, value: &str) -> String {
    if name.len() + value.len() + 2 <= MAX_LINE && !value.contains('\n') {
        return format!("{name}: {value}");
    }
    let lines = value.split('\n').map(|line| format!("\n\t  {}", shortened(line, MAX_LINE - 2)));
    format!("{name}:{}", lines.collect::<String>())
}

/// Cuts a line to at most `most` bytes. Go may cut inside a character; here the cut is before it.
fn shortened(line: &str, most: usize) -> String {
    if line.len() <= most {
        return line.to_owned();
    }
    let end = (0..=most).rev().find(|&end| line.is_char_boundary(end)).unwrap_or_default();
    format!("{}...", &line[..end])
}

/// Returns a template with the change-cause of its ReplicaSet as an annotation. `kubectl rollout history --revision`
/// shows it there for a Deployment.
#[must_use]
pub fn with_change_cause(template: &Value, cause: &str) -> Value {
    if cause.is_empty() {
        return template.clone();
    }
    let mut metadata = members(member(template, "metadata"));
    let mut annotations = members(member(member(template, "metadata"), "annotations"));
    annotations.insert(CHANGE_CAUSE.to_owned(), cause.into());
    metadata.insert("annotations".to_owned(), annotations.into());
    let mut template = members(template);
    template.insert("metadata".to_owned(), metadata.into());
    template.into()
}

/// Returns the members of an object.
pub(super) fn members(object: &Value) -> Map<String, Value> {
    object.as_object().cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_are_formatted_as_in_go() {
        assert_eq!(list(&["a", "b c"]), "[a b c]");
        assert_eq!(list(&[]), "[]");
    }

    #[test]
    fn a_change_cause_joins_the_annotations() {
        let cause = json!({"metadata": {"annotations": {CHANGE_CAUSE: "why"}}});
        for template in
            [json!({}), json!(null), json!({"metadata": []}), json!({"metadata": {"annotations": 1}})]
        {
            assert_eq!(with_change_cause(&template, "why"), cause, "{template}");
            assert_eq!(with_change_cause(&template, ""), template);
        }
        let template =
            json!({"metadata": {"annotations": {CHANGE_CAUSE: "old", "a": "b"}, "labels": {}}, "spec": 1});
        assert_eq!(
            with_change_cause(&template, "new"),
            json!({"metadata": {"annotations": {CHANGE_CAUSE: "new", "a": "b"}, "labels": {}}, "spec": 1})
        );
    }

    #[test]
    fn lines_are_cut_between_characters() {
        assert_eq!(shortened("aé", 3), "aé");
        assert_eq!(shortened("aéb", 2), "a...");
        assert_eq!(shortened("", 0), "");
    }
}
