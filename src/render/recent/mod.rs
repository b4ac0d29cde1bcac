//! `history --since` as a table and as JSON.

mod configuration;
mod rollout;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use super::age::{in_utc, start_age};
use super::columns::Table;
use super::line::Line;
use super::style::Style;
use crate::model::api::configuration::Configuration;
use crate::model::status::uses::UseStart;
use crate::model::text::plural::plural;
use crate::model::text::secret::without_secrets;
use crate::model::view::recent::RecentRollout;
use crate::model::view::recent::configuration::ConfigurationChange;
use crate::world::Terminal;

/// What changed since a time.
#[derive(Clone, Copy, Debug)]
pub struct RecentChanges<'a> {
    /// The rollouts, newest first.
    pub rollouts: &'a [RecentRollout],
    /// The ConfigMaps and Secrets that changed, newest first.
    pub configuration: &'a [ConfigurationChange],
    /// The ConfigMaps and Secrets whose metadata has no time of a change.
    pub undated: &'a [Configuration],
    /// The time asked for.
    pub since: Timestamp,
    /// The time that ages are relative to.
    pub now: Timestamp,
}

/// The options of the table.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecentTableOptions {
    /// Whether to show times, names and change-causes too.
    pub wide: bool,
    /// Whether to show the namespaces.
    pub namespaces: bool,
    /// Whether the table is in Markdown.
    pub markdown: bool,
    /// The terminal to fit the table into; none for a pipe, where nothing is shortened.
    pub terminal: Option<Terminal>,
}

/// One row of the table.
struct Row {
    start: UseStart,
    namespace: String,
    /// OBJECT, REVISION, CHANGES, BY and NOW.
    cells: [String; 5],
    /// NAME and CHANGE-CAUSE.
    wide: [String; 2],
}

impl RecentChanges<'_> {
    /// Returns the table, with a last line that counts the changes.
    #[must_use]
    pub fn table(&self, options: RecentTableOptions) -> Vec<Line> {
        let mut columns = vec!["AGO", "OBJECT", "REVISION", "CHANGES", "BY", "NOW"];
        if options.namespaces {
            columns.insert(1, "NAMESPACE");
        }
        if options.wide {
            columns.extend(["TIME", "NAME", "CHANGE-CAUSE"]);
        }
        let rows = self.rows();
        let is_empty = rows.is_empty();
        let mut table = Table::new(&columns);
        for row in rows {
            table.row(&self.cells(row, options));
        }
        if let Some(terminal) = options.terminal.filter(|_| !options.wide && !options.markdown) {
            table.fit(
                terminal.width.into(),
                &[("BY", 12), ("NOW", 26), ("CHANGES", 26), ("NOW", 12), ("CHANGES", 12)],
            );
        }
        let mut lines = match (is_empty, options.markdown) {
            (true, _) => Vec::new(),
            (_, true) => table.markdown().into_iter().chain([Line::default()]).collect(),
            (_, false) => table.lines("NOW", now_style),
        };
        lines.push(Line::of(self.count()));
        lines
    }

    /// Returns the rows, newest first. The rollouts of one workload stay in their order.
    fn rows(&self) -> Vec<Row> {
        let rollouts = self.rollouts.iter().map(Row::of_rollout);
        let mut rows: Vec<_> = rollouts.chain(self.configuration.iter().map(Row::of_configuration)).collect();
        rows.sort_by_key(|row| Reverse(row.start.earliest()));
        rows
    }

    fn cells(&self, row: Row, options: RecentTableOptions) -> Vec<String> {
        let mut cells = vec![start_age(row.start, self.now)];
        cells.extend(Some(row.namespace).filter(|_| options.namespaces));
        cells.extend(row.cells);
        if options.wide {
            cells.push(match row.start {
                UseStart::At(time) => time.to_string(),
                UseStart::Between { earliest, .. } => format!("after {earliest}"),
            });
            cells.extend(row.wide);
        }
        cells
    }

    /// Returns `3 rollouts of 2 workloads and 1 ConfigMap changed since 14:10 UTC; revisions that were pruned are not listed`.
    fn count(&self) -> String {
        let mut changed = Vec::new();
        if !self.rollouts.is_empty() {
            let uids: BTreeSet<_> = self.rollouts.iter().map(|one| one.workload.object().uid()).collect();
            let rollouts = plural(self.rollouts.len(), "rollout");
            changed.push(format!("{rollouts} of {}", plural(uids.len(), "workload")));
        }
        changed.extend(by_kind(self.configuration.iter().map(|one| &one.object)));
        let changed = if changed.is_empty() { "no rollout".to_owned() } else { listed(changed) };
        let since = in_utc(self.since, self.now);
        let undated = by_kind(self.undated.iter()).map(|count| format!("{count} without times"));
        let missing = std::iter::once("revisions that were pruned".to_owned()).chain(undated).collect();
        format!("{changed} changed since {since}; {} are not listed", listed(missing))
    }

    /// Returns the document. docs/json.md documents the fields.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({
            "apiVersion": "rollout2/v1",
            "kind": "ChangeList",
            "since": self.since.to_string(),
            "items": self.rollouts.iter().map(rollout::json).collect::<Vec<_>>(),
            "configuration": self.configuration.iter().map(configuration::json).collect::<Vec<_>>(),
            "configurationWithoutTimes": self.undated.len(),
        })
    }
}

impl Row {
    fn of_rollout(rollout: &RecentRollout) -> Self {
        let number = rollout.revision.map_or_else(dash, |number| number.to_string());
        let was = rollout.was.map(|was| format!(" (was {was})")).unwrap_or_default();
        let cause = rollout.cause.as_deref().map_or_else(|| "<none>".to_owned(), without_secrets);
        Self {
            start: rollout.start,
            namespace: rollout.workload.object().namespace().to_owned(),
            cells: [
                rollout.workload.target(),
                number + &was,
                rollout::changes(rollout),
                rollout.by.clone().unwrap_or_else(dash),
                rollout::now_words(&rollout.now),
            ],
            wide: [rollout.name.clone(), cause],
        }
    }

    fn of_configuration(changed: &ConfigurationChange) -> Self {
        Self {
            start: UseStart::At(changed.change.time),
            namespace: changed.object.namespace.clone(),
            cells: [
                changed.object.target(),
                String::new(),
                configuration::readers(changed),
                changed.change.manager.clone(),
                configuration::now_words(changed),
            ],
            wide: Default::default(),
        }
    }
}

fn dash() -> String {
    "-".to_owned()
}

/// Counts ConfigMaps and Secrets: `1 ConfigMap`, `2 Secrets`.
fn by_kind<'a>(objects: impl Iterator<Item = &'a Configuration>) -> impl Iterator<Item = String> {
    let mut counts = BTreeMap::<&str, usize>::new();
    for object in objects {
        *counts.entry(object.type_.title()).or_default() += 1;
    }
    counts.into_iter().map(|(kind, count)| plural(count, kind))
}

/// Returns `a, b and c`.
fn listed(mut words: Vec<String>) -> String {
    match words.pop() {
        Some(last) if !words.is_empty() => format!("{} and {last}", words.join(", ")),
        last => last.unwrap_or_default(),
    }
}

/// Returns the style of a cell of NOW.
fn now_style(cell: &str) -> Style {
    if cell.ends_with(" started before") {
        return if cell.starts_with("0 ") { Style::Plain } else { Style::Warning };
    }
    match cell.split([',', ':']).next().unwrap_or_default() {
        "current" => Style::Good,
        "stuck" | "failed" => Style::Bad,
        "held" | "paused" => Style::Warning,
        _ => Style::Plain,
    }
}
