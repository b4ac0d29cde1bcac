//! Fits text into a width, in cells of a terminal: wraps it between words, or cuts it. Wide characters take two cells.

use std::ops::Range;

use unicode_width::UnicodeWidthStr;

/// Wraps a text between words into at most `most` lines of `width` cells. An ellipsis replaces the rest. All lines but
/// the first begin with `indent`. A longer word stays whole, so that it can be copied, and its line is too wide. A
/// command is one word.
pub(super) fn wrapped_text(text: &str, indent: &str, width: usize, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let margin = if lines.is_empty() { "" } else { indent };
        let room = width.saturating_sub(margin.width());
        if lines.len() + 1 == most {
            lines.push(format!("{margin}{}", shortened_text(rest, room)));
            break;
        }
        let line = first_line(rest, room);
        lines.push(format!("{margin}{}", line.trim_end()));
        rest = rest.get(line.len()..).unwrap_or_default().trim_start_matches(' ');
    }
    lines
}

/// Returns the part of a text that fits into one line: at least one word.
fn first_line(text: &str, width: usize) -> &str {
    let fitting = beginning(text, width).len();
    if fitting == text.len() {
        return text;
    }
    let commands = commands(text);
    let indent = text.len() - text.trim_start_matches(' ').len();
    let is_between = |at: &usize| *at > indent && !commands.iter().any(|command| command.contains(at));
    let mut ends = text.match_indices(' ').map(|(at, _)| at).filter(is_between);
    let last_fitting = ends.clone().take_while(|end| *end <= fitting).last();
    let end = last_fitting.or_else(|| ends.next()).unwrap_or(text.len());
    text.get(..end).unwrap_or(text)
}

/// Returns the commands in a text: from the word `kubectl` to a comma or semicolon outside of quotes, or to the end. In a
/// sentence, `kubectl apply` without a flag is only a name.
fn commands(text: &str) -> Vec<Range<usize>> {
    const PROGRAM: &str = "kubectl ";
    let mut commands: Vec<Range<usize>> = Vec::new();
    for (start, _) in text.match_indices(PROGRAM) {
        let is_word = text.get(..start).is_some_and(|before| before.is_empty() || before.ends_with(' '));
        if !is_word || commands.last().is_some_and(|last| last.contains(&start)) {
            continue;
        }
        let rest = text.get(start..).unwrap_or_default();
        if rest.strip_prefix("kubectl apply ").is_some_and(|next| !next.starts_with('-')) {
            continue;
        }
        let mut is_quoted = false;
        let end = rest.char_indices().find_map(|(at, character)| {
            is_quoted ^= character == '\'';
            let ends = matches!(character, ',' | ';') && !is_quoted;
            (ends && rest.get(at + 1..).is_some_and(|after| after.starts_with(' '))).then_some(start + at)
        });
        commands.push(start..end.unwrap_or(text.len()));
    }
    commands
}

/// Shortens a text to `width` cells of a terminal, with an ellipsis if something was cut. Wide characters take
/// two cells.
pub(super) fn shortened_text(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    format!("{}…", beginning(text, width.saturating_sub(1)).trim_end())
}

/// Returns the longest beginning of a text that fits into `width` cells.
pub(super) fn beginning(text: &str, width: usize) -> &str {
    // A binary search, because a text may have a hundred thousand characters of zero width.
    let ends: Vec<usize> =
        text.char_indices().map(|(start, character)| start + character.len_utf8()).collect();
    let fitting = ends.partition_point(|&end| text[..end].width() <= width);
    let end = fitting.checked_sub(1).and_then(|last| ends.get(last)).copied().unwrap_or_default();
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole_if_they_fit() {
        for (text, lines) in [
            ("", &[][..]),
            ("one two", &["one two"]),
            ("one two three", &["one two", "three"]),
            ("one  two   three", &["one  two", "three"]),
            ("a sesquipedalian word", &["a", "sesquipedalian", "word"]),
            ("大大大大大 x", &["大大大大大", "x"]),
            ("a b c d e f g h i j k l m", &["a b c d e", "f g h i j", "k l m"]),
            ("one two three four five six seven", &["one two", "three", "four fiv…"]),
        ] {
            assert_eq!(wrapped_text(text, "", 9, 3), lines);
        }
        assert_eq!(wrapped_text("大 大", "", 0, 9), ["大", "大"], "it terminates");
    }

    #[test]
    fn a_long_word_can_stay_whole() {
        let text = "  ! web-1 and 2 more  app: CrashLoopBackOff, exit 1";
        for (width, lines) in [
            (80, &["  ! web-1 and 2 more  app: CrashLoopBackOff, exit 1"] as &[_]),
            (30, &["  ! web-1 and 2 more  app:", "    CrashLoopBackOff, exit 1"]),
            (20, &["  ! web-1 and 2 more", "    app:", "    CrashLoopBackOff,", "    exit 1"]),
            (10, &["  ! web-1", "    and 2", "    more", "    app:", "    CrashLoopBackOff,", "    exit 1"]),
        ] {
            assert_eq!(wrapped_text(text, "    ", width, usize::MAX), lines, "{width}");
        }
        assert_eq!(wrapped_text("大大 大大", "", 4, usize::MAX), ["大大", "大大"]);
    }

    #[test]
    fn a_command_is_one_word() {
        let text = "  - web  held, until kubectl rollout2 resume web; then wait";
        for (width, lines) in [
            (46, &["  - web  held, until", "    kubectl rollout2 resume web; then wait"] as &[_]),
            (31, &["  - web  held, until", "    kubectl rollout2 resume web;", "    then wait"]),
            (22, &["  - web  held, until", "    kubectl rollout2 resume web;", "    then wait"]),
        ] {
            assert_eq!(wrapped_text(text, "    ", width, usize::MAX), lines, "{width}");
        }
        for (text, lines) in [
            ("kubectl patch -p '{; , }' x; next", &["kubectl patch -p '{; , }' x;", "next"] as &[_]),
            ("mykubectl is no command", &["mykubectl", "is no", "command"]),
            ("run kubectl a b && kubectl c d", &["run", "kubectl a b && kubectl c d"]),
            ("the next kubectl apply of it", &["the next", "kubectl", "apply of", "it"]),
            ("run kubectl apply -f x", &["run", "kubectl apply -f x"]),
        ] {
            assert_eq!(wrapped_text(text, "", 9, usize::MAX), lines);
        }
    }

    #[test]
    fn wide_characters_take_two_cells() {
        assert_eq!(shortened_text("大大大大", 5), "大大…");
        assert_eq!(shortened_text("大大", 4), "大大");
    }

    #[test]
    fn zero_width_characters_stay_with_their_base_character() {
        assert_eq!(shortened_text("e\u{301}e\u{301}e\u{301}e\u{301}", 3), "e\u{301}e\u{301}…");
        assert_eq!(shortened_text(&format!("ab{}", "\u{301}".repeat(1 << 17)), 1), "…");
    }
}
