//! `history --since` as a table and as JSON.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::age::{in_utc, start_age};
use super::columns::{number_cell, or_dash};
use super::contexts::{ReadContext, counts, unread_state};
use super::history::{cause, change_words};
use super::json::{cause_json, document, workload_json};
use super::line::{Line, Style};
use super::list;
use super::narrow::Narrowing;
use super::state_words::{progress, state_style};
use super::status::started_before;
use super::table::TableLayout;
use crate::model::kind::Workload;
use crate::model::kind::verdict::RolloutState;
use crate::model::observation::{Observation, Role};
use crate::model::revision::references::Configuration;
use crate::model::status::uses::{UseEnd, UseStart};
use crate::model::text::plural::{first_of, joined, plural};
use crate::model::view::RolloutView;
use crate::model::view::history::{ConfigurationChange, RecentRollout};
use crate::model::view::incident::Incident;

/// What changed in a cluster since a time.
#[derive(Clone, Debug)]
pub struct RecentChanges<'a> {
    /// The name of its context, if there are several.
    pub context: Option<&'a str>,
    /// The rollouts, newest first.
    pub rollouts: Vec<RecentRollout<'a>>,
    /// The ConfigMaps and Secrets that changed, newest first.
    pub configuration: Vec<&'a ConfigurationChange>,
    /// The ConfigMaps and Secrets whose metadata has no time of a change.
    pub undated: &'a [Configuration],
    /// The time asked for, by the clock of the cluster.
    pub since: Timestamp,
    /// The time that ages are relative to, by the clock of the cluster.
    pub now: Timestamp,
}

/// What changed in the clusters of a command.
#[derive(Clone, Copy, Debug)]
pub struct ChangedContexts<'a> {
    /// The contexts; empty for one cluster.
    pub contexts: &'a [ReadContext],
    /// The changes of each cluster that was read.
    pub changes: &'a [RecentChanges<'a>],
    /// The time of this computer.
    pub local_time: Timestamp,
}

/// The width of a terminal from which NOW, which can be a cause, is rather shortened than below its row.
const LEAST_WIDTH: usize = 100;

/// How the table fits into a terminal of fewer columns. A time can be `at most 10m`.
const NARROW: &[Narrowing] = &[
    Narrowing::Below("NOW"),
    Narrowing::Cut("BY", 12),
    Narrowing::Cut("CHANGES", 26),
    Narrowing::Below("CHANGES"),
    Narrowing::Cut("BY", 8),
    Narrowing::Shorten("OBJECT", 16),
    Narrowing::LeaveOut("BY"),
    Narrowing::LeaveOut("REVISION"),
    Narrowing::LeaveOut("NAMESPACE"),
];

/// How the table fits into another terminal.
const LESS_NARROW: &[Narrowing] = &[
    Narrowing::Cut("BY", 12),
    Narrowing::Cut("NOW", 26),
    Narrowing::Cut("CHANGES", 26),
    Narrowing::Below("NOW"),
    Narrowing::Below("CHANGES"),
    Narrowing::Shorten("OBJECT", 16),
];

