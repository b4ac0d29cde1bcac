//! YAML as `kubectl -o yaml` prints it, as lines with the objects and lists that they belong to.
//!
//! kubectl uses `go.yaml.in/yaml/v2`: keys in natural order, list items level with their key, quotes for strings
//! that YAML 1.1 would read as another type, `|` for several lines, and long lines folded after column 80. The
//! crate that reads our YAML quotes and folds differently, and users compare these documents with kubectl's. So
//! this is a separate emitter.
//!
//! It differs from kubectl only where kubectl's YAML does not read back as the same value: numbers too large for
//! Go, the line breaks of Unicode, and `<<`; and in the order of keys such as `12`, `1a` and `2`, which go-yaml sorts
//! in a circle.

mod scalar;

use std::cmp::Ordering;

use serde_json::{Map, Value};

pub(crate) use scalar::Layout;
use scalar::Position;

/// Returns a document, with a newline at the end.
#[must_use]
pub fn yaml(value: &Value) -> String {
    lines(value, Layout::Kubectl).into_iter().map(|line| line.text + "\n").collect()
}

/// One line, and the innermost object or list that it belongs to. The line that opens an object belongs to it.
pub(crate) struct YamlLine<'v> {
    pub(crate) text: String,
    pub(crate) node: &'v Value,
}

/// Returns the lines of a value.
pub(crate) fn lines(value: &Value, layout: Layout) -> Vec<YamlLine<'_>> {
    let mut writer = LineWriter { lines: Vec::new(), line: String::new(), layout, node: value };
    writer.node(value, 0);
    writer.lines
}

struct LineWriter<'v> {
    lines: Vec<YamlLine<'v>>,
    /// The line that is not ended yet.
    line: String,
    layout: Layout,
    /// The object or list that this line belongs to.
    node: &'v Value,
}

impl<'v> LineWriter<'v> {
    /// Writes a node at the end of the current line, and ends its last line. Indents its further lines by at least
    /// `indent`.
    fn node(&mut self, value: &'v Value, indent: usize) {
        match value {
            Value::Object(members) if !members.is_empty() => return self.mapping(members, indent),
            Value::Array(items) if !items.is_empty() => return self.sequence(items, indent),
            Value::Object(_) => self.line.push_str("{}"),
            Value::Array(_) => self.line.push_str("[]"),
            Value::String(text) => self.text(text, indent, Position::Value),
            Value::Null | Value::Bool(_) | Value::Number(_) => self.line.push_str(&value.to_string()),
        }
        self.end_line(0);
    }

    fn mapping(&mut self, members: &'v Map<String, Value>, indent: usize) {
        for (index, (name, value)) in natural(members).into_iter().enumerate() {
            if index > 0 {
                self.line = " ".repeat(indent);
            }
            let outer = self.node;
            let is_simple = is_simple_key(name);
            if is_simple {
                self.text(name, indent, Position::Key);
                self.line.push(':');
            } else {
                self.line.push_str("? ");
                self.text(name, indent + 2, Position::Value);
                self.end_line(indent);
                self.line.push_str(": ");
            }
            let has_lines = match value {
                Value::Object(members) => !members.is_empty(),
                Value::Array(items) => !items.is_empty(),
                _ => false,
            };
            if has_lines {
                self.node = value;
            }
            let indent = if is_simple && value.is_array() { indent } else { indent + 2 };
            match (is_simple, has_lines) {
                (true, true) => self.end_line(indent),
                (true, false) => self.line.push(' '),
                (false, _) => {}
            }
            self.node(value, indent);
            self.node = outer;
        }
    }

    fn sequence(&mut self, items: &'v [Value], indent: usize) {
        let outer = self.node;
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.line = " ".repeat(indent);
            }
            self.node = if item.is_object() || item.is_array() { item } else { outer };
            self.line.push_str("- ");
            self.node(item, indent + 2);
        }
        self.node = outer;
    }

    /// Writes a string, without the end of its last line.
    fn text(&mut self, text: &str, indent: usize, position: Position) {
        let column = self.line.chars().count();
        for (index, line) in self.layout.lines(text, column, indent, position).into_iter().enumerate() {
            if index > 0 {
                self.end_line(0);
            }
            self.line.push_str(&line);
        }
    }

    /// Ends the current line, and begins another one with `indent` spaces.
    fn end_line(&mut self, indent: usize) {
        let text = std::mem::replace(&mut self.line, " ".repeat(indent));
        self.lines.push(YamlLine { text, node: self.node });
    }
}

/// Whether a key fits before a colon. Longer keys, and keys of several lines, follow a question mark.
fn is_simple_key(name: &str) -> bool {
    name.len() <= 128 && !name.contains(scalar::is_break)
}

/// Returns the members in go-yaml's natural order of keys: `a2` comes before `a10`.
fn natural(members: &Map<String, Value>) -> Vec<(&str, &Value)> {
    let mut sorted: Vec<(&str, &Value)> =
        members.iter().map(|(name, value)| (name.as_str(), value)).collect();
    sorted.sort_by(|(one, _), (other, _)| natural_order(one, other));
    sorted
}

/// A part of a key, in the order of sorting.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum KeyPart<'a> {
    Symbol(char),
    /// Digits: how many without leading zeros, these digits, and how many in all. So they compare as numbers.
    Number(usize, &'a str, usize),
    Letter(char),
}

/// Compares two texts in go-yaml's natural order: `a2` comes before `a10`.
#[must_use]
pub fn natural_order(one: &str, other: &str) -> Ordering {
    parts(one).cmp(parts(other)).then_with(|| one.cmp(other))
}

fn parts(mut rest: &str) -> impl Iterator<Item = KeyPart<'_>> {
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end.max(first.len_utf8()));
        rest = after;
        Some(match part.trim_start_matches('0') {
            digits if end > 0 => KeyPart::Number(digits.len(), digits, part.len()),
            _ if first.is_alphabetic() => KeyPart::Letter(first),
            _ => KeyPart::Symbol(first),
        })
    })
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

    #[test]
    fn keys_come_in_the_order_of_go_yaml() {
        // As kubectl 1.33 printed them.
        let printed = [
            "-x",
            "_",
            "1",
            "1a",
            "02",
            "A",
            "a",
            "a-b",
            "a.b",
            "a/b",
            "a_b",
            "a1",
            "a1b",
            "a01",
            "a2",
            "a2b",
            "a10",
            "aa",
            "ab",
            "app",
            "app-1",
            "app.kubernetes.io/name",
            "app1",
            "b",
            "hugepages-1Gi",
            "hugepages-2Mi",
            "k",
            "kubectl.kubernetes.io/x",
            "kubernetes.io/x",
            "z",
            "é",
        ];
        let members: Map<_, _> = printed.iter().rev().map(|name| ((*name).to_owned(), Value::Null)).collect();
        let sorted: Vec<_> = natural(&members).into_iter().map(|(name, _)| name).collect();
        assert_eq!(sorted, printed);
    }

    #[test]
    fn numbers_count_by_value() {
        for (less, more) in
            [("9", "10"), ("x19", "x100"), ("100", "120"), ("1-", "10"), ("a00", "a01"), ("a1", "a01")]
        {
            assert_eq!(natural_order(less, more), Ordering::Less, "{less} {more}");
            assert_eq!(natural_order(more, less), Ordering::Greater, "{more} {less}");
        }
    }
}
