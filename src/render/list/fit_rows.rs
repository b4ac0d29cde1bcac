//! Fits the rows of `list` into the width of a terminal.

use super::columns::{CellWidth, ListRow};
use crate::render::columns::{aligned, fit};
use crate::render::fit_width::LongWord;
use crate::render::line::Line;

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
    /// What to do with long words and commands of a cause.
    pub(super) long: LongWord,
    /// The column whose cells may lose their middle, if everything else does not suffice.
    pub(super) shortened_column: Option<usize>,
}

/// Returns the lines of each row: one line if all rows fit. Otherwise each cause goes below its row, wrapped between
/// words, so that a command in it can be copied. If the other columns do not fit either, they get short names. The
/// command of a hold goes below its row where it fits into one line.
pub(super) fn fitted(rows: impl Fn(CellWidth) -> Vec<ListRow>, room: Room) -> Vec<Vec<Line>> {
    let full = rows(CellWidth::Full);
    let commands: Vec<_> = full.iter().map(|row| command_line(&row.command, room)).collect();
    let mut blocks = blocks(full, rows, room);
    for (block, command) in blocks.iter_mut().zip(commands) {
        block.extend(command);
    }
    blocks
}

/// Returns the line of a command, where each row may have any number of lines and it fits.
fn command_line(command: &Line, room: Room) -> Option<Line> {
    let fits = command.cells() > 0 && INDENT.len() + command.cells() <= room.width;
    (fits && room.cause_lines == usize::MAX).then(|| Line::of(format!("{INDENT}{}", command.text())))
}

fn blocks(full: Vec<ListRow>, rows: impl Fn(CellWidth) -> Vec<ListRow>, room: Room) -> Vec<Vec<Line>> {
    let fits = |lines: &[Line]| lines.iter().all(|line| line.cells() <= room.width);
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
        let cause = if has_cause { lines_of(cause, room) } else { Vec::new() };
        std::iter::once(line).chain(cause).collect()
    });
    blocks.collect()
}

/// Returns one line for each row, of any width.
pub(super) fn unfitted(rows: Vec<ListRow>) -> Vec<Line> {
    aligned(rows.into_iter().map(ListRow::into_cells).collect())
}

impl ListRow {
    /// Returns all cells, the cause last.
    pub(super) fn into_cells(mut self) -> Vec<Line> {
        self.cells.push(self.cause);
        self.cells
    }
}

/// Returns the aligned cells before the cause of each row, and the causes. With a room, names lose their middle if the
/// cells do not fit.
fn split(mut rows: Vec<ListRow>, room: Option<Room>) -> (Vec<Line>, Vec<Line>) {
    let causes = rows.iter_mut().map(|row| std::mem::take(&mut row.cause)).collect();
    let mut cells: Vec<_> = rows.into_iter().map(|row| row.cells).collect();
    if let Some((room, column)) = room.and_then(|room| Some((room, room.shortened_column?))) {
        fit(&mut cells, room.width, &[(column, MIN_NAME_WIDTH)], Line::shortened_to);
    }
    (aligned(cells), causes)
}

/// Wraps a cause between words.
fn lines_of(cause: Line, room: Room) -> Vec<Line> {
    if cause.cells() == 0 {
        return Vec::new();
    }
    cause.indented(INDENT).wrapped(INDENT, room.width, room.cause_lines, room.long)
}
