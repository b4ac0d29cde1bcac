//! Aligns columns, in cells of a terminal: rows of styled cells, and tables with a header as kubectl prints them. Also writes
//! tables in Markdown, in which text from the cluster stays text.

use std::fmt::Display;

use tabled::builder::Builder;
use tabled::settings::{Padding, Style as TableStyle};

use super::line::{Line, Style};
use crate::model::text::secret::without_secrets;

/// The spaces between two columns.
const GAP: usize = 2;

/// Aligns the cells of rows. Rows may have different numbers of cells. A column without text takes no space.
pub(super) fn aligned(rows: Vec<Vec<Line>>) -> Vec<Line> {
    aligned_apart(rows, GAP)
}

/// Aligns the cells of rows as [`aligned`] does, with `gap` spaces between two columns. The last column is not padded: one
/// of its cells may have a megabyte.
pub(super) fn aligned_apart(rows: Vec<Vec<Line>>, gap: usize) -> Vec<Line> {
    let widths = widths(&rows);
    let last = widths.iter().rposition(|width| *width > 0).unwrap_or_default();
    let texts = |row: &Vec<Line>| -> Vec<String> {
        let cells = widths.iter().enumerate().take(last).filter(|(_, width)| **width > 0);
        cells.map(|(column, _)| row.get(column).map(Line::text).unwrap_or_default()).collect()
    };
    let mut table = rows.iter().map(texts).collect::<Builder>().build();
    table.with(TableStyle::empty()).with(Padding::new(0, gap, 0, 0));
    let text = table.to_string();
    let lines = text.lines().chain(std::iter::repeat(""));
    rows.into_iter().zip(lines).map(|(row, line)| styled(row, line, last)).collect()
}

/// Returns the text of a row with the styles of its cells, without spaces at its end. The text lacks the last column.
fn styled(row: Vec<Line>, text: &str, last: usize) -> Line {
    let (mut line, mut rest) = (Line::default(), text);
    for (column, cell) in row.into_iter().enumerate().filter(|(_, cell)| cell.cells() > 0) {
        let (space, after) =
            if column < last { rest.split_once(&cell.text()).unwrap_or((" ", rest)) } else { (rest, "") };
        line = line.with(Style::Plain, space).joined_with(cell);
        rest = after;
    }
    line
}

/// Returns the cell of a fact; `-` for one that is not known.
pub(super) fn or_dash(fact: Option<impl Display>) -> Line {
    Line::of(fact.map_or_else(|| "-".to_owned(), |fact| fact.to_string()))
}

/// Returns the cell of a revision: its number, with the one that it had before: `5 (was 2)`.
pub(super) fn number_cell(number: Option<i64>, was: Option<i64>) -> Line {
    let was = was.map(|was| format!(" (was {was})")).unwrap_or_default();
    or_dash(number.map(|number| format!("{number}{was}")))
}

/// How a cell is shortened to a width.
pub(super) type Shorten = fn(Line, usize) -> Line;

/// Shortens columns, in this order, each to no less than its number of cells, until the aligned rows fit into `width`. If
/// that is not enough, the rows stay wider, because a dropped column or a wrapped cell would mislead.
pub(super) fn fit(rows: &mut [Vec<Line>], width: usize, shortened: &[(usize, usize)], shorten: Shorten) {
    for &(column, fewest) in shortened {
        let excess = aligned_width(rows).saturating_sub(width);
        let widest = widths(rows).get(column).copied().unwrap_or_default();
        let room = widest.saturating_sub(excess).max(fewest);
        for cell in rows.iter_mut().filter_map(|row| row.get_mut(column)) {
            *cell = shorten(std::mem::take(cell), room);
        }
    }
}

/// Whether the aligned rows fit into a width.
pub(super) fn is_within(rows: &[Vec<Line>], width: usize) -> bool {
    aligned_width(rows) <= width
}

/// Returns the width of the aligned rows.
fn aligned_width(rows: &[Vec<Line>]) -> usize {
    let widths = widths(rows).into_iter().filter(|width| *width > 0);
    widths.map(|width| width + GAP).sum::<usize>().saturating_sub(GAP)
}

/// Returns the width of the widest cell of each column.
pub(super) fn widths(rows: &[Vec<Line>]) -> Vec<usize> {
    let mut widths = Vec::new();
    for row in rows {
        widths.resize(row.len().max(widths.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.cells().max(*width);
        }
    }
    widths
}

/// Returns the lines of a table in Markdown.
pub(super) fn markdown(rows: &[Vec<Line>]) -> Vec<Line> {
    let cells = |row: &Vec<Line>| markdown_row(row.iter().map(|cell| markdown_cell(&cell.text())));
    let mut lines: Vec<String> = rows.iter().map(cells).collect();
    lines.insert(1, markdown_row(vec!["---".to_owned(); widths(rows).len()]));
    lines.into_iter().map(Line::of).collect()
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

    fn rows() -> Vec<Vec<Line>> {
        let row = ["1", "image shop/web:1.1, env MODE=prod", "because\nof it"];
        [["REVISION", "CHANGES", "CAUSE"], row].map(|row| row.map(Line::of).to_vec()).to_vec()
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
        assert_eq!(texts(&aligned(rows())), expected);
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
        assert_eq!(texts(&markdown(&rows())), expected);
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
