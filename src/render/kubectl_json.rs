//! JSON as `kubectl -o json` prints it: fields in the order of Go's structs, an indentation of four spaces, and
//! Go's escapes for HTML.
//!
//! Go writes the fields of a struct in the order of their declaration. `field_order.txt` lists them from the
//! `types.go` files of `k8s.io/api/apps/v1`, `core/v1` and `apimachinery/pkg/apis/meta/v1` of Kubernetes 1.35.
//! Kubernetes 1.36 changed only `PodSpec` among these: `schedulingGroup` replaced `workloadRef`.
//!
//! A line has a type, a colon and its fields, with `field/Type` for a field of a listed type. A line that begins
//! with a space continues the line before. Types with one plain field and maps are not listed; Go sorts the keys
//! of maps.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::model::text::go_json::html_escaped;

/// Returns the document, with a newline at the end.
#[must_use]
pub fn kubectl_json(object: &Value) -> String {
    let mut document = String::new();
    write(&mut document, object, of_kind(object), 0);
    html_escaped(&document) + "\n"
}

fn write(out: &mut String, value: &Value, go_struct: &'static GoStruct, depth: usize) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            out.push('{');
            for (index, (name, member, go_struct)) in go_struct.in_order(members).into_iter().enumerate() {
                line(out, index, depth + 1);
                out.push_str(&Value::from(name).to_string());
                out.push_str(": ");
                write(out, member, go_struct, depth + 1);
            }
            line(out, 0, depth);
            out.push('}');
        }
        Value::Array(items) if !items.is_empty() => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                line(out, index, depth + 1);
                write(out, item, go_struct, depth + 1);
            }
            line(out, 0, depth);
            out.push(']');
        }
        _ => out.push_str(&value.to_string()),
    }
}

/// Begins a new line, after a comma unless it is the first.
fn line(out: &mut String, index: usize, depth: usize) {
    out.push_str(if index > 0 { ",\n" } else { "\n" });
    out.extend(std::iter::repeat_n("    ", depth));
}

static TYPES: LazyLock<HashMap<&str, GoStruct>> = LazyLock::new(|| read(include_str!("field_order.txt")));

/// A Go struct: its fields in order.
#[derive(Debug, Default)]
struct GoStruct(Vec<(&'static str, &'static str)>);

/// Returns the struct of an object, by its kind. A kind that kubectl has no struct for has no listed fields.
fn of_kind(object: &Value) -> &'static GoStruct {
    let text = |name| object.get(name).and_then(Value::as_str).unwrap_or_default();
    named(if text("apiVersion") == "apps/v1" { text("kind") } else { "" })
}

impl GoStruct {
    /// Returns the members in order, each with the struct of its value.
    ///
    /// kubectl drops fields that its structs do not have. Here such fields follow the others, sorted.
    fn in_order<'a>(&self, members: &'a Map<String, Value>) -> Vec<(&'a str, &'a Value, &'static GoStruct)> {
        let known = self.0.iter().filter_map(|(name, go_struct)| {
            let (name, value) = members.get_key_value(*name)?;
            Some((name.as_str(), value, named(go_struct)))
        });
        let is_known = |name: &str| self.0.iter().any(|(known, _)| *known == name);
        let mut unknown: Vec<_> = members
            .iter()
            .filter(|(name, _)| !is_known(name))
            .map(|(name, value)| (name.as_str(), value, named("")))
            .collect();
        unknown.sort_unstable_by_key(|(name, ..)| *name);
        known.chain(unknown).collect()
    }
}

fn named(name: &str) -> &'static GoStruct {
    static UNKNOWN: GoStruct = GoStruct(Vec::new());
    TYPES.get(name).unwrap_or(&UNKNOWN)
}

fn read(table: &'static str) -> HashMap<&'static str, GoStruct> {
    let mut types: HashMap<_, GoStruct> = HashMap::new();
    let mut current = "";
    for line in table.lines() {
        let fields = match line.split_once(": ") {
            Some((name, fields)) => {
                current = name;
                fields
            }
            None => line,
        };
        let fields = fields.split_whitespace().map(|field| field.split_once('/').unwrap_or((field, "")));
        types.entry(current).or_default().0.extend(fields);
    }
    types
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn empty_maps_and_lists_stay_on_one_line() {
        let written =
            "{\n    \"a\": {},\n    \"b\": [],\n    \"c\": [\n        null,\n        {}\n    ]\n}\n";
        assert_eq!(kubectl_json(&json!({"c": [null, {}], "b": [], "a": {}})), written);
        assert_eq!(kubectl_json(&json!(null)), "null\n");
    }

    #[test]
    fn texts_are_escaped_as_go_does() {
        let text = "<a href=\"x\">&\u{2028}\u{2029}\u{1b}\t\n\\é\u{7f}\u{8}";
        let written = "\"\\u003ca href=\\\"x\\\"\\u003e\\u0026\\u2028\\u2029\\u001b\\t\\n\\\\é\u{7f}\\b\"\n";
        assert_eq!(kubectl_json(&text.into()), written);
    }

    #[test]
    fn kinds_without_a_struct_are_sorted() {
        let object = json!({"kind": "CloneSet", "apiVersion": "apps.kruise.io/v1alpha1", "metadata": {"name": "a", "labels": {}}});
        let names: Vec<_> = kubectl_json(&object)
            .lines()
            .filter_map(|line| Some(line.split('"').nth(1)?.to_owned()))
            .collect();
        assert_eq!(names, ["apiVersion", "kind", "metadata", "labels", "name"]);
    }

    #[test]
    fn every_listed_type_has_fields() {
        assert_eq!(TYPES.len(), 132);
        for (name, GoStruct(fields)) in TYPES.iter() {
            assert!(fields.len() > 1 || fields.iter().any(|(_, go_struct)| !go_struct.is_empty()), "{name}");
            for (field, go_struct) in fields {
                assert!(
                    go_struct.is_empty() || TYPES.contains_key(go_struct),
                    "{name}.{field} is a {go_struct}"
                );
            }
        }
    }

    #[test]
    fn known_fields_come_first() {
        let members = json!({"z": 1, "apiVersion": 2, "a": 3, "kind": 4});
        let order = named("Deployment").in_order(members.as_object().unwrap());
        let names: Vec<_> = order.into_iter().map(|(name, ..)| name).collect();
        assert_eq!(names, ["kind", "apiVersion", "a", "z"]);
    }
}
