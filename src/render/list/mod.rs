//! `list` as a table and as documents.

mod columns;
mod document;
mod fit_rows;
mod watch;

pub use columns::TableOptions;
pub use document::{ListDocument, rollout_json};
pub use watch::{WatchedList, WatchedRollouts, event_json};

use self::columns::{CellWidth, ListRow, header, row};
use self::fit_rows::{Room, fitted, unfitted};
use super::fit_width::LongWord;
use super::frame::FrameLine;
use crate::model::status::list::{ListedRollout, StateCounts};

/// Returns the table of the shown rollouts, with a last line that counts the states of all. It fits a terminal of a
/// `width`, but not the wide table, which is for reading everything.
#[must_use]
pub fn table(
    shown: &[&ListedRollout],
    all: &[ListedRollout],
    options: TableOptions,
    width: Option<usize>,
) -> Vec<FrameLine> {
    let has_header = options.headers && !shown.is_empty();
    let rows = |width| -> Vec<ListRow> {
        let rows = shown.iter().map(|rollout| row(rollout, options, width));
        has_header.then(|| header(options, width)).into_iter().chain(rows).collect()
    };
    let mut lines = match width.filter(|_| !options.wide) {
        Some(width) => {
            let (cause_lines, long) = (usize::MAX, LongWord::KeepCommand);
            let room = Room { width, has_header, cause_lines, long, shortened_column: None };
            fitted(rows, room).concat()
        }
        None => unfitted(rows(CellWidth::Full)),
    };
    lines.extend(options.headers.then(|| FrameLine::of(StateCounts::of(all).words())));
    lines
}