impl ChangedContexts<'_> {
    /// Returns the table, with a last line that counts the changes. The rows of contexts that cannot be read come first.
    #[must_use]
    pub fn table(&self, layout: TableLayout<'_>) -> Vec<Line> {
        // An age means nothing to a reader of the ticket.
        let start = if layout.is_markdown() { "TIME" } else { "AGO" };
        let mut columns = vec![start, "OBJECT", "REVISION", "CHANGES", "BY", "NOW"];
        if layout.namespaces {
            columns.insert(1, "NAMESPACE");
        }
        if layout.is_wide() {
            columns.extend(["TIME", "NAME", "CHANGE-CAUSE"]);
        }
        let mut rows: Vec<_> = self.changes.iter().flat_map(|changes| changes.rows(layout)).collect();
        // Newest first by the clock of each cluster. The rollouts of one workload stay in their order.
        rows.sort_by_key(|(age, _)| *age);
        let unread = self.contexts.iter().filter_map(|one| Some((one, one.error.as_ref()?)));
        let unread = unread.map(|(one, error)| {
            let text = |column: &&str| match *column {
                "NOW" => Line::styled(Style::Bad, format!("{}: {error}", unread_state(error))),
                _ => Line::default(),
            };
            std::iter::once(Line::of(&one.name)).chain(columns.iter().map(text)).collect()
        });
        let rows: Vec<Vec<Line>> = unread.chain(rows.into_iter().map(|(_, row)| row)).collect();
        if !self.contexts.is_empty() {
            columns.insert(0, "CONTEXT");
        }
        let is_narrow = layout.width.is_some_and(|width| width < LEAST_WIDTH);
        let narrowings = if is_narrow { NARROW } else { LESS_NARROW };
        let is_empty = rows.is_empty();
        let mut lines =
            if is_empty { Vec::new() } else { layout.lines(&columns, rows.into_iter(), narrowings) };
        if !layout.headers {
            return lines;
        }
        lines.extend((layout.is_markdown() && !lines.is_empty()).then(Line::default));
        lines.extend(layout.wrapped(self.count()));
        lines
    }

    /// Returns `3 rollouts of 2 workloads and 1 ConfigMap changed since 14:10 UTC; revisions that were pruned are not listed`,
    /// after the number of the contexts.
    fn count(&self) -> String {
        let mut changed = Vec::new();
        let rollouts = || {
            let of = |(index, changes): (usize, &RecentChanges<'_>)| {
                let uids = changes.rollouts.iter().map(|one| one.observed.workload.object().uid().to_owned());
                uids.map(|uid| (index, uid)).collect::<Vec<_>>()
            };
            self.changes.iter().enumerate().flat_map(of)
        };
        if rollouts().next().is_some() {
            let workloads: BTreeSet<_> = rollouts().collect();
            let rollouts = plural(rollouts().count(), "rollout");
            changed.push(format!("{rollouts} of {}", plural(workloads.len(), "workload")));
        }
        changed
            .extend(by_kind(self.changes.iter().flat_map(|one| &one.configuration).map(|one| &one.object)));
        let changed = if changed.is_empty() { "no rollout".to_owned() } else { joined(&changed, "and") };
        let since = self.changes.first().map(|first| format!(" since {}", in_utc(first.since, first.now)));
        let undated = by_kind(self.changes.iter().flat_map(|one| one.undated));
        let undated = undated.map(|count| format!("{count} without times"));
        let missing: Vec<_> =
            std::iter::once("revisions that were pruned".to_owned()).chain(undated).collect();
        let missing = joined(&missing, "and");
        let since = since.unwrap_or_default();
        let count = format!("{changed} changed{since}; {missing} are not listed");
        if self.contexts.is_empty() {
            return count;
        }
        let (contexts, unread) = counts(self.contexts);
        let contexts: Vec<_> = std::iter::once(contexts).chain(unread).collect();
        format!("{}: {count}", contexts.join(", "))
    }

    /// Returns the document. docs/json.md documents the fields.
    #[must_use]
    pub fn json(&self) -> Value {
        let mut items: Vec<_> = self.changes.iter().flat_map(RecentChanges::items).collect();
        let mut configuration: Vec<_> =
            self.changes.iter().flat_map(RecentChanges::configuration_items).collect();
        for all in [&mut items, &mut configuration] {
            all.sort_by_key(|(age, _)| *age);
        }
        let values =
            |all: Vec<(SignedDuration, Value)>| all.into_iter().map(|(_, item)| item).collect::<Value>();
        let mut facts = json!({
            "since": self.changes.first().map(|one| one.since.to_string()),
            "items": values(items),
            "configuration": values(configuration),
            "configurationWithoutTimes": self.changes.iter().map(|one| one.undated.len()).sum::<usize>(),
        });
        if !self.contexts.is_empty() {
            facts["contexts"] = self.contexts.iter().map(|one| one.json(self.local_time)).collect();
        }
        document("ChangeList", facts)
    }
}

