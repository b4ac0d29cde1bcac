//! `history --since` as a table and as JSON.

mod rollout;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use super::age::{in_utc, start_age};
use super::columns::{number_cell, or_dash};
use super::history::{HistoryTableOptions, cause};
use super::json::{remark_pods_json, workload_json};
use super::line::{Line, Style};
use super::status::started_before;
use crate::model::kind::Workload;
use crate::model::revision::references::Configuration;
use crate::model::status::uses::UseStart;
use crate::model::text::plural::{first_of, joined, plural};
use crate::model::view::history::{ConfigurationChange, RecentRollout};

/// What changed since a time.
#[derive(Clone, Copy, Debug)]
pub struct RecentChanges<'a> {
    /// The rollouts, newest first.
    pub rollouts: &'a [RecentRollout<'a>],
    /// The ConfigMaps and Secrets that changed, newest first.
    pub configuration: &'a [ConfigurationChange],
    /// The ConfigMaps and Secrets whose metadata has no time of a change.
    pub undated: &'a [Configuration],
    /// The time asked for.
    pub since: Timestamp,
    /// The time that ages are relative to.
    pub now: Timestamp,
}

/// One row of the table.
struct RecentRow {
    start: UseStart,
    namespace: String,
    /// OBJECT, REVISION, CHANGES, BY and NOW.
    cells: [Line; 5],
    /// NAME and CHANGE-CAUSE.
    wide: [String; 2],
}

impl RecentChanges<'_> {
    /// Returns the table, with a last line that counts the changes.
    #[must_use]
    pub fn table(&self, options: HistoryTableOptions) -> Vec<Line> {
        let mut columns = vec!["AGO", "OBJECT", "REVISION", "CHANGES", "BY", "NOW"];
        if options.namespaces {
            columns.insert(1, "NAMESPACE");
        }
        if options.wide {
            columns.extend(["TIME", "NAME", "CHANGE-CAUSE"]);
        }
        let rows = self.rows().into_iter().map(|row| self.cells(row, options));
        let rows: Vec<_> = std::iter::once(columns.into_iter().map(Line::of).collect()).chain(rows).collect();
        let shortened = [("BY", 12), ("NOW", 26), ("CHANGES", 26), ("NOW", 12), ("CHANGES", 12)];
        let mut lines = if rows.len() > 1 { options.lines(rows, &shortened) } else { Vec::new() };
        lines.extend((options.markdown && !lines.is_empty()).then(Line::default));
        lines.push(Line::of(self.count()));
        lines
    }

    /// Returns the rows, newest first. The rollouts of one workload stay in their order.
    fn rows(&self) -> Vec<RecentRow> {
        let rollouts = self.rollouts.iter().map(RecentRow::of_rollout);
        let mut rows: Vec<_> =
            rollouts.chain(self.configuration.iter().map(RecentRow::of_configuration)).collect();
        rows.sort_by_key(|row| Reverse(row.start.earliest()));
        rows
    }

    fn cells(&self, row: RecentRow, options: HistoryTableOptions) -> Vec<Line> {
        let mut cells = vec![Line::of(start_age(row.start, self.now))];
        cells.extend(options.namespaces.then(|| Line::of(row.namespace)));
        cells.extend(row.cells);
        if options.wide {
            cells.push(Line::of(match row.start {
                UseStart::At(time) => time.to_string(),
                UseStart::Between { earliest, .. } => format!("after {earliest}"),
            }));
            cells.extend(row.wide.map(Line::of));
        }
        cells
    }

    /// Returns `3 rollouts of 2 workloads and 1 ConfigMap changed since 14:10 UTC; revisions that were pruned are not listed`.
    fn count(&self) -> String {
        let mut changed = Vec::new();
        if !self.rollouts.is_empty() {
            let uids: BTreeSet<_> =
                self.rollouts.iter().map(|one| one.observed.workload.object().uid()).collect();
            let rollouts = plural(self.rollouts.len(), "rollout");
            changed.push(format!("{rollouts} of {}", plural(uids.len(), "workload")));
        }
        changed.extend(by_kind(self.configuration.iter().map(|one| &one.object)));
        let changed = if changed.is_empty() { "no rollout".to_owned() } else { joined(&changed, "and") };
        let since = in_utc(self.since, self.now);
        let undated = by_kind(self.undated.iter()).map(|count| format!("{count} without times"));
        let missing: Vec<_> =
            std::iter::once("revisions that were pruned".to_owned()).chain(undated).collect();
        format!("{changed} changed since {since}; {} are not listed", joined(&missing, "and"))
    }

    /// Returns the document. docs/json.md documents the fields.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({
            "apiVersion": "rollout2/v1",
            "kind": "ChangeList",
            "since": self.since.to_string(),
            "items": self.rollouts.iter().map(rollout::json).collect::<Vec<_>>(),
            "configuration": self.configuration.iter().map(configuration_json).collect::<Vec<_>>(),
            "configurationWithoutTimes": self.undated.len(),
        })
    }
}

