//! `list` as a table and as documents.

mod document;
mod watch;

pub use document::{ListDocument, rollout_json};
pub use watch::{WatchedList, event_json};

use k8s_openapi::jiff::Timestamp;

use super::age::age;
use super::fit_width::shortened_to;
use super::frame::FrameLine;
use super::frame::columns::{GAP, aligned};
use super::status::cause_style;
use super::style::Style;
use crate::model::api::managed_fields::last_template_author;
use crate::model::status::list::{ListedRollout, StateCounts};
use crate::model::workload::strategy::update_strategy;
use crate::model::workload::verdict::RolloutState;

/// The options of the table.
#[derive(Clone, Copy, Debug)]
pub struct TableOptions {
    /// Whether to show images, the strategy and the last writer of the template too.
    pub wide: bool,
    /// Whether to show the namespaces.
    pub namespaces: bool,
    /// Whether to print the header and the last line.
    pub headers: bool,
    /// The time that ages are relative to.
    pub now: Timestamp,
}

/// The minimum width of a shortened cause.
const NARROWEST: usize = 12;

/// Returns the table of the shown rollouts, with a last line that counts the states of all. On a terminal of a
/// `width` the causes are shortened, but not in the wide table, which is for reading everything.
#[must_use]
pub fn table(
    shown: &[&ListedRollout],
    all: &[ListedRollout],
    options: TableOptions,
    width: Option<usize>,
) -> Vec<FrameLine> {
    let mut rows: Vec<Vec<FrameLine>> = Vec::new();
    if options.headers && !shown.is_empty() {
        rows.push(header(options));
    }
    rows.extend(shown.iter().map(|rollout| row(rollout, options)));
    if let Some(width) = width.filter(|_| !options.wide) {
        shorten_last_column(&mut rows, width);
    }
    let mut lines = aligned(rows);
    lines.extend(options.headers.then(|| FrameLine::of(StateCounts::of(all).words())));
    lines
}

/// Returns the names of the columns.
fn header(options: TableOptions) -> Vec<FrameLine> {
    let mut names = vec!["WORKLOAD", "REVISION", "STATE", "UPDATED", "AVAILABLE", "SINCE"];
    if options.namespaces {
        names.insert(0, "NAMESPACE");
    }
    if options.wide {
        names.extend(["IMAGES", "STRATEGY", "CHANGED BY"]);
    }
    names.push("CAUSE");
    names.into_iter().map(FrameLine::of).collect()
}

/// Returns the cells of a rollout.
fn row(rollout: &ListedRollout, options: TableOptions) -> Vec<FrameLine> {
    let state = FrameLine::default().with(state_style(rollout.state()), rollout.state().word());
    cells_of(rollout, options, state)
}

/// Returns the cells of a rollout with a word for its state.
fn cells_of(rollout: &ListedRollout, options: TableOptions, state: FrameLine) -> Vec<FrameLine> {
    let workload = &rollout.workload;
    let counts = rollout.counts;
    let available =
        counts.available.map_or_else(|| "-".to_owned(), |available| format!("{available}/{}", counts.wanted));
    let is_outage = counts.available == Some(0) && counts.wanted > 0;
    let mut cells = vec![
        FrameLine::of(workload.target()),
        FrameLine::of(revision(rollout)),
        state,
        FrameLine::of(format!("{}/{}", counts.updated, counts.wanted)),
        FrameLine::default().with(if is_outage { Style::Bad } else { Style::Plain }, available),
        FrameLine::of(rollout.since.map_or_else(|| "-".to_owned(), |since| age(since, options.now))),
    ];
    if options.namespaces {
        cells.insert(0, FrameLine::of(workload.object().namespace()));
    }
    if options.wide {
        let author = last_template_author(workload.object());
        cells.extend([
            FrameLine::of(workload.template().images().join(",")),
            FrameLine::of(strategy(rollout)),
            FrameLine::of(author.map_or_else(|| "-".to_owned(), |author| author.manager)),
        ]);
    }
    cells.push(cause(rollout));
    cells
}

/// Returns the number of the current revision: `new` while the live template has none, `-` if revisions are unknown.
fn revision(rollout: &ListedRollout) -> String {
    match rollout.revision {
        Some(number) => number.to_string(),
        None if rollout.revision_name.is_none() && !rollout.unknown.contains(&"revisions") => {
            "new".to_owned()
        }
        None => "-".to_owned(),
    }
}

fn state_style(state: RolloutState) -> Style {
    match state {
        RolloutState::Complete => Style::Good,
        RolloutState::Failed => Style::Bad,
        RolloutState::Paused | RolloutState::Held => Style::Warning,
        RolloutState::Progressing | RolloutState::Unobserved => Style::Plain,
    }
}

/// Returns the first cause, and the number of the others: `app: CrashLoopBackOff, exit 1 (and 1 more)`. A failure
/// without a known cause has the line of its verdict.
fn cause(rollout: &ListedRollout) -> FrameLine {
    match rollout.causes.as_slice() {
        [] if rollout.state() == RolloutState::Failed => {
            FrameLine::default().with(Style::Bad, &rollout.verdict.line)
        }
        [] => FrameLine::default(),
        [first, others @ ..] => {
            let container = first.container.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
            let more =
                if others.is_empty() { String::new() } else { format!(" (and {} more)", others.len()) };
            FrameLine::default().with(cause_style(first), format!("{container}{}{more}", first.summary))
        }
    }
}

/// Returns the update strategy as words: `RollingUpdate maxSurge=25% maxUnavailable=25%`.
fn strategy(rollout: &ListedRollout) -> String {
    let Some(strategy) = update_strategy(&rollout.workload) else { return "-".to_owned() };
    let mut words: Vec<String> = Vec::new();
    words.extend(strategy.get("type").and_then(serde_json::Value::as_str).map(str::to_owned));
    let fields = [strategy.get("rollingUpdate"), Some(strategy)].into_iter().flatten();
    for (name, value) in fields.filter_map(serde_json::Value::as_object).flatten() {
        match value {
            serde_json::Value::String(text) if name != "type" => words.push(format!("{name}={text}")),
            serde_json::Value::Number(number) => words.push(format!("{name}={number}")),
            serde_json::Value::Bool(flag) => words.push(format!("{name}={flag}")),
            _ => {}
        }
    }
    if words.is_empty() { "-".to_owned() } else { words.join(" ") }
}

/// Shortens the cells of the last column, so that the rows fit into `width`, to [`NARROWEST`] cells at least.
fn shorten_last_column(rows: &mut [Vec<FrameLine>], width: usize) {
    let Some(last) = rows.iter().map(Vec::len).max().and_then(|columns| columns.checked_sub(1)) else {
        return;
    };
    let column =
        |column: usize| rows.iter().filter_map(move |row| row.get(column)).map(FrameLine::cells).max();
    let before: usize = (0..last).map(|index| column(index).unwrap_or_default() + GAP).sum();
    let room = width.saturating_sub(before).max(NARROWEST);
    for cell in rows.iter_mut().filter_map(|row| row.get_mut(last)).filter(|cell| cell.cells() > room) {
        let style = cell.spans().first().map_or(Style::Plain, |span| span.style);
        *cell = FrameLine::default().with(style, shortened_to(&cell.text(), room));
    }
}
