//! Writes strings: plain, quoted, or as a `|` block.

use std::fmt::Write;

use super::style::{InlineStyle, block_header, inline_style};
use crate::model::text::control::{ESCAPED_HASH, is_command, is_misleading};

/// After this column kubectl folds a line at the next space.
const WIDTH: usize = 80;

/// The position of a string.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// A key, which must stay on one line.
    Key,
    /// A value.
    Value,
}

/// How strings are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::model) enum Layout {
    /// As kubectl writes them.
    Kubectl,
    /// Never folded, so that a change of one word in a long text changes one line. Misleading characters are escaped,
    /// because external diff programs receive these lines without our renderer.
    Unfolded,
}

impl Layout {
    /// Returns the lines of a string that begins at a column. All but the first are indented.
    pub(super) fn lines(self, text: &str, column: usize, indent: usize, position: Position) -> Vec<String> {
        // A document that is only a string is indented too.
        let indent = indent.max(2);
        let is_command = self == Self::Kubectl && is_command(text);
        if self.writes_block(text) && !is_command {
            return block(text, indent);
        }
        let folds = position == Position::Value && self == Self::Kubectl && !is_command;
        let style = if is_command {
            InlineStyle::Double
        } else {
            inline_style(text, |character| character != '\n' && self.is_printable(character))
        };
        let width = if folds { WIDTH } else { usize::MAX };
        FoldedText { layout: self, lines: Vec::new(), line: String::new(), column, width, indent, is_command }
            .write(text, style)
    }

    /// Whether a character needs no escape.
    fn is_printable(self, character: char) -> bool {
        match self {
            Self::Kubectl => is_printable(character),
            Self::Unfolded => character == '\n' || !is_misleading(character),
        }
    }

    /// Whether a string is written as a `|` block. In kubectl no line of a block ends with a space.
    fn writes_block(self, text: &str) -> bool {
        let has_blank_before_break = text.contains(" \n") || text.ends_with(' ');
        text.contains('\n')
            && !(self == Self::Kubectl && has_blank_before_break)
            && text.chars().all(|character| self.is_printable(character))
    }
}

fn block(text: &str, indent: usize) -> Vec<String> {
    let lines = text.strip_suffix('\n').unwrap_or(text).split('\n');
    let lines = lines.map(|line| if line.is_empty() { String::new() } else { " ".repeat(indent) + line });
    std::iter::once(block_header(text)).chain(lines).collect()
}

/// Whether a character ends a line in YAML 1.1.
pub(super) fn is_break(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether kubectl escapes no such character. Unicode's line breaks end a line in YAML 1.1 and not in YAML 1.2, so they
/// are escaped.
fn is_printable(character: char) -> bool {
    let printable = matches!(character, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}');
    printable && !matches!(character, '\u{feff}' | '\u{2028}' | '\u{2029}')
}

/// Writes a plain or quoted string, and folds it after `width`.
struct FoldedText {
    layout: Layout,
    lines: Vec<String>,
    line: String,
    column: usize,
    width: usize,
    indent: usize,
    /// Whether the text has a command of a CI system, so that its hashes are escaped.
    is_command: bool,
}

impl FoldedText {
    fn write(mut self, text: &str, style: InlineStyle) -> Vec<String> {
        let quote = match style {
            InlineStyle::Single => "'",
            InlineStyle::Double => "\"",
            InlineStyle::Plain => "",
        };
        self.put(quote);
        let mut after_blank = false;
        let mut characters = text.chars().enumerate().peekable();
        while let Some((index, character)) = characters.next() {
            let next = characters.peek().map(|(_, next)| *next);
            let folds = character == ' ' && !after_blank && self.column > self.width && index > 0;
            match next {
                Some(' ') if folds && style == InlineStyle::Double => {
                    self.fold();
                    self.put("\\");
                }
                Some(next) if folds && next != ' ' => self.fold(),
                _ => self.character(character, style),
            }
            after_blank = character == ' ';
        }
        self.put(quote);
        self.lines.push(self.line);
        self.lines
    }

    /// Folds the line: writes a line break, which reads as a space.
    fn fold(&mut self) {
        self.lines.push(std::mem::replace(&mut self.line, " ".repeat(self.indent)));
        self.column = self.indent;
    }

    fn character(&mut self, character: char, style: InlineStyle) {
        match (style, character) {
            (InlineStyle::Single, '\'') => self.put("''"),
            (InlineStyle::Double, '"') => self.put("\\\""),
            (InlineStyle::Double, '\\') => self.put("\\\\"),
            (InlineStyle::Double, '#') if self.is_command => self.put(ESCAPED_HASH),
            (InlineStyle::Double, _) if character == '\n' || !self.layout.is_printable(character) => {
                self.put(&escaped(character));
            }
            _ => {
                self.line.push(character);
                self.column += 1;
            }
        }
    }

    fn put(&mut self, text: &str) {
        self.line.push_str(text);
        self.column += text.chars().count();
    }
}

fn escaped(character: char) -> String {
    let short = match character {
        '\0' => '0',
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{b}' => 'v',
        '\u{c}' => 'f',
        '\r' => 'r',
        '\u{1b}' => 'e',
        '\u{85}' => 'N',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        _ => {
            let mut escaped = String::new();
            // Writing to a String cannot fail.
            let _ = match u32::from(character) {
                code @ 0..=0xff => write!(escaped, "\\x{code:02X}"),
                code @ 0x100..=0xffff => write!(escaped, "\\u{code:04X}"),
                code => write!(escaped, "\\U{code:08X}"),
            };
            return escaped;
        }
    };
    format!("\\{short}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(text: &str) -> String {
        Layout::Unfolded.lines(text, 0, 2, Position::Value).join("\n")
    }

    #[test]
    fn unfolded_texts_are_quoted_only_if_a_parser_needs_it() {
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
            ("a\u{1b}b\u{9b}\u{202e}\t", r#""a\eb\x9B\u202E\t""#),
            ("soft\u{ad}tag\u{e0041}", r#""soft\xADtag\U000E0041""#),
        ] {
            assert_eq!(written(text), yaml);
        }
    }

    fn parsed(yaml: &str) -> String {
        serde_saphyr::from_str::<std::collections::BTreeMap<String, String>>(yaml).unwrap()["a"].clone()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_yaml_parser_reads_the_same_text(text in r#"([-0-9a-zA-Z.:_ #'"\[{,|>&*!%@`?=<~+\n\t\\\r\u{1b}\u{85}\u{202e}]|\PC){0,12}"#) {
            prop_assert_eq!(parsed(&format!("a: {}\n", written(&text))), text);
        }
    }
}
