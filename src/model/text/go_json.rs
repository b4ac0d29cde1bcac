//! JSON as Go writes it, and so as the API server stores, compares and hashes it.

use serde_json::Value;

/// Returns compact JSON with sorted keys and the escapes of Go's `encoding/json`.
///
/// Hashes are computed over these bytes. The API server also compares the `test` operations of a
/// JSON Patch byte by byte, escapes included. A plain `<` in a `test` fails there (seen on a real
/// API server).
#[must_use]
pub fn go_json(value: &Value) -> String {
    html_escaped(&value.to_string())
}

/// Returns JSON with the characters that Go escapes in strings, so that JSON can be embedded in HTML. They do not
/// occur outside of strings.
#[must_use]
pub fn html_escaped(json: &str) -> String {
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
    fn html_is_escaped_as_in_go() {
        let value = serde_json::json!({"args": "<a>&\u{2028}é\u{7}"});
        assert_eq!(go_json(&value), "{\"args\":\"\\u003ca\\u003e\\u0026\\u2028é\\u0007\"}");
    }
}
