//! Escapes untrusted text for a terminal.
//!
//! Any client of the cluster can write change-causes, image names, messages and logs. Escape sequences in them
//! would control the terminal, and bidirectional overrides would display one text as another. Both are replaced
//! by visible escapes.

use std::borrow::Cow;

use crate::model::text::control::is_misleading;

/// Escapes text of several lines. Newlines and tabs stay.
#[must_use]
pub(super) fn block(text: &str) -> Cow<'_, str> {
    escaped(text, |character| matches!(character, '\n' | '\t'))
}

/// Escapes text that must stay on one line and in one column, newlines and tabs included.
#[must_use]
pub(super) fn line(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

fn escaped(text: &str, keeps: impl Fn(char) -> bool) -> Cow<'_, str> {
    if text.chars().all(|character| keeps(character) || !is_misleading(character)) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if keeps(character) || !is_misleading(character) {
            safe.push(character);
        } else {
            safe.push_str(&shown(character));
        }
    }
    Cow::Owned(safe)
}

fn shown(character: char) -> String {
    match character {
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        '\x7f' => "^?".to_owned(),
        // The caret notation of kubectl's describe: escape is ^[.
        '\0'..='\x1f' => format!("^{}", char::from((character as u8) ^ 0x40)),
        other => format!("\\u{{{:x}}}", other as u32),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn clean_text_is_left_alone() {
        for text in ["", "image 1.1", "größe 大 🚀", "a\tb\nc"] {
            assert!(matches!(block(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn control_characters_are_escaped() {
        for (text, safe) in [
            ("\x1b[31mred\x1b[0m", "^[[31mred^[[0m"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("bell\x07 back\x08 delete\x7f", "bell^G back^H delete^?"),
            ("user\u{202e}gpj.exe", "user\\u{202e}gpj.exe"),
            ("a\rb\0", "a\\rb^@"),
            ("hidden\u{200b}\u{e0041}", "hidden\\u{200b}\\u{e0041}"),
        ] {
            assert_eq!(block(text), safe);
        }
        assert_eq!(line("two\nlines\there"), "two\\nlines\\there");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn escaped_text_has_no_control_characters_and_keeps_all_others(text in any::<String>()) {
            let (block, line) = (block(&text), line(&text));
            prop_assert!(!line.contains(is_misleading));
            prop_assert!(!block.contains(|c| is_misleading(c) && c != '\n' && c != '\t'));
            prop_assert_eq!(block.lines().count(), text.split('\n').count() - usize::from(text.ends_with('\n') || text.is_empty()));
            prop_assert_eq!(super::line(&line).into_owned(), line.to_string(), "once is enough");
            prop_assert_eq!(line == text, !text.contains(is_misleading));
            let kept: String = text.chars().filter(|c| !is_misleading(*c)).collect();
            let mut shown = line.chars();
            prop_assert!(kept.chars().all(|c| shown.any(|other| other == c)), "nothing else is lost");
        }
    }
}
