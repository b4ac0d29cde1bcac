//! Wraps a sentence into lines of a frame.

use tabled::grid::util::string::get_text_width;

use crate::render::escape;

/// Breaks a text between words into lines of at most `width` cells, and indents all lines but the first. A longer
/// word stays whole, so that names can be copied; the frame cuts its line.
pub(super) fn wrapped(text: &str, indent: &str, width: usize) -> Vec<String> {
    let safe = escape::line(text);
    if get_text_width(&safe) <= width {
        return vec![safe.into_owned()];
    }
    let mut lines = Vec::new();
    let (mut line, mut has_word) = (String::new(), false);
    for piece in safe.split_inclusive(' ') {
        let is_blank = piece.trim().is_empty();
        if has_word && get_text_width(&line) + get_text_width(piece.trim_end()) > width {
            lines.push(line.trim_end().to_owned());
            (line, has_word) = (indent.to_owned(), false);
        }
        if has_word || !is_blank || lines.is_empty() {
            line += piece;
        }
        has_word |= !is_blank;
    }
    lines.push(line.trim_end().to_owned());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_broken_between_words() {
        let text = "  ! web-1 and 2 more  app: CrashLoopBackOff, exit 1";
        for (width, lines) in [
            (80, &["  ! web-1 and 2 more  app: CrashLoopBackOff, exit 1"] as &[_]),
            (30, &["  ! web-1 and 2 more  app:", "    CrashLoopBackOff, exit 1"]),
            (20, &["  ! web-1 and 2 more", "    app:", "    CrashLoopBackOff,", "    exit 1"]),
            (10, &["  ! web-1", "    and 2", "    more", "    app:", "    CrashLoopBackOff,", "    exit 1"]),
        ] {
            assert_eq!(wrapped(text, "    ", width), lines, "{width}");
        }
        assert_eq!(wrapped("大大 大大", "", 4), ["大大", "大大"]);
        assert_eq!(wrapped("\x1b[2J", "", 80), ["^[[2J"]);
    }
}
