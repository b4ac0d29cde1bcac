//! Wraps text into lines of a terminal.

use super::table::{beginning, shortened_to};

/// Wraps a text into at most `most` lines of `width` cells. An ellipsis replaces the rest. Words stay whole unless one
/// is wider than a line.
pub(super) fn wrapped(text: &str, width: usize, most: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = text;
    while !rest.is_empty() && lines.len() + 1 < most {
        let line = first_line(rest, width);
        lines.push(line.trim_end().to_owned());
        rest = rest.get(line.len()..).unwrap_or_default().trim_start_matches(' ');
    }
    if !rest.is_empty() {
        lines.push(shortened_to(rest, width));
    }
    lines
}

/// Returns the part of a text that fits into the first line: at least one character.
fn first_line(text: &str, width: usize) -> &str {
    let fitting = beginning(text, width);
    let rest = text.get(fitting.len()..).unwrap_or_default();
    if !fitting.is_empty() && (rest.is_empty() || rest.starts_with(' ')) {
        return fitting;
    }
    let words =
        fitting.rfind(' ').and_then(|end| fitting.get(..=end)).filter(|words| !words.trim().is_empty());
    let one = text.chars().next().map_or(0, char::len_utf8);
    words.unwrap_or_else(|| text.get(..fitting.len().max(one)).unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole_where_they_can() {
        for (text, lines) in [
            ("", &[][..]),
            ("one two", &["one two"]),
            ("one two three", &["one two", "three"]),
            ("one  two   three", &["one  two", "three"]),
            ("a sesquipedalian", &["a", "sesquiped", "alian"]),
            ("大大大大大 x", &["大大大大", "大 x"]),
            ("a b c d e f g h i j k l m", &["a b c d e", "f g h i j", "k l m"]),
            ("one two three four five six seven", &["one two", "three", "four fiv…"]),
        ] {
            assert_eq!(wrapped(text, 9, 3), lines);
        }
    }

    #[test]
    fn a_width_of_almost_nothing_still_terminates() {
        assert_eq!(wrapped("大大", 0, 9), ["大", "大"]);
    }
}
