//! Writes strings, and decides how: plain, quoted, or as a `|` block.

use std::fmt::Write;

use k8s_openapi::jiff::civil::Date;

use crate::text::untrusted::{ESCAPED_HASH, begins_command, is_command, is_misleading};

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

/// How strings are written. Those with a command of a CI system are quoted in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
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
        let is_command = is_command(text) || position == Position::Key && begins_command(text);
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
        let mut characters = text.char_indices().peekable();
        while let Some((index, character)) = characters.next() {
            let next = characters.peek().map(|(_, next)| *next);
            let rest = &text[index + character.len_utf8()..];
            let folds = character == ' ' && !after_blank && self.column > self.width && index > 0;
            match next {
                Some(' ') if folds && style == InlineStyle::Double => {
                    self.fold();
                    self.put("\\");
                }
                Some(next) if folds && next != ' ' && !begins_command(rest) => self.fold(),
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

/// How a string is written on one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InlineStyle {
    Plain,
    Single,
    Double,
}

/// Returns how a string is written on one line. Only double quotes permit escapes.
pub(super) fn inline_style(text: &str, is_printable: impl Fn(char) -> bool) -> InlineStyle {
    if !text.chars().all(is_printable) || !reads_as_text(text) {
        InlineStyle::Double
    } else if is_syntax(text) {
        InlineStyle::Single
    } else {
        InlineStyle::Plain
    }
}

/// Returns what begins the `|` block of a string: the indentation of its first line, if that begins with a space or is
/// empty, and the treatment of line breaks at the end.
pub(super) fn block_header(text: &str) -> String {
    let indentation = if text.starts_with([' ', '\n']) { "2" } else { "" };
    let chomping = match text.strip_suffix('\n') {
        None => "-",
        Some(body) if body.is_empty() || body.ends_with('\n') => "+",
        Some(_) => "",
    };
    format!("|{indentation}{chomping}")
}

/// The words that YAML 1.1 reads as something other than a string.
const WORDS: [&str; 40] = [
    "", "~", "null", "Null", "NULL", "true", "True", "TRUE", "false", "False", "FALSE", "y", "Y", "yes",
    "Yes", "YES", "n", "N", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF", ".nan", ".NaN", ".NAN",
    ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF", "<<",
];

/// Whether a YAML parser reads the text as a string, and not as a number, date, boolean or null.
fn reads_as_text(text: &str) -> bool {
    !WORDS.contains(&text) && !is_number(text) && !is_base_60(text) && !is_timestamp(text)
}

/// Whether the text contains YAML syntax.
fn is_syntax(text: &str) -> bool {
    const FIRST: &str = "#,[]{}&*!|>'\"%@`";
    const FIRST_BEFORE_BLANK: [&str; 3] = ["?", ":", "-"];
    let before_blank =
        |mark: &str| text.strip_prefix(mark).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    text.starts_with(|first| FIRST.contains(first))
        || FIRST_BEFORE_BLANK.into_iter().any(before_blank)
        || text.starts_with("---")
        || text.starts_with("...")
        || text.starts_with(' ')
        || text.ends_with([' ', ':'])
        || text.contains(": ")
        || text.contains(" #")
}

/// Whether the text is a number of any size: `1`, `-0x1f`, `1_000`, `.5e3`.
fn is_number(text: &str) -> bool {
    if !text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '+' | '-' | '.')) {
        return false;
    }
    let plain = text.replace('_', "");
    let unsigned = plain.strip_prefix(['+', '-']).unwrap_or(&plain);
    for (prefixes, base) in [(["0x", "0X"], 16), (["0o", "0O"], 8), (["0b", "0B"], 2)] {
        if let Some(digits) = prefixes.iter().find_map(|prefix| unsigned.strip_prefix(prefix)) {
            return !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(base));
        }
    }
    is_decimal(unsigned)
}

/// Whether the text consists of digits, at most one point, and an optional exponent.
fn is_decimal(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent_fits = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        is_digits(digits, 1..=usize::MAX)
    });
    format!("{integer}{fraction}").bytes().all(|byte| byte.is_ascii_digit())
        && !(integer.is_empty() && fraction.is_empty())
        && exponent_fits
}

/// Whether the text is a number in base 60: `190:20:30.15`.
fn is_base_60(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let Some((first, rest)) = unsigned.split_once(':') else { return false };
    let (rest, fraction) = rest.split_once('.').unwrap_or((rest, ""));
    let digits_and_underscores = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    first.starts_with(|digit: char| digit.is_ascii_digit())
        && digits_and_underscores(first)
        && digits_and_underscores(fraction)
        && rest.split(':').all(|part| number_below(part, 60))
}

