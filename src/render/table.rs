//! Tables as kubectl prints them: left-aligned columns, two spaces apart.

use super::escape;
use super::fit_width::{cells, shortened_to};
use super::frame::columns::{GAP, aligned};
use super::frame::line::FrameLine;

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
        let rows = self.rows.into_iter().map(|row| row.into_iter().map(FrameLine::of).collect());
        aligned(rows.collect()).iter().fold(String::new(), |text, line| text + line.text().trim_end() + "\n")
    }

    fn width(&self) -> usize {
        let columns = self.rows.first().map_or(0, Vec::len);
        let widths: usize = (0..columns).map(|column| self.column_width(column) + GAP).sum();
        widths.saturating_sub(GAP)
    }

    fn column_width(&self, column: usize) -> usize {
        self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cells(cell)).max().unwrap_or(0)
    }
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
}
