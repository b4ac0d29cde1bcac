//! JSON as Go writes it, and so as the API server stores, compares and hashes it; values as Go's `fmt` prints them with `%v`; and
//! SHA-256 digests of a canonical template and of the text of a check.

use std::fmt;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// Returns what is wrong with the values of a JSON text, without the words of serde for Rust.
#[must_use]
pub fn data_problem(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or_default();
    let quoted = |start: &str| text.strip_prefix(start)?.strip_prefix('`')?.split('`').next();
    match (quoted("missing field "), quoted("unknown variant ")) {
        (Some(member), _) => format!("it has no {member:?}"),
        (_, Some(value)) => format!("it has the unknown value {value:?}"),
        _ if text.starts_with("invalid value: ") => "a value is out of range".to_owned(),
        _ if text.starts_with("invalid type: ") => "a value has the wrong type".to_owned(),
        _ => text.to_owned(),
    }
}

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

/// Returns a value as Go prints it: `map[a:1 b:[x y]]`, `<nil>` for null.
#[must_use]
pub fn go_text(value: &Value) -> String {
    let joined = |words: Vec<String>| words.join(" ");
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(float) => go_float(float),
            None => number.to_string(),
        },
        Value::Array(elements) => format!("[{}]", joined(elements.iter().map(go_text).collect())),
        Value::Object(members) => {
            // Sorted, as serde_json keeps them.
            let words = members.iter().map(|(name, member)| format!("{name}:{}", go_text(member)));
            format!("map[{}]", joined(words.collect()))
        }
    }
}

/// Returns a float with the fewest digits that identify it; with an exponent from a million on, as
/// `1.0000005e+06`.
fn go_float(float: f64) -> String {
    let scientific = format!("{float:e}");
    let exponent = scientific
        .split_once('e')
        .and_then(|(digits, exponent)| Some((digits, exponent.parse::<i32>().ok()?)));
    match exponent {
        Some((digits, exponent)) if !(-4..6).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.abs())
        }
        _ => float.to_string(),
    }
}

/// The SHA-256 of a text. That of a template is the digest of its canonical JSON.
///
/// Kubernetes' hash of a Deployment's or DaemonSet's template depends on the Go structs of the
/// controller and cannot be recomputed. The digest of a template is equal for equal templates, across kinds,
/// clusters and versions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

/// The hexadecimal digits of [`Digest::short`]: more than the six that a revision word needs.
const SHORT: usize = 10;

impl Digest {
    /// Returns the digest of a canonical value. `serde_json` sorts object keys, so equal values
    /// have equal bytes.
    #[must_use]
    pub fn of(canonical: &Value) -> Self {
        Self::of_text(&serde_json::to_string(canonical).unwrap_or_default()) // a value always has a text
    }

    /// Returns the digest of a text, as `sha256sum` prints it.
    #[must_use]
    pub fn of_text(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// Returns all 64 hexadecimal digits, in lower case.
    #[must_use]
    pub fn hex(&self) -> String {
        use fmt::Write as _;
        self.0.iter().fold(String::with_capacity(64), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }

    /// Returns the first digits, for the display.
    #[must_use]
    pub fn short(&self) -> String {
        let mut hex = self.hex();
        hex.truncate(SHORT);
        hex
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.short())
    }
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
