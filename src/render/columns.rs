//! Aligns columns, in cells of a terminal: rows of styled cells, and tables with a header as kubectl prints them. Also writes
//! tables in Markdown, in which text from the cluster stays text.

use tabled::builder::Builder;
use tabled::settings::{Padding, Style as TableStyle};

use super::line::{Line, Style};
use crate::model::text::secret::without_secrets;

/// The spaces between two columns.
const GAP: usize = 2;

/// Aligns the cells of rows. Rows may have different numbers of cells. A column without text takes no space.
pub(super) fn aligned(rows: Vec<Vec<Line>>) -> Vec<Line> {
    let shown: Vec<usize> = (0..columns(&rows)).filter(|column| width_of(&rows, *column) > 0).collect();
    let texts = |row: &Vec<Line>| -> Vec<String> {
        shown.iter().map(|column| row.get(*column).map(Line::text).unwrap_or_default()).collect()
    };
    let mut table = rows.iter().map(texts).collect::<Builder>().build();
    table.with(TableStyle::empty()).with(Padding::new(0, GAP, 0, 0));
    let text = table.to_string();
    let lines = text.lines().chain(std::iter::repeat(""));
    rows.into_iter().zip(lines).map(|(row, line)| styled(row, line)).collect()
}

/// Returns the text of a row with the styles of its cells, without spaces at its end.
fn styled(row: Vec<Line>, text: &str) -> Line {
    let (mut line, mut rest) = (Line::default(), text);
    for cell in row.into_iter().filter(|cell| cell.cells() > 0) {
        let (space, after) = rest.split_once(&cell.text()).unwrap_or((" ", rest));
        line = line.with(Style::Plain, space).joined_with(cell);
        rest = after;
    }
    line
}

/// How a cell is shortened to a width.
pub(super) type Shorten = fn(Line, usize) -> Line;

/// Shortens columns, in this order, each to no less than its number of cells, until the aligned rows fit into `width`. If
/// that is not enough, the rows stay wider, because a dropped column or a wrapped cell would mislead.
pub(super) fn fit(rows: &mut [Vec<Line>], width: usize, shortened: &[(usize, usize)], shorten: Shorten) {
    for &(column, fewest) in shortened {
        let widths = (0..columns(rows)).map(|column| width_of(rows, column)).filter(|width| *width > 0);
        let excess = widths.map(|width| width + GAP).sum::<usize>().saturating_sub(width.saturating_add(GAP));
        let room = width_of(rows, column).saturating_sub(excess).max(fewest);
        for cell in rows.iter_mut().filter_map(|row| row.get_mut(column)) {
            *cell = shorten(std::mem::take(cell), room);
        }
    }
}

fn columns(rows: &[Vec<Line>]) -> usize {
    rows.iter().map(Vec::len).max().unwrap_or_default()
}

fn width_of(rows: &[Vec<Line>], column: usize) -> usize {
    rows.iter().filter_map(|row| row.get(column)).map(Line::cells).max().unwrap_or_default()
}

/// A table with a header.
#[derive(Debug)]
pub(super) struct Table {
    rows: Vec<Vec<Line>>,
}

impl Table {
    /// Creates a table with a header.
    #[must_use]
    pub(super) fn new(header: &[&str]) -> Self {
        Self { rows: vec![header.iter().map(Line::of).collect()] }
    }

    /// Adds a row.
    pub(super) fn row(&mut self, cells: Vec<Line>) {
        self.rows.push(cells);
    }

    /// Shortens the ends of the columns with these names, as [`fit`].
    pub(super) fn fit(&mut self, width: usize, shortened: &[(&str, usize)]) {
        let header = self.rows.first().map(Vec::as_slice).unwrap_or_default();
        let index = |name: &str| header.iter().position(|word| word.text() == name);
        let shortened: Vec<_> =
            shortened.iter().filter_map(|(name, fewest)| Some((index(name)?, *fewest))).collect();
        fit(&mut self.rows, width, &shortened, Line::cut_to);
    }

