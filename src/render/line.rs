//! One line of output: styled and escaped text. How it fits into a terminal is in `fit_width.rs`.
//!
//! Any client of the cluster can write change-causes, image names, messages and logs. Escape sequences in them would control the
//! terminal, and bidirectional overrides would display one text as another. Both are replaced by visible escapes.

use std::borrow::Cow;

use unicode_width::UnicodeWidthStr;

use super::fit_width::{beginning, shortened_text, wrapped_text};
use crate::model::text::untrusted::is_misleading;
use crate::world::Terminal;

/// One line of output. Text is escaped when it enters the line, so that it stays on one line and controls no terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line(Vec<Span>);

/// A piece of escaped text with a style.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Span {
    style: Style,
    text: String,
}

impl Line {
    /// Creates a line with plain text.
    pub fn of(text: impl AsRef<str>) -> Self {
        Self::styled(Style::Plain, text)
    }

    /// Creates a line with text of one style.
    pub fn styled(style: Style, text: impl AsRef<str>) -> Self {
        Self::default().with(style, text)
    }

    /// Appends text.
    #[must_use]
    pub fn with(self, style: Style, text: impl AsRef<str>) -> Self {
        self.with_escaped(style, &escaped_line(text.as_ref()))
    }

    /// Appends text that keeps its tabs, such as a line of a script.
    #[must_use]
    pub(super) fn with_tabs(self, style: Style, text: &str) -> Self {
        self.with_escaped(style, &escaped_block(&text.replace('\n', "\\n")))
    }

    fn with_escaped(mut self, style: Style, text: &str) -> Self {
        if !text.is_empty() {
            self.0.push(Span { style, text: text.to_owned() });
        }
        self
    }

    /// Changes the text of each part, which is escaped again.
    #[must_use]
    pub(super) fn map(self, change: impl Fn(&str) -> String) -> Self {
        self.0.into_iter().fold(Self::default(), |line, span| line.with(span.style, change(&span.text)))
    }

    /// Appends another line.
    #[must_use]
    pub(super) fn joined_with(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Puts spaces before the line, in the style of its first text.
    #[must_use]
    pub(super) fn indented(mut self, spaces: &str) -> Self {
        if let Some(first) = self.0.first_mut() {
            first.text.insert_str(0, spaces);
        }
        self
    }

    /// Appends spaces up to a column.
    #[must_use]
    pub fn padded_to(self, column: usize) -> Self {
        let missing = column.saturating_sub(self.cells());
        self.with(Style::Plain, " ".repeat(missing))
    }

    /// Returns the width in cells of a terminal. Wide characters take two.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.0.iter().map(|span| span.text.width()).sum()
    }

    /// Returns the width of each character in cells.
    pub(super) fn characters(&self) -> impl Iterator<Item = usize> {
        let characters = self.0.iter().flat_map(|span| span.text.chars());
        characters.map(|character| character.encode_utf8(&mut [0; 4]).width())
    }

    /// Returns the style of the first text.
    fn style(&self) -> Style {
        self.0.first().map_or(Style::Plain, |span| span.style)
    }

    /// Returns the text without styles.
    #[must_use]
    pub fn text(&self) -> String {
        self.0.iter().map(|span| span.text.as_str()).collect()
    }

    /// Returns the text for a terminal, with or without colour. The only escape sequences are those of the styles.
    #[must_use]
    pub(super) fn drawn(&self, colored: bool) -> String {
        let draw = |text: String, span: &Span| match span.style.sgr() {
            sgr if colored && !sgr.is_empty() => format!("{text}\x1b[{sgr}m{}\x1b[0m", span.text),
            _ => text + &span.text,
        };
        self.0.iter().fold(String::new(), draw)
    }

    /// Wraps the line between words if it goes to a terminal. A command stays on one line, so that it can be copied.
    #[must_use]
    pub(super) fn wrapped_for(self, terminal: Option<Terminal>, indent: &str) -> Vec<Self> {
        match terminal {
            Some(size) => self.wrapped(indent, size.width.into(), usize::MAX),
            None => vec![self],
        }
    }

    /// Wraps the line between words, in the style of its first text. All lines but the first begin with `indent`. An
    /// ellipsis replaces what does not fit into `most` lines.
    #[must_use]
    pub(super) fn wrapped(self, indent: &str, width: usize, most: usize) -> Vec<Self> {
        if self.cells() <= width {
            return vec![self];
        }
        let lines = wrapped_text(&self.text(), indent, width, most);
        lines.into_iter().map(|line| Self::default().with_escaped(self.style(), &line)).collect()
    }

    /// Cuts the line to `width` cells, with an ellipsis at the end.
    #[must_use]
    pub(super) fn cut_to(self, width: usize) -> Self {
        if self.cells() <= width {
            return self;
        }
        let mut cut = Self::default();
        let mut left = width;
        for span in self.0 {
            let cells = span.text.width();
            if cells >= left {
                // Cut even a span that just fits, because the spans after it are dropped.
                let text = shortened_text(&(span.text + "…"), left);
                cut.0.push(Span { text, ..span });
                break;
            }
            left -= cells;
            cut.0.push(span);
        }
        cut
    }

