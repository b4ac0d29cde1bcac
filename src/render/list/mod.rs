//! `list` as a table and as documents.

mod columns;
mod watch;

pub use columns::TableOptions;
pub(super) use columns::cause_text;
pub use watch::{WatchedList, WatchedRollouts, event_json};

use serde_json::{Map, Value, json};

use self::columns::{CellWidth, ListRow, Room, fitted, header, row, unfitted};
use super::age::in_utc;
use super::columns::Table;
use super::fit_width::LongWord;
use super::json::{merge, rollout_json};
use super::line::Line;
use crate::model::kind::strategy::update_strategy;
use crate::model::view::{RolloutView, StateCounts};

/// The width into which the wide table fits on a narrower terminal.
const WIDE: usize = 120;

/// Returns the table of the shown rollouts, with a last line that counts the states of all. It fits a terminal of a
/// `width`, and the wide table one of at least 120 columns.
#[must_use]
pub fn table(
    shown: &[&RolloutView],
    all: &[RolloutView],
    options: TableOptions,
    width: Option<usize>,
) -> Vec<Line> {
    let has_header = options.headers && !shown.is_empty();
    let rows = |width| -> Vec<ListRow> {
        let rows = shown.iter().map(|rollout| row(rollout, options, width));
        has_header.then(|| header(options, width)).into_iter().chain(rows).collect()
    };
    let mut lines = match width {
        Some(width) => {
            let (cause_lines, long) = (usize::MAX, LongWord::KeepCommand);
            let images = header(options, CellWidth::Full).cells.len().checked_sub(3);
            let (width, shortened_column) =
                if options.wide { (width.max(WIDE), images) } else { (width, None) };
            let room = Room { width, has_header, cause_lines, long, shortened_column };
            fitted(rows, room).concat()
        }
        None => unfitted(rows(CellWidth::Full)),
    };
    lines.extend(options.headers.then(|| last_line(all, options)));
    lines
}

/// Returns `2 workloads: 1 failed, 1 complete`, or with `--since` `2 workloads: 1 failed, 1 complete; changed since 14:10 UTC`.
fn last_line(all: &[RolloutView], options: TableOptions) -> Line {
    let since = options.changed_since.map(|since| format!("; changed since {}", in_utc(since, options.now)));
    Line::of(StateCounts::of(all).words() + &since.unwrap_or_default())
}

/// Returns the table in Markdown, with all columns.
#[must_use]
pub fn markdown(shown: &[&RolloutView], all: &[RolloutView], options: TableOptions) -> Vec<Line> {
    let names: Vec<_> = header(options, CellWidth::Full).into_cells().iter().map(Line::text).collect();
    let mut table = Table::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
    for rollout in shown {
        table.row(row(rollout, options, CellWidth::Full).into_cells());
    }
    let mut lines = if shown.is_empty() { Vec::new() } else { table.markdown() };
    if options.headers {
        lines.extend((!shown.is_empty()).then(Line::default));
        lines.push(last_line(all, options));
    }
    lines
}

/// Returns the document of the shown rollouts, with the states of all. docs/json.md documents the fields.
#[must_use]
pub fn json(shown: &[&RolloutView], all: &[RolloutView]) -> Value {
    let counts = StateCounts::of(all);
    let counts: Map<_, _> =
        counts.iter().map(|(state, count)| (state.word().to_owned(), count.into())).collect();
    json!({
        "apiVersion": "rollout2/v1",
        "kind": "RolloutList",
        "items": shown.iter().copied().map(item_json).collect::<Vec<_>>(),
        "states": counts,
    })
}

/// Returns one rollout.
fn item_json(rollout: &RolloutView) -> Value {
    let author = rollout.author.as_ref();
    let mut item = rollout_json(rollout);
    let facts = json!({
        "images": rollout.workload.template().images(),
        "strategy": update_strategy(&rollout.workload),
        "templateChangedBy": author.map(|author| &author.manager),
        "templateChangedAt": author.map(|author| author.time.to_string()),
    });
    merge(&mut item, facts);
    item
}
