//! Untrusted text made safe to look at.
//!
//! Change-causes, image names, messages and logs are written by whoever can write to the cluster.
//! A terminal would obey escape sequences in them, and bidirectional overrides would let one text
//! read as another; both are shown instead of done.

use std::borrow::Cow;

use crate::model::misleading::is_misleading;

/// Text of several lines: control characters are shown, newlines and tabs stay.
#[must_use]
pub fn block(text: &str) -> Cow<'_, str> {
    escaped(text, |character| matches!(character, '\n' | '\t'))
}

/// Text that must stay on one line and in one column: newlines and tabs are shown too.
#[must_use]
pub fn line(text: &str) -> Cow<'_, str> {
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
        // The caret form is what kubectl's own describe uses: escape is ^[.
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
    fn what_a_terminal_would_obey_is_shown() {
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
        fn whatever_the_text_nothing_of_it_is_obeyed_and_what_is_safe_stays(text in any::<String>()) {
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