    /// Returns the lines of the table.
    #[must_use]
    pub(super) fn lines(self) -> Vec<Line> {
        aligned(self.rows)
    }

    /// Returns the lines of the table in Markdown.
    #[must_use]
    pub(super) fn markdown(self) -> Vec<Line> {
        let cells = |row: &Vec<Line>| markdown_row(row.iter().map(|cell| markdown_cell(&cell.text())));
        let mut lines: Vec<String> = self.rows.iter().map(cells).collect();
        lines.insert(1, markdown_row(vec!["---".to_owned(); columns(&self.rows)]));
        lines.into_iter().map(Line::of).collect()
    }
}

/// Returns a text as code, in which Markdown and HTML mean nothing. Secret-looking values are masked.
pub(super) fn code(text: &str) -> String {
    let text = without_secrets(text);
    let text = Line::of(text.trim()).text().replace('`', "'").replace('|', "\\|");
    if text.is_empty() { text } else { format!("`{text}`") }
}

/// Returns the cell of a table: as it is if Markdown cannot change it, and otherwise as code.
fn markdown_cell(text: &str) -> String {
    let is_plain = |character: char| {
        character.is_ascii_alphanumeric() || matches!(character, ' ' | ',' | '/' | '(' | ')' | '-')
    };
    if text.chars().all(is_plain) { text.trim().to_owned() } else { code(text) }
}

/// Returns a row of a table.
fn markdown_row(cells: impl IntoIterator<Item = String>) -> String {
    cells.into_iter().fold("|".to_owned(), |row, cell| format!("{row} {cell} |"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&["REVISION", "CHANGES", "CAUSE"]);
        table.row(["1", "image shop/web:1.1, env MODE=prod", "because\nof it"].map(Line::of).to_vec());
        table
    }

    fn texts(lines: &[Line]) -> Vec<String> {
        lines.iter().map(Line::text).collect()
    }

    #[test]
    fn columns_are_two_blanks_apart_and_lines_end_without_blanks() {
        let expected = [
            "REVISION  CHANGES                            CAUSE",
            "1         image shop/web:1.1, env MODE=prod  because\\nof it",
        ];
        assert_eq!(texts(&table().lines()), expected);
    }

    #[test]
    fn cells_keep_their_styles() {
        let current = Line::styled(Style::Good, "current");
        let rows = vec![
            vec![Line::of("A"), Line::of("STATE"), Line::default(), Line::of("B")],
            vec![Line::of("大x"), current, Line::default(), Line::of("c")],
            vec![Line::of("y"), Line::default(), Line::default(), Line::of("d")],
            vec![],
        ];
        let lines = aligned(rows);
        let spaced = |line: Line| line.with(Style::Plain, "  ");
        let expected = spaced(spaced(Line::of("大x")).with(Style::Good, "current")).with(Style::Plain, "c");
        assert_eq!(lines[1], expected);
        assert_eq!(texts(&lines), ["A    STATE    B", "大x  current  c", "y             d", ""]);
    }

    #[test]
    fn markdown_has_a_line_below_the_header() {
        let expected = [
            "| REVISION | CHANGES | CAUSE |",
            "| --- | --- | --- |",
            "| 1 | `image shop/web:1.1, env MODE=prod` | `because\\nof it` |",
        ];
        assert_eq!(texts(&table().markdown()), expected);
    }

    #[test]
    fn a_narrow_terminal_shortens_the_flexible_column() {
        let mut narrow = table();
        narrow.fit(46, &[("CHANGES", 12)]);
        assert_eq!(texts(&narrow.lines())[1], "1         image shop/web:1.1,…  because\\nof it");
    }

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
            assert_eq!(markdown_cell(text), expected);
        }
        assert_eq!(markdown_row(["a".to_owned(), String::new()]), "| a |  |");
    }
}