impl RecentChanges<'_> {
    /// Keeps what belongs to workloads that are in trouble or whose rollout was undone.
    pub fn keep_incidents(&mut self, observed: &[Observation]) {
        let uid = |workload: &Workload| workload.object().uid().to_owned();
        let of = |one| Incident::of(one, &self.rollouts, &self.configuration, self.now);
        let kept: BTreeSet<_> =
            observed.iter().filter_map(of).map(|one| uid(&one.observed.workload)).collect();
        self.rollouts.retain(|one| kept.contains(&uid(&one.observed.workload)));
        let is_kept =
            |one: &&ConfigurationChange| one.readers.iter().any(|reader| kept.contains(&uid(reader)));
        self.configuration.retain(is_kept);
    }

    /// Returns the row of each change, with its age.
    fn rows(&self, layout: TableLayout<'_>) -> Vec<(SignedDuration, Vec<Line>)> {
        let rollouts = self.rollouts.iter();
        let rollouts = rollouts.map(|one| (self.age(one.used.start), self.rollout_row(one, layout)));
        let configuration = self.configuration.iter();
        let configuration =
            configuration.map(|one| (self.age_of(one.change.time), self.configuration_row(one, layout)));
        rollouts.chain(configuration).collect()
    }

    fn age(&self, start: UseStart) -> SignedDuration {
        self.age_of(start.earliest())
    }

    fn age_of(&self, time: Timestamp) -> SignedDuration {
        self.now.duration_since(time)
    }

    /// Returns the rollouts as JSON, each with its age.
    fn items(&self) -> Vec<(SignedDuration, Value)> {
        let item = |one: &RecentRollout<'_>| (self.age(one.used.start), self.with_context(rollout_json(one)));
        self.rollouts.iter().map(item).collect()
    }

    /// Returns the ConfigMaps and Secrets as JSON, each with its age.
    fn configuration_items(&self) -> Vec<(SignedDuration, Value)> {
        let item = |one: &ConfigurationChange| {
            (self.age_of(one.change.time), self.with_context(configuration_json(one)))
        };
        self.configuration.iter().copied().map(item).collect()
    }

    /// Adds the context, if there are several.
    fn with_context(&self, mut item: Value) -> Value {
        if let Some(context) = self.context {
            item["context"] = context.into();
        }
        item
    }

    fn rollout_row(&self, rollout: &RecentRollout<'_>, layout: TableLayout<'_>) -> Vec<Line> {
        let (workload, used) = (&rollout.observed.workload, &rollout.used);
        let cause = cause(used.revision).unwrap_or_else(|| "<none>".to_owned());
        let facts = [
            Line::of(workload.target()),
            number_cell(used.number, used.was),
            Line::of(changes_of(rollout)),
            or_dash(used.by.as_ref()),
            outcome_of(rollout),
        ];
        let wide = [used.revision.name.as_str(), &cause];
        self.row(used.start, workload.object().namespace(), facts, wide, layout)
    }

    fn configuration_row(&self, changed: &ConfigurationChange, layout: TableLayout<'_>) -> Vec<Line> {
        let facts = [
            Line::of(changed.object.target()),
            Line::default(),
            Line::of(readers(changed)),
            Line::of(&changed.change.manager),
            pods_of_change(changed),
        ];
        let start = UseStart::At(changed.change.time);
        self.row(start, &changed.object.namespace, facts, [""; 2], layout)
    }

    /// Returns a row: OBJECT, REVISION, CHANGES, BY and NOW, and in the wide table NAME and CHANGE-CAUSE.
    fn row(
        &self,
        start: UseStart,
        namespace: &str,
        facts: [Line; 5],
        wide: [&str; 2],
        layout: TableLayout<'_>,
    ) -> Vec<Line> {
        let time = match start {
            UseStart::At(time) => time.to_string(),
            UseStart::Between { earliest, .. } => format!("after {earliest}"),
        };
        let age = start_age(start, self.now);
        let mut cells: Vec<_> = self.context.iter().map(Line::of).collect();
        cells.push(Line::of(if layout.is_markdown() { &time } else { &age }));
        cells.extend(layout.namespaces.then(|| Line::of(namespace)));
        cells.extend(facts);
        if layout.is_wide() {
            cells.push(Line::of(time));
            cells.extend(wide.map(Line::of));
        }
        cells
    }
}

/// Returns what a rollout changed: `back to revision 4: image checkout:2.1`.
pub(super) fn changes_of(rollout: &RecentRollout<'_>) -> String {
    let summary = rollout.changes();
    let changes = change_words(summary.as_deref(), rollout.used.revision, rollout.is_first());
    let back = match rollout.used.was {
        _ if !rollout.used.is_return => return changes,
        Some(was) => format!("back to revision {was}"),
        None => "back to an earlier revision".to_owned(),
    };
    if summary.is_some() { format!("{back}: {changes}") } else { back }
}

