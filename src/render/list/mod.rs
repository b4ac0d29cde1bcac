//! `list` as a table and as documents.

mod columns;
mod watch;

pub use columns::TableOptions;
pub(super) use columns::cause;
pub use watch::{WatchedList, event_json};

use serde_json::{Map, Value, json};

use self::columns::{Room, command_below, fitted, header, index_of, optional_columns, row};
use super::age::in_utc;
use super::columns::{aligned, markdown};
use super::json::{document, merge, rollout_json};
use super::line::Line;
use crate::model::kind::strategy::update_strategy;
use crate::model::status::uses::TemplateChange;
use crate::model::view::{RolloutView, StateCounts};

/// The width into which the wide table fits on a narrower terminal.
const WIDE: usize = 120;

/// Returns the table of the shown rollouts, with a last line that counts the states of all. It fits a terminal of a
/// `width`, and the wide table one of at least 120 columns. The command of a hold goes below its row where it fits.
#[must_use]
pub fn table(
    shown: &[&RolloutView],
    all: &[RolloutView],
    options: TableOptions,
    width: Option<usize>,
) -> Vec<Line> {
    let has_header = (options.headers || options.markdown) && !shown.is_empty();
    let rows = shown.iter().map(|rollout| row(rollout, options));
    let rows: Vec<_> = has_header.then(|| header(options)).into_iter().chain(rows).collect();
    let mut lines = match width {
        _ if shown.is_empty() => Vec::new(),
        _ if options.markdown => {
            let blank = options.headers.then(Line::default);
            markdown(&rows).into_iter().chain(blank).collect()
        }
        Some(width) => {
            let (width, shortened) =
                if options.wide { (width.max(WIDE), "IMAGES") } else { (width, "WORKLOAD") };
            let shortened_column = index_of(shortened, options);
            let optional_columns = (!options.wide).then(|| optional_columns(options));
            let room =
                Room { width, has_header, cause_lines: usize::MAX, optional_columns, shortened_column };
            let mut blocks = fitted(rows, room);
            for (block, rollout) in blocks.iter_mut().skip(usize::from(has_header)).zip(shown) {
                block.extend(command_below(rollout).filter(|line| line.cells() <= width));
            }
            blocks.concat()
        }
        None => aligned(rows),
    };
    let width = width.unwrap_or(usize::MAX);
    let last = options.headers.then(|| last_line(all, options).wrapped("  ", width, usize::MAX));
    lines.extend(last.unwrap_or_default());
    lines
}

/// Returns `2 workloads: 1 failed, 1 complete`, or with `--since` `2 workloads: 1 failed, 1 complete; changed since 14:10 UTC`.
fn last_line(all: &[RolloutView], options: TableOptions) -> Line {
    let since = options.changed_since.map(|since| format!("; changed since {}", in_utc(since, options.now)));
    Line::of(StateCounts::of(all).words() + &since.unwrap_or_default())
}

/// Returns the document of the shown rollouts, with the states of all. docs/json.md documents the fields.
#[must_use]
pub fn json(shown: &[&RolloutView], all: &[RolloutView]) -> Value {
    let counts = StateCounts::of(all);
    let counts: Map<_, _> =
        counts.iter().map(|(state, count)| (state.word().to_owned(), count.into())).collect();
    let items: Vec<_> = shown.iter().copied().map(item_json).collect();
    document("RolloutList", json!({"items": items, "states": counts}))
}

/// Returns one rollout.
fn item_json(rollout: &RolloutView) -> Value {
    let author = rollout.change.as_ref().and_then(TemplateChange::author);
    let mut item = rollout_json(rollout);
    let facts = json!({
        "images": rollout.workload.template().images(),
        "strategy": update_strategy(&rollout.workload),
        "templateChangedBy": author.as_ref().map(|author| &author.manager),
        "templateChangedAt": author.as_ref().map(|author| author.time.to_string()),
    });
    merge(&mut item, facts);
    item
}
