//! YAML as `kubectl -o yaml` prints it.
//!
//! kubectl's YAML is that of `go.yaml.in/yaml/v2`: keys in natural order, list items level with their key,
//! quotes where YAML 1.1 would read something else than a text, several lines as a `|` block, long lines
//! folded behind column 80. The serializer that reads our YAML has other ideas of quotes, folds with `>`
//! and cannot be told otherwise, and people compare these documents with kubectl's; hence an emitter of
//! our own.
//!
//! It departs from kubectl where kubectl's YAML reads as something else than was written: numbers too
//! large for Go, the line breaks of Unicode, `<<`.

mod order;
mod scalar;

use serde_json::{Map, Value};

use scalar::Place;

/// The document, ending in a newline.
#[must_use]
pub fn yaml(object: &Value) -> String {
    let mut page = Page::default();
    page.node(object, 0, Place::Value);
    page.line(0);
    page.0
}

/// A document being written; nodes leave their last line open.
#[derive(Default)]
struct Page(String);

impl Page {
    /// A node from where the line stands; its further lines are indented by `indent` at least.
    fn node(&mut self, value: &Value, indent: usize, place: Place) {
        match value {
            Value::Object(members) if !members.is_empty() => self.mapping(members, indent),
            Value::Array(items) if !items.is_empty() => self.sequence(items, indent),
            Value::Object(_) => self.0.push_str("{}"),
            Value::Array(_) => self.0.push_str("[]"),
            Value::String(text) => scalar::write(&mut self.0, text, indent, place),
            Value::Null | Value::Bool(_) | Value::Number(_) => self.0.push_str(&value.to_string()),
        }
    }

    fn mapping(&mut self, members: &Map<String, Value>, indent: usize) {
        for (index, (name, value)) in order::natural(members).into_iter().enumerate() {
            if index > 0 {
                self.line(indent);
            }
            if is_simple_key(name) {
                scalar::write(&mut self.0, name, indent, Place::Key);
                self.0.push(':');
                self.value_of_simple_key(value, indent);
            } else {
                self.0.push_str("? ");
                scalar::write(&mut self.0, name, indent + 2, Place::Value);
                self.line(indent);
                self.0.push_str(": ");
                self.node(value, indent + 2, Place::Value);
            }
        }
    }

    fn value_of_simple_key(&mut self, value: &Value, indent: usize) {
        match value {
            Value::Object(members) if !members.is_empty() => {
                self.line(indent + 2);
                self.mapping(members, indent + 2);
            }
            Value::Array(items) if !items.is_empty() => {
                self.line(indent);
                self.sequence(items, indent);
            }
            _ => {
                self.0.push(' ');
                self.node(value, indent + 2, Place::Value);
            }
        }
    }

    fn sequence(&mut self, items: &[Value], indent: usize) {
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.line(indent);
            }
            self.0.push_str("- ");
            self.node(item, indent + 2, Place::Value);
        }
    }

    /// A new line, unless a block of lines just ended with one.
    fn line(&mut self, indent: usize) {
        if !self.0.ends_with('\n') {
            self.0.push('\n');
        }
        self.0.extend(std::iter::repeat_n(' ', indent));
    }
}

/// Longer keys, and those of several lines, are introduced by a question mark.
fn is_simple_key(name: &str) -> bool {
    name.len() <= 128 && !name.contains(scalar::is_break)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn trees_are_laid_out_as_kubectl_does() {
        let tree = json!({
            "list": [{"b": 1, "a": [[1, 2], []]}, "x", null, {}],
            "map": {"empty": {}, "none": null, "yes": true},
            "\n": {"deep": [1]},
        });
        let written = "\
            ? |2+\n\n\
            : deep:\n  - 1\n\
            list:\n- a:\n  - - 1\n    - 2\n  - []\n  b: 1\n- x\n- null\n- {}\n\
            map:\n  empty: {}\n  none: null\n  \"yes\": true\n";
        assert_eq!(yaml(&tree), written);
    }

    #[test]
    fn a_scalar_is_a_document() {
        for (value, written) in [(json!({}), "{}\n"), (json!("no"), "\"no\"\n"), (json!("a\n"), "|\n  a\n")] {
            assert_eq!(yaml(&value), written);
        }
    }
}
