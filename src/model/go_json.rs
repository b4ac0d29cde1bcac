//! JSON as Go writes it: what the API server stores, compares and hashes.

use serde_json::Value;

/// A value as compact JSON, keys sorted, with the escapes of Go's `encoding/json`.
///
/// Hashes follow from these bytes, and so does the answer to a JSON Patch's `test`: the API server
/// compares a string with what it stores byte by byte, escapes included, so that a bare `<` in a
/// `test` is a conflict that never was (seen on a real API server).
#[must_use]
pub fn go_json(value: &Value) -> String {
    html_escaped(&value.to_string())
}

/// Go escapes these in every string so that JSON can stand inside HTML. Outside of strings none of
/// them occurs.
fn html_escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '<' => escaped.push_str("\\u003c"),
            '>' => escaped.push_str("\\u003e"),
            '&' => escaped.push_str("\\u0026"),
            '\u{2028}' => escaped.push_str("\\u2028"),
            '\u{2029}' => escaped.push_str("\\u2029"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_in_a_value_is_written_as_go_writes_it() {
        let value = serde_json::json!({"args": "<a>&\u{2028}é\u{7}"});
        assert_eq!(go_json(&value), "{\"args\":\"\\u003ca\\u003e\\u0026\\u2028é\\u0007\"}");
    }
}
