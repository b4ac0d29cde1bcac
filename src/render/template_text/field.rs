//! Reads fields of untyped JSON, and writes indented lines of them. A missing field and a field of the wrong type count as not set.

use std::fmt::{Display, Write};

use serde_json::Value;

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
pub(super) fn entries(object: &Value) -> Vec<(&str, &str)> {
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

    /// Writes a field unless its value is empty.
    pub(super) fn field_if_set(&mut self, level: usize, name: &str, value: &str) {
        if !value.is_empty() {
            self.field(level, name, value);
        }
    }

    /// Writes items, each on its own line: the first after `opening`, the others after `between`.
    pub(super) fn listed(&mut self, opening: &str, between: &str, items: &[String]) {
        self.0.push_str(opening);
        if items.is_empty() {
            self.0.push_str("<none>\n");
            return;
        }
        self.0.push_str(&items.join(&format!("\n{between}")));
        self.0.push('\n');
    }

    /// Returns the text with escape and carriage return escaped, as kubectl does: a template is untrusted, and an
    /// escape sequence in it would reach the terminal.
    pub(super) fn finish(self) -> String {
        self.0.replace('\u{1b}', "^[").replace('\r', "\\r")
    }
}
