//! Formats values as Go's `fmt` does.

use std::fmt::Write;

use serde_json::Value;

use super::field::{entries, part, words};

/// Formats a list of strings (`%v`): `[a b]`.
pub(super) fn list(texts: &[&str]) -> String {
    format!("[{}]", texts.join(" "))
}

/// Formats a map of strings (`%v`): `map[a:1 b:2]`.
pub(super) fn map(object: &Value) -> String {
    let entries: Vec<_> = entries(object).iter().map(|(name, value)| format!("{name}:{value}")).collect();
    format!("map[{}]", entries.join(" "))
}

/// Formats a reference to an object as its protobuf text: `&LocalObjectReference{Name:s,}`.
pub(super) fn reference(object: &Value, name: &str) -> String {
    match part(object, name) {
        Some(reference) => format!("&LocalObjectReference{{Name:{},}}", words(reference, "name")),
        None => "nil".to_owned(),
    }
}

/// Formats a string in quotes (`%q`), with unprintable characters escaped.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{b}' => quoted.push_str("\\v"),
            '\'' => quoted.push('\''),
            _ if is_printable(character) => quoted.push(character),
            _ => escape(&mut quoted, u32::from(character)),
        }
    }
    quoted.push('"');
    quoted
}

/// Whether Go prints a character unescaped. The only printable white space is the space. A combining mark is
/// printable; `escape_debug` escapes it without a base character, so it gets one.
fn is_printable(character: char) -> bool {
    let escaped = || format!("a{character}").escape_debug().count();
    character == ' ' || (!character.is_whitespace() && escaped() == 2)
}

fn escape(quoted: &mut String, code: u32) {
    // Writing to a String cannot fail.
    let _ = match code {
        0..0x80 => write!(quoted, "\\x{code:02x}"),
        0x80..0x1_0000 => write!(quoted, "\\u{code:04x}"),
        _ => write!(quoted, "\\U{code:08x}"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_maps_and_references_are_formatted_as_in_go() {
        assert_eq!(list(&["a", "b c"]), "[a b c]");
        assert_eq!(list(&[]), "[]");
        assert_eq!(map(&json!({"b": "2", "a": "1", "n": 3})), "map[a:1 b:2]");
        assert_eq!(map(&Value::Null), "map[]");
        assert_eq!(
            reference(&json!({"secretRef": {"name": "s"}}), "secretRef"),
            "&LocalObjectReference{Name:s,}"
        );
        assert_eq!(reference(&json!({}), "secretRef"), "nil");
    }

    #[test]
    fn strings_are_quoted_as_in_go() {
        let text = "a\"b\\\u{7}\n\u{1}\u{7f}é\u{a0}\u{2028}\u{1f600}\u{e0001}e\u{301}";
        assert_eq!(quoted(text), "\"a\\\"b\\\\\\a\\n\\x01\\x7fé\\u00a0\\u2028😀\\U000e0001e\u{301}\"");
        assert_eq!(quoted("it's"), "\"it's\"");
    }
}
