//! Writes strings: plain, quoted, or as a `|` block.

use std::fmt::Write;

use crate::model::text::yaml_scalar::{InlineStyle, block_header, inline_style};

/// After this column a line is folded at the next space.
const WIDTH: usize = 80;

/// The position of a string.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// A key, which must stay on one line.
    Key,
    /// A value.
    Value,
}

/// Writes a string. Indents its further lines.
pub(super) fn write(out: &mut String, text: &str, indent: usize, position: Position) {
    // A document that is only a string is indented too.
    let indent = indent.max(2);
    if is_block(text) {
        return write_block(out, text, indent);
    }
    let column = out.rsplit('\n').next().unwrap_or_default().chars().count();
    let width = if position == Position::Key { usize::MAX } else { WIDTH };
    let style = inline_style(text, |character| character != '\n' && is_printable(character));
    FoldedLine { out, column, width, indent }.write(text, style);
}

/// Whether a character ends a line in YAML 1.1.
pub(super) fn is_break(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether a character needs no escape. Unicode's line breaks end a line in YAML 1.1 and not in YAML 1.2, so they
/// are escaped.
fn is_printable(character: char) -> bool {
    let printable = matches!(character, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}');
    printable && !matches!(character, '\u{feff}' | '\u{2028}' | '\u{2029}')
}

/// Whether a string is written as a `|` block. No line of a block may end with a space.
fn is_block(text: &str) -> bool {
    let has_blank_before_break = text.contains(" \n") || text.ends_with(' ');
    text.contains('\n') && !has_blank_before_break && text.chars().all(is_printable)
}

fn write_block(out: &mut String, text: &str, indent: usize) {
    out.push_str(&block_header(text));
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        out.push('\n');
        if !line.is_empty() {
            out.extend(std::iter::repeat_n(' ', indent));
            out.push_str(line);
        }
    }
    if text.ends_with('\n') {
        out.push('\n');
    }
}

/// Writes a plain or quoted string, and folds it after [`WIDTH`].
struct FoldedLine<'a> {
    out: &'a mut String,
    column: usize,
    width: usize,
    indent: usize,
}

impl FoldedLine<'_> {
    fn write(&mut self, text: &str, style: InlineStyle) {
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
    }

    /// Folds the line: writes a line break, which reads as a space.
    fn fold(&mut self) {
        self.out.push('\n');
        self.column = 0;
        self.put(&" ".repeat(self.indent));
    }

    fn character(&mut self, character: char, style: InlineStyle) {
        match (style, character) {
            (InlineStyle::Single, '\'') => self.put("''"),
            (InlineStyle::Double, '"') => self.put("\\\""),
            (InlineStyle::Double, '\\') => self.put("\\\\"),
            (InlineStyle::Double, _) if character == '\n' || !is_printable(character) => {
                self.put(&escaped(character));
            }
            _ => {
                self.out.push(character);
                self.column += 1;
            }
        }
    }

    fn put(&mut self, text: &str) {
        self.out.push_str(text);
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
