//! JSON with kubectl's indentation of four spaces and Go's escapes for HTML. The members are sorted by name.

use serde::Serialize as _;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

use crate::model::text::json::html_escaped;

/// Returns the document, with a newline at the end.
#[must_use]
pub fn kubectl_json(object: &Value) -> String {
    let mut document = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut document, PrettyFormatter::with_indent(b"    "));
    let written = object.serialize(&mut serializer);
    debug_assert!(written.is_ok(), "a value is JSON, and a vector has room");
    html_escaped(&String::from_utf8_lossy(&document)) + "\n"
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
}
