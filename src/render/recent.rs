//! `history --since` as a table and as JSON.

use std::collections::BTreeSet;

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use super::columns::Table;
use super::line::Line;
use super::list::cause_text;
use super::start_time::{in_utc, start_age};
use super::status::{cause_json, workload_json};
use super::style::Style;
use crate::model::diff::short_digests;
use crate::model::kind::verdict::RolloutState;
use crate::model::observation::PodCount;
use crate::model::status::uses::{UseEnd, UseStart};
use crate::model::text::plural::plural;
use crate::model::text::secret::without_secrets;
use crate::model::view::RolloutView;
use crate::model::view::recent::{RecentRollout, UseNow};
use crate::world::Terminal;

/// What changed since a time.
#[derive(Clone, Copy, Debug)]
pub struct RecentChanges<'a> {
    /// The rollouts, newest first.
    pub rollouts: &'a [RecentRollout],
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

impl RecentChanges<'_> {
    /// Returns the table, with a last line that counts the rollouts.
    #[must_use]
    pub fn table(&self, options: RecentTableOptions) -> Vec<Line> {
        let mut columns = vec!["AGO", "OBJECT", "REVISION", "CHANGES", "BY", "NOW"];
        if options.namespaces {
            columns.insert(1, "NAMESPACE");
        }
        if options.wide {
            columns.extend(["TIME", "NAME", "CHANGE-CAUSE"]);
        }
        let mut table = Table::new(&columns);
        for rollout in self.rollouts {
            table.row(&self.row(rollout, options));
        }
        if let Some(terminal) = options.terminal.filter(|_| !options.wide && !options.markdown) {
            table.fit(terminal.width.into(), &["CHANGES", "NOW", "BY"]);
        }
        let mut lines = match (self.rollouts, options.markdown) {
            ([], _) => Vec::new(),
            (_, true) => table.markdown().into_iter().chain([Line::default()]).collect(),
            (_, false) => table.lines("NOW", now_style),
        };
        lines.push(Line::of(self.count()));
        lines
    }

    fn row(&self, rollout: &RecentRollout, options: RecentTableOptions) -> Vec<String> {
        let time = match rollout.start {
            UseStart::At(time) => time.to_string(),
            UseStart::Between { earliest, .. } => format!("after {earliest}"),
        };
        let dash = || "-".to_owned();
        let number = rollout.revision.map_or_else(dash, |number| number.to_string());
        let was = rollout.was.map(|was| format!(" (was {was})")).unwrap_or_default();
        let mut cells = vec![
            start_age(rollout.start, self.now),
            rollout.workload.target(),
            number + &was,
            changes(rollout),
            rollout.by.clone().unwrap_or_else(dash),
            now_words(&rollout.now),
        ];
        if options.namespaces {
            cells.insert(1, rollout.workload.object().namespace().to_owned());
        }
        if options.wide {
            let cause = rollout.cause.as_deref().map_or_else(|| "<none>".to_owned(), without_secrets);
            cells.extend([time, rollout.name.clone(), cause]);
        }
        cells
    }

    /// Returns `3 rollouts of 2 workloads changed since 14:10 UTC; revisions that were pruned are not listed`.
    fn count(&self) -> String {
        let changed = match self.rollouts {
            [] => "no rollout changed".to_owned(),
            rollouts => {
                let uids: BTreeSet<_> = rollouts.iter().map(|one| one.workload.object().uid()).collect();
                let (rollouts, workloads) =
                    (plural(rollouts.len(), "rollout"), plural(uids.len(), "workload"));
                format!("{rollouts} of {workloads} changed")
            }
        };
        let since = in_utc(self.since, self.now);
        format!("{changed} since {since}; revisions that were pruned are not listed")
    }

    /// Returns the document. docs/json.md documents the fields.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({
            "apiVersion": "rollout2/v1",
            "kind": "ChangeList",
            "since": self.since.to_string(),
            "items": self.rollouts.iter().map(rollout_json).collect::<Vec<_>>(),
        })
    }
}

