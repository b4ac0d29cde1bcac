//! YAML as `kubectl -o yaml` prints it.
//!
//! kubectl uses `go.yaml.in/yaml/v2`: keys in natural order, list items level with their key, quotes for strings
//! that YAML 1.1 would read as another type, `|` for several lines, and long lines folded after column 80. The
//! crate that reads our YAML quotes and folds differently, and users compare these documents with kubectl's. So
//! this is a separate emitter.
//!
//! It differs from kubectl only where kubectl's YAML does not read back as the same value: numbers too large for
//! Go, the line breaks of Unicode, and `<<`.

mod order;
mod scalar;

use serde_json::{Map, Value};

use scalar::Position;

/// Returns the document, with a newline at the end.
#[must_use]
pub fn yaml(object: &Value) -> String {
    let mut writer = YamlWriter::default();
    writer.node(object, 0, Position::Value);
    writer.line(0);
    writer.0
}

/// Writes a document. A node does not end its last line.
#[derive(Default)]
struct YamlWriter(String);

impl YamlWriter {
    /// Writes a node at the end of the current line. Indents its further lines by at least `indent`.
    fn node(&mut self, value: &Value, indent: usize, position: Position) {
        match value {
            Value::Object(members) if !members.is_empty() => self.mapping(members, indent),
            Value::Array(items) if !items.is_empty() => self.sequence(items, indent),
            Value::Object(_) => self.0.push_str("{}"),
            Value::Array(_) => self.0.push_str("[]"),
            Value::String(text) => scalar::write(&mut self.0, text, indent, position),
            Value::Null | Value::Bool(_) | Value::Number(_) => self.0.push_str(&value.to_string()),
        }
    }

    fn mapping(&mut self, members: &Map<String, Value>, indent: usize) {
        for (index, (name, value)) in order::natural(members).into_iter().enumerate() {
            if index > 0 {
                self.line(indent);
            }
            if is_simple_key(name) {
                scalar::write(&mut self.0, name, indent, Position::Key);
                self.0.push(':');
                self.value_of_simple_key(value, indent);
            } else {
                self.0.push_str("? ");
                scalar::write(&mut self.0, name, indent + 2, Position::Value);
                self.line(indent);
                self.0.push_str(": ");
                self.node(value, indent + 2, Position::Value);
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
                self.node(value, indent + 2, Position::Value);
            }
        }
    }

    fn sequence(&mut self, items: &[Value], indent: usize) {
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.line(indent);
            }
            self.0.push_str("- ");
            self.node(item, indent + 2, Position::Value);
        }
    }

    /// Begins a new line, unless a `|` block just ended with one.
    fn line(&mut self, indent: usize) {
        if !self.0.ends_with('\n') {
            self.0.push('\n');
        }
        self.0.extend(std::iter::repeat_n(' ', indent));
    }
}

/// Whether a key fits before a colon. Longer keys, and keys of several lines, follow a question mark.
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
