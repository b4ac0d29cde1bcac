//! Parses JSON within the limits of memory.
//!
//! Parsed JSON can be a hundred times larger than its text: 64 MiB of `{"a":1}` take 5.6 GiB. So a text is measured before it
//! is parsed, and the parsers need no limit of their own.

use serde::de::Error as _;
use serde_json::{Error, Value};

/// The limit of a file, and of JSON when it is parsed, in bytes. 35,000 recorded
/// pods without managed fields fit when they are parsed.
pub(crate) const LIMIT: usize = 1 << 30;

/// Why JSON was not parsed.
pub(crate) const TOO_LARGE: &str = "too large for the memory that it may take";

/// Parsed JSON is no more than this many times larger than its text.
const MOST_GROWTH: usize = 128;

/// Returns about how much memory JSON takes when it is parsed, in bytes: its text, a B-tree node for each object that is
/// not empty, and a place for each list and for each further value. Measured with pods: a tenth too much.
pub(super) fn parsed_size(json: &[u8]) -> usize {
    let objects = json.windows(2).filter(|pair| matches!(pair, [b'{', next] if *next != b'}')).count();
    let values = json.iter().filter(|byte| matches!(byte, b'[' | b',')).count();
    json.len() + 640 * objects + 64 * values
}

/// Whether JSON is larger than [`LIMIT`] when it is parsed.
pub(crate) fn is_too_large(json: &[u8]) -> bool {
    json.len() > LIMIT / MOST_GROWTH && parsed_size(json) > LIMIT
}

/// Parses one JSON value.
///
/// # Errors
/// When the text is not JSON, or too large when it is parsed.
pub(crate) fn parse(json: &[u8]) -> Result<Value, Error> {
    if is_too_large(json) { Err(Error::custom(TOO_LARGE)) } else { serde_json::from_slice(json) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn json_that_is_large_in_memory_is_rejected() {
        assert_eq!(parse(b" {\"a\": [1, \"x\"]} ").unwrap(), json!({"a": [1, "x"]}));
        for wrong in ["", "{", "1 2"] {
            assert!(parse(wrong.as_bytes()).is_err());
        }
        let objects = format!("[{}{{}}]", "{\"a\":1},".repeat(1_600_000));
        assert_eq!(parse(objects.as_bytes()).unwrap_err().to_string(), TOO_LARGE, "{} bytes", objects.len());
        let numbers = format!("[{}1]", "1,".repeat(200_000));
        assert!(parse(numbers.as_bytes()).is_ok());
        for dense in ["{\"\":0},", "[", "1,", "[],", "{},"] {
            assert!(parsed_size(dense.repeat(1000).as_bytes()) < MOST_GROWTH * dense.len() * 1000, "{dense}");
        }
    }
}