impl RecentRow {
    fn of_rollout(rollout: &RecentRollout<'_>) -> Self {
        let (workload, used) = (&rollout.observed.workload, &rollout.used);
        let cause = cause(used.revision).unwrap_or_else(|| "<none>".to_owned());
        Self {
            start: used.start,
            namespace: workload.object().namespace().to_owned(),
            cells: [
                Line::of(workload.target()),
                number_cell(used.number, used.was),
                Line::of(rollout::changes(rollout)),
                or_dash(used.by.as_ref()),
                rollout::now(rollout),
            ],
            wide: [used.revision.name.clone(), cause],
        }
    }

    fn of_configuration(changed: &ConfigurationChange) -> Self {
        Self {
            start: UseStart::At(changed.change.time),
            namespace: changed.object.namespace.clone(),
            cells: [
                Line::of(changed.object.target()),
                Line::default(),
                Line::of(readers(changed)),
                Line::of(&changed.change.manager),
                pods_of_change(changed),
            ],
            wide: Default::default(),
        }
    }
}

/// Counts ConfigMaps and Secrets: `1 ConfigMap`, `2 Secrets`.
fn by_kind<'a>(objects: impl Iterator<Item = &'a Configuration>) -> impl Iterator<Item = String> {
    let mut counts = BTreeMap::<&str, usize>::new();
    for object in objects {
        *counts.entry(object.type_.title()).or_default() += 1;
    }
    counts.into_iter().map(|(kind, count)| plural(count, kind))
}

/// How many workloads a row names.
const READERS: usize = 3;

/// Returns which workloads read it: `read by deployment/checkout`.
fn readers(changed: &ConfigurationChange) -> String {
    let readers: Vec<_> = changed.readers.iter().map(Workload::target).collect();
    format!("read by {}", first_of(&readers, READERS, ", "))
}

/// Returns what the pods have of the change: `3 of 3 pods started before`.
fn pods_of_change(changed: &ConfigurationChange) -> Line {
    match changed.pods {
        _ if !changed.is_read_at_start => Line::of("the kubelet updates the files"),
        None => Line::of("-"),
        Some(pods) if pods.total == 0 => Line::of("no pods"),
        Some(pods) => {
            let style = if pods.started_before == 0 { Style::Plain } else { Style::Warning };
            Line::styled(style, started_before(pods))
        }
    }
}

/// Returns a changed ConfigMap or Secret as JSON.
fn configuration_json(changed: &ConfigurationChange) -> Value {
    let pods = changed.pods.filter(|_| changed.is_read_at_start);
    json!({
        "kind": changed.object.type_.title(),
        "namespace": changed.object.namespace,
        "name": changed.object.name,
        "time": changed.change.time.to_string(),
        "by": changed.change.manager,
        "readBy": changed.readers.iter().map(workload_json).collect::<Vec<_>>(),
        "readAtStart": changed.is_read_at_start,
        "pods": pods.map(remark_pods_json),
    })
}