    /// Shortens the line to `width` cells, with an ellipsis in the middle. Related names often begin alike and
    /// differ at the end.
    #[must_use]
    pub(super) fn shortened_to(self, width: usize) -> Self {
        if self.cells() <= width {
            return self;
        }
        let text = self.text();
        let for_the_end = width.saturating_sub(1) / 2;
        // A binary search, as for the beginning.
        let starts: Vec<usize> = text.char_indices().map(|(start, _)| start).collect();
        let too_wide = starts.partition_point(|&start| text[start..].width() > for_the_end);
        let end = starts.get(too_wide).map_or("", |&start| &text[start..]);
        let beginning = beginning(&text, width.saturating_sub(1 + end.width()));
        Self::default().with_escaped(self.style(), &format!("{beginning}…{end}"))
    }
}

/// Returns the text of lines, with or without colour.
#[must_use]
pub fn text_of(lines: &[Line], colored: bool) -> String {
    lines.iter().fold(String::new(), |text, line| text + &line.drawn(colored) + "\n")
}

/// The meaning of a piece of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// No special meaning.
    #[default]
    Plain,
    /// The name of what follows.
    Heading,
    /// What a diff adds.
    Added,
    /// What a diff removes.
    Removed,
    /// The path of a hunk in a template.
    Location,
    /// Success.
    Good,
    /// Failure.
    Bad,
    /// A warning.
    Warning,
    /// Less important text.
    Dim,
}

impl Style {
    /// Returns the SGR parameters of the style; empty for plain text.
    fn sgr(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Heading => "1",
            Self::Added | Self::Good => "32",
            Self::Removed | Self::Bad => "31",
            Self::Location => "36",
            Self::Warning => "33",
            Self::Dim => "2",
        }
    }
}

/// Escapes text of several lines. Newlines and tabs stay.
#[must_use]
pub(super) fn escaped_block(text: &str) -> Cow<'_, str> {
    escaped(text, |character| matches!(character, '\n' | '\t'))
}

/// Escapes text that must stay on one line and in one column, newlines and tabs included.
#[must_use]
pub(super) fn escaped_line(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

fn escaped(text: &str, keeps: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_safe = |character| keeps(character) || !is_misleading(character);
    if text.chars().all(is_safe) {
        return Cow::Borrowed(text);
    }
    let shown = |character| if is_safe(character) { character.to_string() } else { shown(character) };
    text.chars().map(shown).collect::<String>().into()
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
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn control_characters_of_a_line_are_escaped() {
        let line = Line::of("a\tb").with(Style::Bad, "\x1b[2J\r\nc");
        assert_eq!(line.text(), "a\\tb^[[2J\\r\\nc");
        assert_eq!(line.cells(), 14);
    }

    #[test]
    fn tabs_of_a_script_stay() {
        let line = Line::default().with_tabs(Style::Added, "+\ta\x1b[2J\tb\n");
        assert_eq!(line.text(), "+\ta^[[2J\tb\\n");
        assert_eq!(line.drawn(true), "\x1b[32m+\ta^[[2J\tb\\n\x1b[0m");
    }

    #[test]
    fn a_line_is_cut_to_a_width_in_cells() {
        let line = || Line::of("web").with(Style::Good, "大大").with(Style::Bad, " bad");
        for (width, text) in [
            (20, "web大大 bad"),
            (11, "web大大 bad"),
            (10, "web大大 b…"),
            (8, "web大大…"),
            (7, "web大…"),
            (6, "web大…"),
            (5, "web…"),
            (4, "web…"),
            (3, "we…"),
            (1, "…"),
        ] {
            let cut = line().cut_to(width);
            assert_eq!(cut.text(), text, "{width}");
            assert!(cut.cells() <= width, "{width}");
        }
    }

    #[test]
    fn a_name_loses_its_middle() {
        for (width, text) in [
            (18, "deploy/web-大-main"),
            (17, "deploy/w…-大-main"),
            (16, "deploy/w…大-main"),
            (12, "deploy…-main"),
            (3, "d…n"),
            (2, "d…"),
            (1, "…"),
        ] {
            let name = Line::styled(Style::Heading, "deploy/web-大-main");
            let short = name.shortened_to(width);
            assert_eq!(short.text(), text, "{width}");
            assert!(short.cells() <= width, "{width}");
        }
    }

    #[test]
    fn a_name_with_many_characters_of_zero_width_is_shortened() {
        let name = Line::of(format!("deployment/web-{}", "\u{301}".repeat(400_000)));
        assert_eq!(name.shortened_to(8).text().chars().take(5).collect::<String>(), "depl…");
    }

    #[test]
    fn clean_text_is_left_alone() {
        for text in ["", "image 1.1", "größe 大 🚀", "a\tb\nc"] {
            assert!(matches!(escaped_block(text), Cow::Borrowed(same) if same == text));
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
            assert_eq!(escaped_block(text), safe);
        }
        assert_eq!(escaped_line("two\nlines\there"), "two\\nlines\\there");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn escaped_text_has_no_control_characters_and_keeps_all_others(text in any::<String>()) {
            let (block, line) = (escaped_block(&text), escaped_line(&text));
            prop_assert!(!line.contains(is_misleading));
            prop_assert!(!block.contains(|c| is_misleading(c) && c != '\n' && c != '\t'));
            prop_assert_eq!(block.lines().count(), text.split('\n').count() - usize::from(text.ends_with('\n') || text.is_empty()));
            prop_assert_eq!(escaped_line(&line).into_owned(), line.to_string(), "once is enough");
            prop_assert_eq!(line == text, !text.contains(is_misleading));
            let kept: String = text.chars().filter(|c| !is_misleading(*c)).collect();
            let mut shown = line.chars();
            prop_assert!(kept.chars().all(|c| shown.any(|other| other == c)), "nothing else is lost");
        }
    }
}
