//! Texts: plain, quoted, or as a block of lines.

use std::fmt::Write;

use crate::model::plain_text;

/// Behind this column a line is folded at the next blank.
const WIDTH: usize = 80;

/// Where a text stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Before a colon, where it must stay on its line.
    Key,
    /// Anywhere else.
    Value,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

/// Writes a text; its further lines are indented.
pub(super) fn write(out: &mut String, text: &str, indent: usize, place: Place) {
    // A document that is nothing but a text is indented, too.
    let indent = indent.max(2);
    match style(text) {
        Style::Literal => write_literal(out, text, indent),
        style => {
            let column = out.rsplit('\n').next().unwrap_or_default().chars().count();
            let width = if place == Place::Key { usize::MAX } else { WIDTH };
            Line { out, column, width, indent }.write(text, style);
        }
    }
}

/// The characters that end a line in YAML 1.1.
pub(super) fn is_break(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// What can stand in a document as it is. YAML 1.1 takes Unicode's line breaks for ends of lines and
/// YAML 1.2 does not, so they are escaped, which all read the same.
fn is_printable(character: char) -> bool {
    let printable = matches!(character, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}');
    printable && !matches!(character, '\u{feff}' | '\u{2028}' | '\u{2029}')
}

fn style(text: &str) -> Style {
    let special = !text.chars().all(is_printable);
    if text.contains('\n') {
        let blank_before_break = text.contains(" \n") || text.ends_with(' ');
        return if special || blank_before_break { Style::Double } else { Style::Literal };
    }
    if special || !plain_text::reads_as_text(text) {
        return Style::Double;
    }
    if plain_text::is_syntax(text) { Style::Single } else { Style::Plain }
}

/// A block of lines: how it is indented when its first line begins with a blank or is empty, and what
/// happens to line breaks at its end, is said in its first line.
fn write_literal(out: &mut String, text: &str, indent: usize) {
    out.push('|');
    if text.starts_with([' ', '\n']) {
        out.push('2');
    }
    if !text.ends_with('\n') {
        out.push('-');
    } else if text == "\n" || text.ends_with("\n\n") {
        out.push('+');
    }
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

/// A text being written, which may be folded.
struct Line<'a> {
    out: &'a mut String,
    column: usize,
    width: usize,
    indent: usize,
}

impl Line<'_> {
    fn write(&mut self, text: &str, style: Style) {
        let quote = match style {
            Style::Single => "'",
            Style::Double => "\"",
            Style::Plain | Style::Literal => "",
        };
        self.put(quote);
        let mut after_blank = false;
        let mut characters = text.chars().enumerate().peekable();
        while let Some((index, character)) = characters.next() {
            let next = characters.peek().map(|(_, next)| *next);
            let folds = character == ' ' && !after_blank && self.column > self.width && index > 0;
            match next {
                Some(' ') if folds && style == Style::Double => {
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

    /// A line break, which reads as a blank.
    fn fold(&mut self) {
        self.out.push('\n');
        self.column = 0;
        self.put(&" ".repeat(self.indent));
    }

    fn character(&mut self, character: char, style: Style) {
        match (style, character) {
            (Style::Single, '\'') => self.put("''"),
            (Style::Double, '"') => self.put("\\\""),
            (Style::Double, '\\') => self.put("\\\\"),
            (Style::Double, _) if character == '\n' || !is_printable(character) => {
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
