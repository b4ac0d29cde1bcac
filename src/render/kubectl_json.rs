//! JSON as `kubectl -o json` prints it: fields in the order of Go's structs, an indentation of four spaces, and
//! Go's escapes for HTML.

use serde_json::Value;

use super::field_order::{self, GoStruct};
use crate::model::text::go_json::html_escaped;

/// Returns the document, with a newline at the end.
#[must_use]
pub fn kubectl_json(object: &Value) -> String {
    let mut document = String::new();
    write(&mut document, object, field_order::of_kind(object), 0);
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
}
