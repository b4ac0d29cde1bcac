//! Help texts with styled headings.

use super::style::{Span, Style};

/// Returns a help text with its headings styled: lines such as `Options:` below an empty one, and the word `Usage:`.
#[must_use]
pub fn styled(text: &str) -> Vec<Span> {
    let before = std::iter::once("\n").chain(text.split_inclusive('\n'));
    text.split_inclusive('\n')
        .zip(before)
        .flat_map(|(text, before)| line(text, before.trim().is_empty()))
        .collect()
}

fn line(line: &str, is_first: bool) -> Vec<Span> {
    let is_heading = is_first && !line.starts_with(' ') && line.trim_end().ends_with(':');
    match line.strip_prefix(USAGE) {
        _ if is_heading => vec![Span::new(Style::Heading, line.trim_end()), Span::plain("\n")],
        Some(rest) => vec![Span::new(Style::Heading, USAGE), Span::plain(rest)],
        None => vec![Span::plain(line)],
    }
}

const USAGE: &str = "Usage:";
