//! Columns of lines that belong together.

use super::line::Line;

/// Two blanks between columns, as tables have them.
const GAP: usize = 2;

/// Rows whose cells begin in the same columns. What is missing at the end of a row is left out.
pub(super) fn aligned(rows: Vec<Vec<Line>>) -> Vec<Line> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            rows.iter().filter_map(|row| row.get(column)).map(Line::cells).max().unwrap_or_default()
        })
        .collect();
    rows.into_iter().map(|row| joined(row, &widths)).collect()
}

fn joined(row: Vec<Line>, widths: &[usize]) -> Line {
    let (mut line, mut column) = (Line::default(), 0);
    for (cell, width) in row.into_iter().zip(widths) {
        if cell.cells() > 0 {
            line = line.padded_to(column).joined_with(cell);
        }
        column += if *width == 0 { 0 } else { width + GAP };
    }
    line
}
