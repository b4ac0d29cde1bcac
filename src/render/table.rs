//! Tables as kubectl prints them: left-aligned columns, two spaces apart.

use tabled::builder::Builder;
use tabled::grid::util::string::get_text_width;
use tabled::settings::{Padding, Style};

use super::escape;

/// The minimum width of a shortened column. A table that does not fit then stays wider than the terminal.
const NARROWEST: usize = 12;

/// A table with a header. Cells may hold untrusted text, which is escaped.
#[derive(Debug)]
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Creates a table with a header.
    #[must_use]
    pub(super) fn new(header: &[&str]) -> Self {
        Self { rows: vec![header.iter().map(|&word| word.to_owned()).collect()] }
    }

    /// Adds a row.
    pub(super) fn row(&mut self, cells: &[String]) {
        self.rows.push(cells.iter().map(|cell| escape::line(cell).into_owned()).collect());
    }

    /// Shortens the given columns, in that order, until the table fits into `width`. If that is not enough, the
    /// table stays wider, because a dropped column or a wrapped cell would mislead.
    pub(super) fn fit(&mut self, width: usize, shortened: &[&str]) {
        for name in shortened {
            let Some(column) =
                self.rows.first().and_then(|header| header.iter().position(|word| word == name))
            else {
                continue;
            };
            let excess = self.width().saturating_sub(width);
            let wanted = self.column_width(column).saturating_sub(excess).max(NARROWEST);
            for cell in self.rows.iter_mut().filter_map(|row| row.get_mut(column)) {
                *cell = shortened_to(cell, wanted);
            }
        }
    }

    /// Returns the table as text, without spaces at the ends of lines.
    #[must_use]
    pub(super) fn text(self) -> String {
        let mut table = Builder::from_iter(self.rows).build();
        table.with(Style::empty()).with(Padding::new(0, 2, 0, 0));
        table.to_string().lines().fold(String::new(), |text, line| text + line.trim_end() + "\n")
    }

    fn width(&self) -> usize {
        let columns = self.rows.first().map_or(0, Vec::len);
        let widths: usize = (0..columns).map(|column| self.column_width(column) + 2).sum();
        widths.saturating_sub(2)
    }

    fn column_width(&self, column: usize) -> usize {
        self.rows.iter().filter_map(|row| row.get(column)).map(|cell| get_text_width(cell)).max().unwrap_or(0)
    }
}

/// Shortens a text to `width` cells of a terminal, with an ellipsis if something was cut. Wide characters take
/// two cells.
pub(super) fn shortened_to(text: &str, width: usize) -> String {
    if get_text_width(text) <= width {
        return text.to_owned();
    }
    format!("{}…", beginning(text, width.saturating_sub(1)).trim_end())
}

/// Returns the longest beginning of a text that fits into `width` cells.
pub(super) fn beginning(text: &str, width: usize) -> &str {
    // A binary search, because a text may have a hundred thousand characters of zero width.
    let ends: Vec<usize> =
        text.char_indices().map(|(start, character)| start + character.len_utf8()).collect();
    let fitting = ends.partition_point(|&end| get_text_width(&text[..end]) <= width);
    let end = fitting.checked_sub(1).and_then(|last| ends.get(last)).copied().unwrap_or_default();
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&["REVISION", "CHANGES", "CAUSE"]);
        table.row(&["1".into(), "image shop/web:1.1, env MODE=prod".into(), "because\nof it".into()]);
        table
    }

    #[test]
    fn columns_are_two_blanks_apart_and_lines_end_without_blanks() {
        assert_eq!(
            table().text(),
            "REVISION  CHANGES                            CAUSE\n1         image shop/web:1.1, env MODE=prod  because\\nof it\n"
        );
    }

    #[test]
    fn a_narrow_terminal_shortens_the_flexible_column() {
        let mut narrow = table();
        narrow.fit(46, &["CHANGES"]);
        assert_eq!(narrow.text().lines().nth(1), Some("1         image shop/web:1.1,…  because\\nof it"));
    }

    #[test]
    fn wide_characters_take_two_cells() {
        assert_eq!(shortened_to("大大大大", 5), "大大…");
        assert_eq!(shortened_to("大大", 4), "大大");
    }

    #[test]
    fn zero_width_characters_stay_with_their_base_character() {
        assert_eq!(shortened_to("e\u{301}e\u{301}e\u{301}e\u{301}", 3), "e\u{301}e\u{301}…");
        assert_eq!(shortened_to(&format!("ab{}", "\u{301}".repeat(1 << 17)), 1), "…");
    }
}