/// Returns what a rollout changed: `back to revision 4: image checkout:2.1`.
fn changes(rollout: &RecentRollout) -> String {
    let changes = rollout.changes.as_ref().map(|changes| match changes.as_slice() {
        [] => "no change".to_owned(),
        changes => changes.join(", "),
    });
    let back = match rollout.was {
        Some(was) => format!("back to revision {was}"),
        None => "back to an earlier revision".to_owned(),
    };
    match (rollout.is_return, changes) {
        (true, Some(changes)) => format!("{back}: {changes}"),
        (true, None) => back,
        (false, Some(changes)) => changes,
        (false, None) => {
            let images: Vec<_> = rollout.images.iter().map(|image| short_digests(image)).collect();
            format!("{}: {}", if rollout.is_first { "first" } else { "oldest kept" }, images.join(", "))
        }
    }
}

/// Returns what became of a rollout: `current, 3/3 pods`, `undone`, `stuck: app: CrashLoopBackOff`.
fn now_words(now: &UseNow) -> String {
    let (view, pods) = match now {
        UseNow::Ended(_) => return state(now).to_owned(),
        UseNow::InUse { view, pods } => (view, pods),
    };
    let cause = Some(cause_text(view)).filter(|cause| !cause.is_empty());
    let with = |words: String, cause: Option<String>| match cause {
        Some(cause) => format!("{words}: {cause}"),
        None => words,
    };
    let word = state(now).to_owned();
    match view.state() {
        RolloutState::Stuck | RolloutState::Failed => with(word, cause),
        RolloutState::Unobserved => word,
        RolloutState::Complete => {
            let held = Some(view.held_pods()).filter(|held| *held > 0);
            format!(
                "{word}, {}{}",
                pods_words(view, *pods),
                held.map(|held| format!(", {held} held")).unwrap_or_default()
            )
        }
        RolloutState::Progressing | RolloutState::Paused | RolloutState::Held => {
            with(format!("{word}, {}", pods_words(view, *pods)), cause.filter(|_| view.needs_a_fix))
        }
    }
}

/// Returns the ready pods of the revision: `3/3 pods`; without pods, those that the controller counts as updated.
fn pods_words(view: &RolloutView, pods: Option<PodCount>) -> String {
    let wanted = view.counts.wanted;
    match pods {
        Some(count) => format!("{}/{wanted} pods", count.ready),
        None => format!("{}/{wanted} pods", view.counts.updated),
    }
}

/// Returns the name of what became of a rollout.
fn state(now: &UseNow) -> &'static str {
    match now {
        UseNow::Ended(UseEnd::Undone) => "undone",
        UseNow::Ended(UseEnd::Replaced) => "replaced",
        UseNow::InUse { view, .. } if view.state() == RolloutState::Complete => "current",
        UseNow::InUse { view, .. } => view.state().word(),
    }
}

/// Returns the style of a cell of NOW.
fn now_style(cell: &str) -> Style {
    match cell.split([',', ':']).next().unwrap_or_default() {
        "current" => Style::Good,
        "stuck" | "failed" => Style::Bad,
        "held" | "paused" => Style::Warning,
        _ => Style::Plain,
    }
}

fn rollout_json(rollout: &RecentRollout) -> Value {
    let (time, earliest) = match rollout.start {
        UseStart::At(time) => (Some(time), None),
        UseStart::Between { earliest, .. } => (None, Some(earliest)),
    };
    let (pods, causes) = match &rollout.now {
        UseNow::Ended(_) => (None, Vec::new()),
        UseNow::InUse { view, pods } => {
            let pods = pods.map(
                |count| json!({"ready": count.ready, "total": count.total, "wanted": view.counts.wanted}),
            );
            (pods, view.causes.iter().map(cause_json).collect())
        }
    };
    json!({
        "time": time.map(|time| time.to_string()),
        "earliest": earliest.map(|time| time.to_string()),
        "workload": workload_json(&rollout.workload),
        "revision": rollout.revision,
        "was": rollout.was,
        "name": rollout.name,
        "return": rollout.is_return,
        "changes": rollout.changes,
        "images": rollout.images,
        "changeCause": rollout.cause.as_deref().map(without_secrets),
        "by": rollout.by,
        "state": state(&rollout.now),
        "pods": pods,
        "causes": causes,
    })
}
