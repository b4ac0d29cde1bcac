//! `list --watch`: frames for a terminal, and changed lines.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use super::columns::ListColumns;
use super::item_json;
use crate::model::kind::verdict::RolloutState;
use crate::model::view::{RolloutView, StateCounts};
use crate::render::columns::{aligned, widths};
use crate::render::json::event_document;
use crate::render::line::{Line, Style};
use crate::render::message_writer::{Frame, usable_height, usable_width};
use crate::render::narrow::{Room, narrowed};
use crate::world::Terminal;

/// The most lines of one cause on a terminal, so that it does not push other rollouts away.
const CAUSE_LINES: usize = 3;

/// The rollouts of `list --watch`.
#[derive(Debug)]
pub struct WatchedList<'a> {
    columns: ListColumns<'a>,
    /// The widths of the columns of the lines that were printed; empty before the first ones.
    widths: Vec<usize>,
}

impl<'a> WatchedList<'a> {
    /// Creates an empty list.
    #[must_use]
    pub fn new(columns: ListColumns<'a>) -> Self {
        Self { columns, widths: Vec::new() }
    }

    /// Returns the lines of changed and of deleted rollouts, in the columns of the lines before; the first ones below a
    /// header.
    pub fn lines(&mut self, changed: &[&RolloutView], deleted: &[RolloutView], now: Timestamp) -> Vec<Line> {
        let columns = self.columns;
        let header = (columns.layout.headers && self.widths.is_empty()).then(|| columns.header());
        let changed = changed.iter().map(|rollout| columns.row(rollout, now));
        let deleted = deleted.iter().map(|rollout| {
            let mut row = columns.row(rollout, now);
            row[columns.state()] = Line::of("deleted");
            row
        });
        let rows = header.into_iter().chain(changed).chain(deleted);
        let mut widest: Vec<_> = self.widths.iter().map(|width| Line::of(" ".repeat(*width))).collect();
        if widest.is_empty() {
            // A later row can have a longer state than the first ones.
            widest.resize(columns.state(), Line::default());
            widest.push(Line::of(" ".repeat(widest_state())));
        }
        let rows: Vec<Vec<Line>> = std::iter::once(widest).chain(rows).collect();
        self.widths = widths(&rows);
        aligned(rows).split_off(1)
    }

    /// Returns a frame that fits the terminal: the rollouts from the top, a line that counts the hidden ones, and a line
    /// that counts the states of all. A row that changed lately has a `*`. The last frame, which stays on the terminal, has
    /// all rollouts.
    #[must_use]
    pub fn frame(
        &self,
        shown: &[(&RolloutView, bool)],
        all: &StateCounts,
        now: Timestamp,
        is_last: bool,
        size: Terminal,
    ) -> Frame {
        let height = if is_last { usize::MAX } else { usable_height(size) };
        let (columns, has_header) = (self.columns, self.columns.layout.headers);
        let room = Room { width: usable_width(size), has_header, lines_below: CAUSE_LINES };
        let possible = shown.get(..height.min(shown.len())).unwrap_or_default();
        let rows = possible
            .iter()
            .map(|(rollout, is_changed)| marked(*is_changed, columns, columns.row(rollout, now)));
        let header = has_header.then(|| marked(false, columns, columns.header()));
        let rows = header.into_iter().chain(rows).collect();
        let mut blocks = narrowed(rows, &columns.names(), columns.narrowings(), room).into_iter();
        let mut lines: Vec<Line> = blocks.by_ref().take(usize::from(has_header)).flatten().collect();
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
fn marked(is_changed: bool, columns: ListColumns<'_>, mut row: Vec<Line>) -> Vec<Line> {
    let mark = Line::styled(Style::Warning, if is_changed { "*" } else { " " });
    if let Some(first) = row.first_mut() {
        *first = mark.with(Style::Plain, " ").joined_with(std::mem::take(first));
    }
    if let Some(state) = row.get_mut(columns.state()) {
        *state = std::mem::take(state).padded_to(widest_state());
    }
    row
}

/// Returns the width of the longest name of a state.
fn widest_state() -> usize {
    RolloutState::ALL.iter().map(|state| state.word().len()).max().unwrap_or_default()
}

/// Returns an event. docs/json.md documents the fields.
#[must_use]
pub fn event_json(event: &str, rollout: &RolloutView, elapsed: Duration) -> Value {
    event_document("RolloutListEvent", event, elapsed, json!({"rollout": item_json(rollout)}))
}
