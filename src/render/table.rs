//! Tables as kubectl prints them: left-aligned columns, two spaces apart.

use tabled::builder::Builder;
use tabled::settings::{Padding, Style as TableStyle};

use super::escape;
use super::fit_width::{beginning, cells, shortened_to};
use super::frame::columns::GAP;
use super::style::{Span, Style};

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

    /// Returns the table with the cells of one column styled by their text.
    #[must_use]
    pub(super) fn styled(self, name: &str, style: impl Fn(&str) -> Style) -> Vec<Span> {
        let header = self.rows.first().map(Vec::as_slice).unwrap_or_default();
        let column = header.iter().position(|word| word == name).unwrap_or_default();
        let start: usize = (0..column).map(|before| self.column_width(before) + GAP).sum();
        let cells: Vec<String> = self.rows.iter().filter_map(|row| row.get(column).cloned()).collect();
        let text = self.text();
        let lines = text.split_inclusive('\n').zip(cells).enumerate();
        let lines = lines.flat_map(|(index, (line, cell))| {
            let (before, rest) = line.split_at(beginning(line.trim_end(), start).len());
            let after = rest.strip_prefix(&cell).unwrap_or(rest);
            let style = if index == 0 { Style::Plain } else { style(&cell) };
            [Span::plain(before), Span::new(style, &rest[..rest.len() - after.len()]), Span::plain(after)]
        });
        lines.filter(|span| !span.text.is_empty()).collect()
    }

    /// Returns the table as text, without spaces at the ends of lines.
    #[must_use]
    pub(super) fn text(self) -> String {
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
        let spans = table.styled("STATE", |_| Style::Good);
        let styled: Vec<_> = spans.iter().filter(|span| span.style == Style::Good).collect();
        assert_eq!(styled, [&Span::new(Style::Good, "current")]);
        let text: String = spans.iter().map(|span| span.text.as_str()).collect();
        assert_eq!(text, "A    STATE    B\n大x  current  c\ny             d\n");
    }

    #[test]
    fn a_narrow_terminal_shortens_the_flexible_column() {
        let mut narrow = table();
        narrow.fit(46, &["CHANGES"]);
        assert_eq!(narrow.text().lines().nth(1), Some("1         image shop/web:1.1,…  because\\nof it"));
    }
}
