//! YAML scalars in block style, as `kubectl get -o yaml` writes them, but never folded. A change of
//! one word in a long text then changes one line.

use serde_json::Value;

use crate::model::text::hidden_character::is_misleading;
use crate::model::text::yaml_scalar::{InlineStyle, block_header, inline_style};

/// Returns a scalar, or an empty map or list, on one line.
pub(super) fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => text_inline(text),
        Value::Array(_) => "[]".to_owned(),
        Value::Object(_) => "{}".to_owned(),
        number_or_word => number_or_word.to_string(),
    }
}

/// Returns a text on one line, quoted only if a parser needs it.
pub(super) fn text_inline(text: &str) -> String {
    match inline_style(text, is_printable) {
        InlineStyle::Double => format!("\"{}\"", text.chars().map(escaped).collect::<String>()),
        InlineStyle::Single => format!("'{}'", text.replace('\'', "''")),
        InlineStyle::Plain => text.to_owned(),
    }
}

/// Returns a text of several lines as a literal block: its header after the colon, and the lines. Returns
/// `None` if a parser would return a different text.
pub(super) fn literal(text: &str) -> Option<(String, Vec<&str>)> {
    let starts_well = !text.starts_with([' ', '\t', '\n']);
    let safe = |c: char| c == '\n' || is_printable(c);
    if !text.contains('\n') || !starts_well || !text.chars().all(safe) {
        return None;
    }
    let body = text.strip_suffix('\n').unwrap_or(text);
    Some((block_header(text), body.split('\n').collect()))
}

/// Whether a character needs no escape. YAML requires it for control characters. Misleading
/// characters are escaped too, because external diff programs receive these lines without our
/// renderer ([`super::yaml`]).
fn is_printable(c: char) -> bool {
    !is_misleading(c)
}

fn escaped(c: char) -> String {
    match c {
        '"' | '\\' => format!("\\{c}"),
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        c if is_printable(c) => c.to_string(),
        c if u32::from(c) > 0xffff => format!("\\U{:08x}", u32::from(c)),
        c => format!("\\u{:04x}", u32::from(c)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_look_as_kubectl_writes_them() {
        for (text, yaml) in [
            ("shop/web:1.0", "shop/web:1.0"),
            ("200m", "200m"),
            ("--listen", "--listen"),
            (":8080", ":8080"),
            ("on", "\"on\""),
            ("1", "\"1\""),
            ("1e3", "\"1e3\""),
            ("", "\"\""),
            ("2026-11-20T15:00:00Z", "\"2026-11-20T15:00:00Z\""),
            ("a: b", "'a: b'"),
            ("*", "'*'"),
            ("it's", "it's"),
            ("*'s", "'*''s'"),
            ("a\u{1b}b\u{9b}\u{202e}\t", r#""a\u001bb\u009b\u202e\t""#),
            ("soft\u{ad}tag\u{e0041}", r#""soft\u00adtag\U000e0041""#),
        ] {
            assert_eq!(text_inline(text), yaml);
        }
    }

    fn parsed(yaml: &str) -> String {
        serde_saphyr::from_str::<std::collections::BTreeMap<String, String>>(yaml).unwrap()["a"].clone()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_yaml_parser_reads_the_same_text(text in r#"([-0-9a-zA-Z.:_ #'"\[{,|>&*!%@`?=<~+\n\t\\\r\u{1b}\u{85}\u{202e}]|\PC){0,12}"#) {
            prop_assert_eq!(parsed(&format!("a: {}\n", text_inline(&text))), text.clone());
            if let Some((indicator, lines)) = literal(&text) {
                let lines = lines.join("\n  ");
                prop_assert_eq!(parsed(&format!("a: {indicator}\n  {lines}\n")), text);
            }
        }
    }
}
