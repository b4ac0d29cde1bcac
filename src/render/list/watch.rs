//! `list --watch`: frames for a terminal, and changed lines.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

use super::columns::{CellWidth, ListRow, Room, TableOptions, fitted, header, row, row_with};
use super::item_json;
use crate::model::kind::verdict::RolloutState;
use crate::model::view::{RolloutView, StateCounts};
use crate::render::columns::aligned;
use crate::render::fit_width::LongWord;
use crate::render::frame::{Frame, usable_height, usable_width};
use crate::render::json::event_document;
use crate::render::line::{Line, Style};
use crate::world::Terminal;

/// The most lines of one cause on a terminal, so that it does not push other rollouts away.
const CAUSE_LINES: usize = 3;

/// A row, and whether it has changed.
type WatchedRow<'a> = (&'a RolloutView, bool);

/// The rollouts at one moment.
#[derive(Clone, Debug)]
pub struct WatchedRollouts<'a> {
    /// The rollouts to show, each with whether it changed lately.
    pub shown: &'a [WatchedRow<'a>],
    /// How many of all rollouts are in each state.
    pub all: StateCounts,
    /// The time that ages are relative to.
    pub now: Timestamp,
}

/// The rollouts of `list --watch`.
#[derive(Debug)]
pub struct WatchedList {
    options: TableOptions,
    /// The widths of the columns of the lines that were printed.
    widths: Vec<usize>,
}

impl WatchedList {
    /// Creates an empty list.
    #[must_use]
    pub fn new(options: TableOptions) -> Self {
        // A later row can have a longer state than the first ones.
        let mut widths = vec![0; 2 + usize::from(options.namespaces)];
        widths.push(widest_state());
        Self { options, widths }
    }

    /// Sets the time that ages are relative to.
    pub fn set_time(&mut self, now: Timestamp) {
        self.options.now = now;
    }

    /// Returns the header and the first lines.
    pub fn first_lines(&mut self, rollouts: &[&RolloutView]) -> Vec<Line> {
        let header = self.options.headers.then(|| header(self.options, CellWidth::Full));
        let rows = rollouts.iter().map(|rollout| row(rollout, self.options, CellWidth::Full));
        self.padded(header.into_iter().chain(rows).collect())
    }

    /// Returns the lines of changed rollouts, in the columns of the first ones.
    pub fn lines(&mut self, rollouts: &[&RolloutView]) -> Vec<Line> {
        self.padded(rollouts.iter().map(|rollout| row(rollout, self.options, CellWidth::Full)).collect())
    }

    /// Returns the lines of deleted workloads.
    pub fn deleted_lines(&mut self, rollouts: &[RolloutView]) -> Vec<Line> {
        let deleted = Line::of("deleted");
        let row = |rollout| row_with(rollout, self.options, CellWidth::Full, deleted.clone());
        self.padded(rollouts.iter().map(row).collect())
    }

    /// Aligns rows below those that were printed before.
    fn padded(&mut self, rows: Vec<ListRow>) -> Vec<Line> {
        let rows: Vec<_> = rows.into_iter().map(ListRow::into_cells).collect();
        for (column, cell) in rows.iter().flat_map(|row| row.iter().enumerate()) {
            match self.widths.get_mut(column) {
                Some(width) => *width = cell.cells().max(*width),
                None => self.widths.push(cell.cells()),
            }
        }
        let widest = self.widths.iter().map(|width| Line::of(" ".repeat(*width))).collect();
        aligned(std::iter::once(widest).chain(rows).collect()).split_off(1)
    }

    /// Returns a frame that fits the terminal: the rollouts from the top, a line that counts the hidden ones, and a line
    /// that counts the states of all. A changed row has a `*`.
    #[must_use]
    pub fn frame(&self, rollouts: WatchedRollouts<'_>, size: Terminal) -> Frame {
        self.frame_of(rollouts, usable_height(size), size)
    }

    /// Returns the last frame, which stays on the terminal, with all rollouts.
    #[must_use]
    pub fn last_frame(&self, rollouts: WatchedRollouts<'_>, size: Terminal) -> Frame {
        self.frame_of(rollouts, usize::MAX, size)
    }

    fn frame_of(&self, rollouts: WatchedRollouts<'_>, height: usize, size: Terminal) -> Frame {
        let WatchedRollouts { shown, all, now } = rollouts;
        let options = TableOptions { now, ..self.options };
        let room = Room {
            width: usable_width(size),
            has_header: options.headers,
            cause_lines: CAUSE_LINES,
            long: LongWord::Keep,
            shortened_column: Some(usize::from(options.namespaces)),
        };
        let possible = shown.get(..height.min(shown.len())).unwrap_or_default();
        let rows = |width| -> Vec<ListRow> {
            let rows = possible
                .iter()
                .map(|(rollout, is_changed)| marked(*is_changed, options, row(rollout, options, width)));
            let header = options.headers.then(|| marked(false, options, header(options, width)));
            header.into_iter().chain(rows).collect()
        };
        let mut blocks = fitted(rows, room).into_iter();
        let mut lines: Vec<Line> = blocks.by_ref().take(usize::from(options.headers)).flatten().collect();
        let mut hidden = shown;
        for block in blocks {
            let others = usize::from(hidden.len() > 1); // the line that counts the hidden ones
            if lines.len() + block.len() + others + 1 > height {
                break;
            }
            lines.extend(block);
            hidden = hidden.get(1..).unwrap_or_default();
        }
        if !hidden.is_empty() {
            let counts = StateCounts::of(hidden.iter().map(|(rollout, _)| *rollout));
            let words = format!("  and {} more: {}", hidden.len(), counts.states());
            lines.push(Line::styled(Style::Dim, words));
        }
        lines.push(Line::of(format!("  {}", all.words())));
        Frame::new(lines, size)
    }
}

/// Returns a row with a `*` before it if it has changed, and with a cell for its state that has room for every state.
/// Otherwise each change of a state would move the columns after it.
fn marked(is_changed: bool, options: TableOptions, mut row: ListRow) -> ListRow {
    let mark = Line::styled(Style::Warning, if is_changed { "*" } else { " " });
    if let Some(first) = row.cells.first_mut() {
        *first = mark.with(Style::Plain, " ").joined_with(std::mem::take(first));
    }
    if let Some(state) = row.cells.get_mut(2 + usize::from(options.namespaces)) {
        *state = std::mem::take(state).padded_to(widest_state());
    }
    row
}

/// Returns the width of the longest name of a state.
fn widest_state() -> usize {
    RolloutState::ALL.iter().map(|state| state.word().len()).max().unwrap_or_default()
}

/// Returns an event as one line of JSON. docs/json.md documents the fields.
#[must_use]
pub fn event_json(event: &str, rollout: &RolloutView, elapsed: Duration) -> String {
    let mut document = event_document("RolloutListEvent", event, elapsed);
    document["rollout"] = item_json(rollout);
    format!("{document}\n")
}
