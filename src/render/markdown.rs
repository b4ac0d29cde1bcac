//! Text in Markdown, in which text from the cluster stays text.

use super::line::Line;
use crate::model::text::secret::without_secrets;

/// Returns a text as code, in which Markdown and HTML mean nothing. Secret-looking values are masked.
pub(super) fn code(text: &str) -> String {
    let text = without_secrets(text);
    let text = Line::of(text.trim()).text().replace('`', "'").replace('|', "\\|");
    if text.is_empty() { text } else { format!("`{text}`") }
}

/// Returns the cell of a table: as it is if Markdown cannot change it, and otherwise as code.
pub(super) fn cell(text: &str) -> String {
    let is_plain = |character: char| {
        character.is_ascii_alphanumeric() || matches!(character, ' ' | ',' | '/' | '(' | ')' | '-')
    };
    if text.chars().all(is_plain) { text.trim().to_owned() } else { code(text) }
}

/// Returns a row of a table.
pub(super) fn row(cells: impl IntoIterator<Item = String>) -> String {
    cells.into_iter().fold("|".to_owned(), |row, cell| format!("{row} {cell} |"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_words_are_not_code() {
        for (text, expected) in [
            ("", ""),
            ("deployment/web", "deployment/web"),
            ("6 (was 4)", "6 (was 4)"),
            ("image web:1.1", "`image web:1.1`"),
            ("www.example.com", "`www.example.com`"),
            ("a|b `c` <b>", "`a\\|b 'c' <b>`"),
            ("DB_PASSWORD=hunter2", "`DB_PASSWORD=***`"),
            ("two\nlines", "`two\\nlines`"),
        ] {
            assert_eq!(cell(text), expected);
        }
        assert_eq!(row(["a".to_owned(), String::new()]), "| a |  |");
    }
}
