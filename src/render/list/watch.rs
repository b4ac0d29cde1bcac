//! `list --watch`: frames for a terminal, and changed lines.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use serde_json::json;

use super::{TableOptions, cells_of, header, rollout_json, row, shorten_last_column};
use crate::model::status::list::{ListedRollout, StateCounts};
use crate::model::workload::verdict::RolloutState;
use crate::render::frame::columns::{GAP, aligned};
use crate::render::frame::{Frame, FrameLine, usable_height, usable_width};
use crate::render::style::Style;
use crate::world::Terminal;

/// Below this width of the terminal a name loses its middle.
const MAX_NAME_PERCENT: usize = 40;

/// The minimum width of a shortened name.
const MIN_NAME_WIDTH: usize = 12;

/// A row, and whether it has changed.
type WatchedRow<'a> = (&'a ListedRollout, bool);

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
        let state = RolloutState::ALL.iter().map(|state| state.word().len()).max().unwrap_or_default();
        let mut widths = vec![0; 2 + usize::from(options.namespaces)];
        widths.push(state);
        Self { options, widths }
    }

    /// Sets the time that ages are relative to.
    pub fn set_time(&mut self, now: Timestamp) {
        self.options.now = now;
    }

    /// Returns the header and the first lines.
    pub fn first_lines(&mut self, rollouts: &[&ListedRollout]) -> Vec<FrameLine> {
        let header = self.options.headers.then(|| header(self.options));
        self.padded(
            header.into_iter().chain(rollouts.iter().map(|rollout| row(rollout, self.options))).collect(),
        )
    }

    /// Returns the lines of changed rollouts, in the columns of the first ones.
    pub fn lines(&mut self, rollouts: &[&ListedRollout]) -> Vec<FrameLine> {
        self.padded(rollouts.iter().map(|rollout| row(rollout, self.options)).collect())
    }

    /// Returns the lines of deleted workloads.
    pub fn deleted_lines(&mut self, rollouts: &[ListedRollout]) -> Vec<FrameLine> {
        let deleted = |rollout| cells_of(rollout, self.options, FrameLine::of("deleted"));
        self.padded(rollouts.iter().map(deleted).collect())
    }

    /// Aligns rows below those that were printed before.
    fn padded(&mut self, rows: Vec<Vec<FrameLine>>) -> Vec<FrameLine> {
        for row in &rows {
            for (column, cell) in row.iter().enumerate() {
                match self.widths.get_mut(column) {
                    Some(width) => *width = cell.cells().max(*width),
                    None => self.widths.push(cell.cells()),
                }
            }
        }
        let joined = |row: Vec<FrameLine>| {
            let (mut line, mut column) = (FrameLine::default(), 0);
            for (cell, width) in row.into_iter().zip(&self.widths) {
                if cell.cells() > 0 {
                    line = line.padded_to(column).joined_with(cell);
                }
                column += width + GAP;
            }
            line
        };
        rows.into_iter().map(joined).collect()
    }

    /// Returns a frame that fits the terminal: the rollouts from the top, a line that counts the hidden ones, and a line
    /// that counts the states of all. A changed row has a `*`.
    #[must_use]
    pub fn frame(
        &self,
        rows: &[WatchedRow<'_>],
        all: &[ListedRollout],
        now: Timestamp,
        size: Terminal,
    ) -> Frame {
        let fixed = usize::from(self.options.headers) + 1;
        let room = usable_height(size).saturating_sub(fixed);
        let shown = if rows.len() <= room { rows.len() } else { room.saturating_sub(1) };
        self.frame_of(rows.split_at(shown), all, now, size)
    }

    /// Returns the last frame, which stays on the terminal, with all rollouts.
    #[must_use]
    pub fn last_frame(
        &self,
        rows: &[WatchedRow<'_>],
        all: &[ListedRollout],
        now: Timestamp,
        size: Terminal,
    ) -> Frame {
        self.frame_of((rows, &[]), all, now, size)
    }

    fn frame_of(
        &self,
        (shown, hidden): (&[WatchedRow<'_>], &[WatchedRow<'_>]),
        all: &[ListedRollout],
        now: Timestamp,
        size: Terminal,
    ) -> Frame {
        let options = TableOptions { now, ..self.options };
        let width = usable_width(size);
        let name_width = (width * MAX_NAME_PERCENT / 100).max(MIN_NAME_WIDTH);
        let name_column = usize::from(options.namespaces);
        let marked = |is_changed: bool, mut cells: Vec<FrameLine>| {
            if let Some(name) = cells.get_mut(name_column) {
                *name = std::mem::take(name).shortened_to(name_width);
            }
            let mark = FrameLine::default().with(Style::Warning, if is_changed { "*" } else { " " });
            if let Some(first) = cells.first_mut() {
                *first = mark.with(Style::Plain, " ").joined_with(std::mem::take(first));
            }
            cells
        };
        let mut table = Vec::new();
        if options.headers {
            table.push(marked(false, header(options)));
        }
        table.extend(shown.iter().map(|(rollout, is_changed)| marked(*is_changed, row(rollout, options))));
        shorten_last_column(&mut table, width);
        let mut lines = aligned(table);
        if !hidden.is_empty() {
            let counts = StateCounts::of_each(hidden.iter().map(|(rollout, _)| *rollout));
            lines.push(
                FrameLine::default()
                    .with(Style::Dim, format!("  and {} more: {}", hidden.len(), counts.states())),
            );
        }
        lines.push(FrameLine::of(format!("  {}", StateCounts::of(all).words())));
        Frame::new(lines, size)
    }
}

/// Returns an event as one line of JSON. docs/json.md documents the fields.
#[must_use]
pub fn event_json(event: &str, rollout: &ListedRollout, elapsed: Duration) -> String {
    let milliseconds = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
    let document = json!({
        "apiVersion": "rollout2/v1",
        "kind": "RolloutListEvent",
        "event": event,
        "elapsedMilliseconds": milliseconds,
        "rollout": rollout_json(rollout),
    });
    format!("{document}\n")
}
