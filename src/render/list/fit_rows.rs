//! Fits the rows of `list` into the width of a terminal.

use super::columns::{CellWidth, Row};
use crate::render::fit_width::{LongWord, wrapped};
use crate::render::frame::FrameLine;
use crate::render::frame::columns::aligned;
use crate::render::style::Style;

/// The indentation of a cause below its row.
const INDENT: &str = "    ";

/// The minimum width of a shortened name.
const MIN_NAME_WIDTH: usize = 12;

/// What rows have to fit into.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// The width of a line.
    pub(super) width: usize,
    /// Whether the first row is the header.
    pub(super) has_header: bool,
    /// The most lines of one cause.
    pub(super) cause_lines: usize,
    /// The column whose cells may lose their middle, if everything else does not suffice.
    pub(super) shortened_column: Option<usize>,
}

/// Returns the lines of each row: one line if all rows fit. Otherwise each cause goes below its row, wrapped between
/// words, so that a command in it can be copied. If the other columns do not fit either, they get short names.
pub(super) fn fitted(rows: impl Fn(CellWidth) -> Vec<Row>, room: Room) -> Vec<Vec<FrameLine>> {
    let full = rows(CellWidth::Full);
    let fits = |lines: &[FrameLine]| lines.iter().all(|line| line.cells() <= room.width);
    let lines = unfitted(full.clone());
    if fits(&lines) {
        return lines.into_iter().map(|line| vec![line]).collect();
    }
    let (mut lines, mut causes) = split(full, None);
    if !fits(&lines) {
        (lines, causes) = split(rows(CellWidth::Short), Some(room));
    }
    let blocks = lines.into_iter().zip(causes).enumerate().map(|(index, (line, cause))| {
        let has_cause = !(room.has_header && index == 0);
        let cause = if has_cause { lines_of(&cause, room) } else { Vec::new() };
        std::iter::once(line).chain(cause).collect()
    });
    blocks.collect()
}

/// Returns one line for each row, of any width.
pub(super) fn unfitted(rows: Vec<Row>) -> Vec<FrameLine> {
    aligned(rows.into_iter().map(Row::into_cells).collect())
}

impl Row {
    /// Returns all cells, the cause last.
    pub(super) fn into_cells(mut self) -> Vec<FrameLine> {
        self.cells.push(self.cause);
        self.cells
    }
}

/// Returns the aligned cells before the cause of each row, and the causes. With a room, names lose their middle if the
/// cells do not fit.
fn split(mut rows: Vec<Row>, room: Option<Room>) -> (Vec<FrameLine>, Vec<FrameLine>) {
    let causes = rows.iter_mut().map(|row| std::mem::take(&mut row.cause)).collect();
    let mut cells: Vec<_> = rows.into_iter().map(|row| row.cells).collect();
    let lines = aligned(cells.clone());
    let width = lines.iter().map(FrameLine::cells).max().unwrap_or_default();
    let excess = room.map_or(0, |room| width.saturating_sub(room.width));
    let Some(column) = room.and_then(|room| room.shortened_column).filter(|_| excess > 0) else {
        return (lines, causes);
    };
    let names =
        cells.iter().filter_map(|row| row.get(column)).map(FrameLine::cells).max().unwrap_or_default();
    for name in cells.iter_mut().filter_map(|row| row.get_mut(column)) {
        *name = std::mem::take(name).shortened_to(names.saturating_sub(excess).max(MIN_NAME_WIDTH));
    }
    (aligned(cells), causes)
}

/// Wraps a cause between words.
fn lines_of(cause: &FrameLine, room: Room) -> Vec<FrameLine> {
    if cause.cells() == 0 {
        return Vec::new();
    }
    let style = cause.spans().first().map_or(Style::Plain, |span| span.style);
    let text = format!("{INDENT}{}", cause.text());
    let lines = wrapped(&text, INDENT, room.width, room.cause_lines, LongWord::Keep);
    lines.into_iter().map(|line| FrameLine::default().with(style, line)).collect()
}