/// Whether the text is a date or a time: `2026-11-20`, `2026-11-20T13:25:25Z`, `2026-1-2
/// 3:04:05.6`.
fn is_timestamp(text: &str) -> bool {
    let Some(end) = text.find(['T', 't', ' ']) else { return is_date(text) };
    let (date, time) = text.split_at(end);
    let time = match time.strip_prefix(' ') {
        Some(time) => Some(time),
        None => without_zone(&time[1..]),
    };
    is_date(date) && time.is_some_and(is_time)
}

fn is_date(text: &str) -> bool {
    text.find('-') == Some(4)
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
        && Date::strptime("%Y-%m-%d", text).is_ok()
}

fn is_time(text: &str) -> bool {
    let parts: Vec<_> = text.split(':').collect();
    let [hour, minute, second] = parts[..] else { return false };
    let (second, fraction) = second.split_once('.').unwrap_or((second, "0"));
    number_below(hour, 24)
        && number_below(minute, 60)
        && number_below(second, 60)
        && is_digits(fraction, 1..=usize::MAX)
}

/// Returns the time without `Z` or `+02:00`.
fn without_zone(text: &str) -> Option<&str> {
    if let Some(time) = text.strip_suffix('Z') {
        return Some(time);
    }
    let (time, zone) = text.split_at_checked(text.len().checked_sub(6)?)?;
    let (hours, minutes) = zone.strip_prefix(['+', '-'])?.split_once(':')?;
    (is_digits(hours, 2..=2) && is_digits(minutes, 2..=2)).then_some(time)
}

/// Whether the text has one or two digits and is less than the limit.
fn number_below(text: &str, limit: u32) -> bool {
    is_digits(text, 1..=2) && text.parse::<u32>().is_ok_and(|number| number < limit)
}

fn is_digits(text: &str, lengths: std::ops::RangeInclusive<usize>) -> bool {
    lengths.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
            ("a ##[group]", r#""a \u0023\u0023[group]""#),
            ("a\n::stop-commands::b\n", r#""a\n::stop-commands::b\n""#),
        ] {
            assert_eq!(written(text), yaml);
        }
    }

    /// A key begins its line, and so does what follows a fold.
    #[test]
    fn no_line_begins_with_a_command_of_a_ci_system() {
        for (text, position, lines) in [
            ("::error::x", Position::Key, vec![r#""::error::x""#.to_owned()]),
            ("::1", Position::Value, vec!["::1".to_owned()]),
            (
                &format!("{} ::error::x", "a".repeat(90)),
                Position::Value,
                vec!["a".repeat(90) + " ::error::x"],
            ),
            (&format!("{} b", "a".repeat(90)), Position::Value, vec!["a".repeat(90), "  b".to_owned()]),
        ] {
            assert_eq!(Layout::Kubectl.lines(text, 0, 2, position), lines, "{text}");
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

    #[test]
    fn words_that_yaml_does_not_read_as_strings() {
        for text in [
            "",
            "~",
            "null",
            "y",
            "No",
            "on",
            ".inf",
            "-.inf",
            ".NaN",
            "1",
            "+1",
            "-1",
            "089",
            "0o17",
            "0x1f",
            "-0b1",
            "1_000",
            "1.",
            ".5",
            "+.5",
            "1.0",
            "12e03",
            "1e400",
            "123456789012345678901234567890",
            "1:30",
            "-1:2",
            "190:20:30.15",
            "2026-11-20",
            "2026-1-2T1:2:3Z",
            "2026-11-20t13:25:25.5+02:00",
            "2026-11-20 1:2:3",
            "<<",
        ] {
            assert!(!reads_as_text(text), "{text}");
        }
    }

    #[test]
    fn words_that_yaml_reads_as_strings() {
        for text in [
            "nO",
            "NaN",
            "Infinity",
            "1.0.0",
            "0x",
            "0b102",
            "_1",
            ".",
            "..",
            "+",
            "-",
            ".e3",
            "1:60",
            "1:2:",
            "=",
            "2026-13-01",
            "2026-02-30",
            "2026-11-20T1:2:3",
            "2026-11-20 1:2:3Z",
            "20261-1-1",
            "1e",
            "1.2.3",
            "500m",
        ] {
            assert!(reads_as_text(text), "{text}");
        }
    }
}
