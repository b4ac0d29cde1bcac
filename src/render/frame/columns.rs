//! Aligns the cells of styled lines in columns.

use super::line::FrameLine;

/// The spaces between two columns, as in tables.
pub(in crate::render) const GAP: usize = 2;

/// Aligns the cells of rows. Rows may have different numbers of cells.
pub(in crate::render) fn aligned(rows: Vec<Vec<FrameLine>>) -> Vec<FrameLine> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            rows.iter().filter_map(|row| row.get(column)).map(FrameLine::cells).max().unwrap_or_default()
        })
        .collect();
    rows.into_iter().map(|row| joined(row, &widths)).collect()
}

/// Shortens the cells of one column, so that rows become narrower by `excess`, to at least `fewest` cells each.
pub(in crate::render) fn shorten_column(
    rows: &mut [Vec<FrameLine>],
    column: usize,
    excess: usize,
    fewest: usize,
) {
    let widest = rows.iter().filter_map(|row| row.get(column)).map(FrameLine::cells).max();
    let room = widest.unwrap_or_default().saturating_sub(excess).max(fewest);
    for cell in rows.iter_mut().filter_map(|row| row.get_mut(column)) {
        *cell = std::mem::take(cell).shortened_to(room);
    }
}

/// Returns one row with its cells in columns of these widths.
pub(in crate::render) fn joined(row: Vec<FrameLine>, widths: &[usize]) -> FrameLine {
    let (mut line, mut column) = (FrameLine::default(), 0);
    for (cell, width) in row.into_iter().zip(widths) {
        if cell.cells() > 0 {
            line = line.padded_to(column).joined_with(cell);
        }
        column += if *width == 0 { 0 } else { width + GAP };
    }
    line
}