/// Returns what became of a rollout: `current, 3/3 pods`, `undone`, `stuck: app: CrashLoopBackOff`, `stable, 3/3 ready`.
fn outcome_of(rollout: &RecentRollout<'_>) -> Line {
    let stable_pods = rollout.pods.filter(|pods| rollout.role == Some(Role::Stable) && pods.ready > 0);
    match (&rollout.view, stable_pods) {
        (Some(view), _) => Line::styled(state_style(view.state()), in_use(view, state(rollout))),
        (None, Some(pods)) => {
            Line::styled(Style::Good, format!("stable, {}/{} ready", pods.ready, pods.total))
        }
        (None, None) => Line::of(state(rollout)),
    }
}

fn in_use(view: &RolloutView, word: &str) -> String {
    match view.state() {
        RolloutState::Unobserved => word.to_owned(),
        _ if view.needs_a_fix() => format!("{word}: {}", list::cause(view).text()),
        _ => format!("{word}, {}", progress(view.counts, view.available)),
    }
}

/// Returns the name of what became of a rollout.
fn state(rollout: &RecentRollout<'_>) -> &'static str {
    match (&rollout.view, rollout.used.end) {
        (Some(view), _) if view.state() == RolloutState::Complete => "current",
        (Some(view), _) => view.state().word(),
        (None, Some(UseEnd::Undone)) => "undone",
        (None, _) => "replaced",
    }
}

/// Returns a rollout as JSON.
fn rollout_json(rollout: &RecentRollout<'_>) -> Value {
    let (used, revision) = (&rollout.used, rollout.used.revision);
    let (time, earliest) = match used.start {
        UseStart::At(time) => (Some(time), None),
        UseStart::Between { earliest, .. } => (None, Some(earliest)),
    };
    let pods = rollout.view.as_ref().zip(rollout.pods).map(
        |(view, count)| json!({"ready": count.ready, "total": count.total, "wanted": view.counts.wanted}),
    );
    let causes = rollout.view.iter().flat_map(|view| &view.causes).map(cause_json);
    json!({
        "time": time.map(|time| time.to_string()),
        "earliest": earliest.map(|time| time.to_string()),
        "workload": workload_json(&rollout.observed.workload),
        "revision": used.number,
        "was": used.was,
        "name": revision.name,
        "return": used.is_return,
        "changes": rollout.changes(),
        "images": revision.images(),
        "changeCause": cause(revision),
        "by": used.by,
        "state": state(rollout),
        "pods": pods,
        "causes": causes.collect::<Vec<_>>(),
    })
}

/// Counts ConfigMaps and Secrets: `1 ConfigMap`, `2 Secrets`.
fn by_kind<'a>(objects: impl Iterator<Item = &'a Configuration>) -> impl Iterator<Item = String> {
    let mut counts = BTreeMap::<&str, usize>::new();
    for object in objects {
        *counts.entry(object.type_.kind).or_default() += 1;
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
    json!({
        "kind": changed.object.type_.kind,
        "namespace": changed.object.namespace,
        "name": changed.object.name,
        "time": changed.change.time.to_string(),
        "by": changed.change.manager,
        "readBy": changed.readers.iter().map(workload_json).collect::<Vec<_>>(),
        "readAtStart": changed.is_read_at_start,
        "pods": changed.pods.filter(|_| changed.is_read_at_start),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::cause::{Cause, CauseId, CauseSeverity};
    use crate::model::kind::verdict::Verdict;
    use crate::model::observation::Observation;

    #[test]
    fn only_a_cause_that_needs_a_fix_is_in_the_place_of_the_pods() {
        let workload = json!({"kind": "Deployment", "metadata": {"name": "w"}, "spec": {"replicas": 3}});
        let observed = Observation::of_alone(Workload::of_json(&workload).unwrap());
        for (severity, expected) in [
            (CauseSeverity::MayPass, "progressing, 0/3 updated, 0/3 available"),
            (CauseSeverity::Fatal, "progressing: why"),
        ] {
            let causes = vec![Cause { severity, ..Cause::new(CauseId::QuotaExceeded, "why") }];
            let verdict = Verdict { state: RolloutState::Progressing, line: String::new() };
            let view = RolloutView::with(&observed, verdict, causes, Timestamp::UNIX_EPOCH);
            assert_eq!(in_use(&view, view.state().word()), expected);
        }
    }
}
