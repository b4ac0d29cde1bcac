//! Scalars as block YAML has them, in the manner of `kubectl get -o yaml`, but never folded: a long
//! text that changed in one word should change one line.

use serde_json::Value;

use crate::model::misleading::is_misleading;
use crate::model::plain_text::{is_syntax, reads_as_text};

/// A scalar, or an empty map or list, on one line.
pub(super) fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => text_inline(text),
        Value::Array(_) => "[]".to_owned(),
        Value::Object(_) => "{}".to_owned(),
        number_or_word => number_or_word.to_string(),
    }
}

/// A text on one line: as it is where no parser takes it for anything else.
pub(super) fn text_inline(text: &str) -> String {
    if !text.chars().all(is_printable) {
        format!("\"{}\"", text.chars().map(escaped).collect::<String>())
    } else if !reads_as_text(text) {
        format!("\"{text}\"")
    } else if is_syntax(text) {
        format!("'{}'", text.replace('\'', "''"))
    } else {
        text.to_owned()
    }
}

/// A text of several lines as a literal block: the indicator after the colon, and the lines. `None`
/// when a parser would not give back the very same text.
pub(super) fn literal(text: &str) -> Option<(&'static str, Vec<&str>)> {
    let starts_well = !text.starts_with([' ', '\t', '\n']);
    let safe = |c: char| c == '\n' || is_printable(c);
    if !text.contains('\n') || !starts_well || !text.chars().all(safe) {
        return None;
    }
    let body = text.strip_suffix('\n').unwrap_or(text);
    let indicator = match (body.len() == text.len(), body.ends_with('\n')) {
        (true, _) => "|-",
        (false, false) => "|",
        (false, true) => "|+",
    };
    Some((indicator, body.split('\n').collect()))
}

/// Whether a character may stand as it is. YAML wants control characters escaped; what misleads an eye
/// is escaped too, because these lines also go to programs that show them to a person
/// ([`super::yaml`]), where no renderer of ours stands between.
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
        fn a_parser_reads_the_same_text(text in r#"([-0-9a-zA-Z.:_ #'"\[{,|>&*!%@`?=<~+\n\t\\\r\u{1b}\u{85}\u{202e}]|\PC){0,12}"#) {
            prop_assert_eq!(parsed(&format!("a: {}\n", text_inline(&text))), text.clone());
            if let Some((indicator, lines)) = literal(&text) {
                let lines = lines.join("\n  ");
                prop_assert_eq!(parsed(&format!("a: {indicator}\n  {lines}\n")), text);
            }
        }
    }
}
