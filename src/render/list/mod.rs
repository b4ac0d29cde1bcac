//! `list` as a table and as documents.

mod columns;
pub mod contexts;
mod watch;

pub use columns::ListColumns;
pub(super) use columns::cause;
pub use watch::{WatchedList, event_json};

use k8s_openapi::jiff::Timestamp;
use serde_json::{Map, Value, json};

use self::columns::command_below;
use super::age::in_utc;
use super::json::{document, merge, rollout_json};
use super::line::Line;
use super::table::TableLayout;
use crate::error::{Error, Result};
use crate::model::kind::strategy::update_strategy;
use crate::model::status::uses::TemplateChange;
use crate::model::text::json::go_text;
use crate::model::text::jsonpath::JsonPath;
use crate::model::text::yaml::natural_order;
use crate::model::view::{RolloutView, StateCounts};

/// The width into which the wide table fits on a narrower terminal.
const WIDE: usize = 120;

/// Returns the table of the shown rollouts, with a last line that counts the states of all, and with `--since` names the time
/// `changed_since`. It fits its terminal, and the wide table one of at least 120 columns. The command of a hold goes below its
/// row where it fits.
#[must_use]
pub fn table(
    shown: &[&RolloutView],
    all: &[RolloutView],
    columns: ListColumns<'_>,
    changed_since: Option<Timestamp>,
    now: Timestamp,
) -> Vec<Line> {
    let layout = columns.layout;
    let mut lines = Vec::new();
    if !shown.is_empty() {
        let width = layout.width.map(|width| if layout.is_wide() { width.max(WIDE) } else { width });
        let columns = ListColumns { layout: TableLayout { width, ..layout }, ..columns };
        let rows = shown.iter().map(|rollout| (columns.row(rollout, now), command_below(rollout)));
        lines = table_lines(columns.header(), rows, &columns.names(), columns);
    }
    if layout.headers {
        let since = changed_since.map(|since| format!("; changed since {}", in_utc(since, now)));
        lines.extend(layout.wrapped(StateCounts::of(all).words() + &since.unwrap_or_default()));
    }
    lines
}

/// Returns the lines of a table: the header with these names, and the rows, each with its command below it where that fits.
fn table_lines(
    header: Vec<Line>,
    rows: impl IntoIterator<Item = (Vec<Line>, Option<Line>)>,
    names: &[&str],
    columns: ListColumns<'_>,
) -> Vec<Line> {
    let layout = columns.layout;
    let (rows, commands): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    let rows: Vec<_> = layout.has_header().then_some(header).into_iter().chain(rows).collect();
    let mut blocks = layout.blocks(rows, names, columns.narrowings());
    if let Some(width) = layout.width.filter(|_| !layout.is_markdown()) {
        for (block, command) in blocks.iter_mut().skip(usize::from(layout.has_header())).zip(commands) {
            block.extend(command.filter(|line| line.cells() <= width));
        }
    }
    let mut lines = blocks.concat();
    lines.extend((layout.is_markdown() && layout.headers).then(Line::default));
    lines
}

/// Sorts rollouts by what a JSONPath finds first in the item of each: numbers by value, and text as kubectl does, so that
/// `web-2` comes before `web-10`. One without a value comes last, and equal ones stay in their order.
///
/// # Errors
/// When no item has the field, and as for a template of `-o jsonpath`.
pub fn sort_by(rollouts: Vec<RolloutView>, path: &JsonPath) -> Result<Vec<RolloutView>> {
    let mut is_known = rollouts.is_empty();
    let mut keyed = Vec::new();
    for rollout in rollouts {
        let item = item_json(&rollout);
        let found = path.find(&item).map_err(Error::usage)?;
        let value = found.into_iter().flatten().next();
        is_known |= value.is_some();
        keyed.push((value.filter(|value| !value.is_null()).cloned(), rollout));
    }
    if !is_known {
        return Err(Error::usage(format!("no item has the field {}", path.template()))
            .hint("its fields are those of the items of -o json"));
    }
    keyed.sort_by(|(one, _), (other, _)| match (one, other) {
        (Some(one), Some(other)) => match (one.as_f64(), other.as_f64()) {
            (Some(one), Some(other)) => one.total_cmp(&other),
            _ => natural_order(&go_text(one), &go_text(other)),
        },
        (one, other) => one.is_none().cmp(&other.is_none()),
    });
    Ok(keyed.into_iter().map(|(_, rollout)| rollout).collect())
}

/// Returns the document of the shown rollouts, with the states of all. docs/json.md documents the fields.
#[must_use]
pub fn json(shown: &[&RolloutView], all: &[RolloutView]) -> Value {
    let items: Vec<_> = shown.iter().copied().map(item_json).collect();
    document("RolloutList", json!({"items": items, "states": states_json(&StateCounts::of(all))}))
}

fn states_json(counts: &StateCounts) -> Value {
    let counts: Map<_, _> =
        counts.iter().map(|(state, count)| (state.word().to_owned(), count.into())).collect();
    counts.into()
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
