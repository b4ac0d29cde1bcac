//! Aligns columns, in cells of a terminal: rows of styled cells, and tables with a header as kubectl prints them.

use tabled::builder::Builder;
use tabled::settings::{Padding, Style as TableStyle};

use super::fit_width::{beginning, cells, shortened_to};
use super::line::Line;
use super::markdown;
use super::style::Style;

/// The spaces between two columns, as in tables.
pub(super) const GAP: usize = 2;

/// Aligns the cells of rows. Rows may have different numbers of cells.
pub(super) fn aligned(rows: Vec<Vec<Line>>) -> Vec<Line> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            rows.iter().filter_map(|row| row.get(column)).map(Line::cells).max().unwrap_or_default()
        })
        .collect();
    rows.into_iter().map(|row| joined(row, &widths)).collect()
}

/// Shortens the cells of one column, so that rows become narrower by `excess`, to at least `fewest` cells each.
pub(super) fn shorten_column(rows: &mut [Vec<Line>], column: usize, excess: usize, fewest: usize) {
    let widest = rows.iter().filter_map(|row| row.get(column)).map(Line::cells).max();
    let room = widest.unwrap_or_default().saturating_sub(excess).max(fewest);
    for cell in rows.iter_mut().filter_map(|row| row.get_mut(column)) {
        *cell = std::mem::take(cell).shortened_to(room);
    }
}

/// Returns one row with its cells in columns of these widths.
pub(super) fn joined(row: Vec<Line>, widths: &[usize]) -> Line {
    let (mut line, mut column) = (Line::default(), 0);
    for (cell, width) in row.into_iter().zip(widths) {
        if cell.cells() > 0 {
            line = line.padded_to(column).joined_with(cell);
        }
        column += if *width == 0 { 0 } else { width + GAP };
    }
    line
}

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
        self.rows.push(cells.iter().map(|cell| Line::of(cell).text()).collect());
    }

    /// Shortens the given columns, in that order, each to no less than its number of cells, until the table fits into
    /// `width`. If that is not enough, the table stays wider, because a dropped column or a wrapped cell would mislead.
    pub(super) fn fit(&mut self, width: usize, shortened: &[(&str, usize)]) {
        for (name, fewest) in shortened {
            let Some(column) =
                self.rows.first().and_then(|header| header.iter().position(|word| word == name))
            else {
                continue;
            };
            let excess = self.width().saturating_sub(width);
            let wanted = self.column_width(column).saturating_sub(excess).max(*fewest);
            for cell in self.rows.iter_mut().filter_map(|row| row.get_mut(column)) {
                *cell = shortened_to(cell, wanted);
            }
        }
    }

    /// Returns the lines of the table, with the cells of one column styled by their text.
    #[must_use]
    pub(super) fn lines(self, name: &str, style: impl Fn(&str) -> Style) -> Vec<Line> {
        let header = self.rows.first().map(Vec::as_slice).unwrap_or_default();
        let column = header.iter().position(|word| word == name).unwrap_or_default();
        let start: usize = (0..column).map(|before| self.column_width(before) + GAP).sum();
        let cells: Vec<String> = self.rows.iter().filter_map(|row| row.get(column).cloned()).collect();
        let text = self.text();
        let lines = text.lines().zip(cells).enumerate();
        let lines = lines.map(|(index, (line, cell))| {
            let (before, rest) = line.split_at(beginning(line, start).len());
            let after = rest.strip_prefix(&cell).unwrap_or(rest);
            let style = if index == 0 { Style::Plain } else { style(&cell) };
            Line::of(before).with(style, &rest[..rest.len() - after.len()]).with(Style::Plain, after)
        });
        lines.collect()
    }

    /// Returns the lines of the table in Markdown.
    #[must_use]
    pub(super) fn markdown(self) -> Vec<Line> {
        let columns = self.rows.first().map_or(0, Vec::len);
        let mut lines: Vec<String> =
            self.rows.iter().map(|row| markdown::row(row.iter().map(|cell| markdown::cell(cell)))).collect();
        if !lines.is_empty() {
            lines.insert(1, markdown::row(vec!["---".to_owned(); columns]));
        }
        lines.into_iter().map(Line::of).collect()
    }

    /// Returns the table as text, without spaces at the ends of lines.
    fn text(self) -> String {
        let mut table = Builder::from_iter(self.rows).build();
        table.with(TableStyle::empty()).with(Padding::new(0, GAP, 0, 0));
        table.to_string().lines().fold(String::new(), |text, line| text + line.trim_end() + "\n")
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
    fn one_column_is_styled() {
        let mut table = Table::new(&["A", "STATE", "B"]);
        table.row(&["大x".into(), "current".into(), "c".into()]);
        table.row(&["y".into(), String::new(), "d".into()]);
        let lines = table.lines("STATE", |_| Style::Good);
        assert_eq!(lines[1], Line::of("大x  ").with(Style::Good, "current").with(Style::Plain, "  c"));
        let text: Vec<_> = lines.iter().map(Line::text).collect();
        assert_eq!(text, ["A    STATE    B", "大x  current  c", "y             d"]);
    }

    #[test]
    fn markdown_has_a_line_below_the_header() {
        let lines: Vec<_> = table().markdown().iter().map(Line::text).collect();
        let expected = [
            "| REVISION | CHANGES | CAUSE |",
            "| --- | --- | --- |",
            "| 1 | `image shop/web:1.1, env MODE=prod` | `because\\nof it` |",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_narrow_terminal_shortens_the_flexible_column() {
        let mut narrow = table();
        narrow.fit(46, &[("CHANGES", 12)]);
        assert_eq!(narrow.text().lines().nth(1), Some("1         image shop/web:1.1,…  because\\nof it"));
    }
}
