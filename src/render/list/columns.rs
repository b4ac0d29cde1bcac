//! The columns of `list`: one cell for each fact of a rollout, and how the rows fit into the width of a terminal.

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use crate::model::api::object::Object;
use crate::model::diff::within_line;
use crate::model::kind::verdict::RolloutState;
use crate::model::view::RolloutView;
use crate::render::age::{age, start_age};
use crate::render::cause::cause_style;
use crate::render::columns::or_dash;
use crate::render::line::{Line, Style};
use crate::render::narrow::{INDENT, Narrowing};
use crate::render::state_words::state_style;
use crate::render::table::TableLayout;

/// The columns of the table.
#[derive(Clone, Copy, Debug)]
pub struct ListColumns<'a> {
    /// How the table is printed.
    pub layout: TableLayout<'a>,
    /// The labels with a column of their own.
    pub labels: &'a [String],
    /// Whether one column has all labels.
    pub has_all_labels: bool,
}

/// A column: its name, and the cell of a rollout at a moment.
type Column = (&'static str, fn(&RolloutView, Timestamp) -> Line);

/// The name of the column of states.
const STATE: &str = "STATE";

impl ListColumns<'_> {
    /// Returns the columns without those of labels, which are before the last one, the cause.
    fn facts(self) -> Vec<Column> {
        let always: [Column; 6] = [
            ("WORKLOAD", |one, _| Line::of(one.workload.target())),
            ("REVISION", |one, _| Line::of(revision(one))),
            (STATE, |one, _| state(one)),
            ("UPDATED", |one, _| updated(one)),
            ("AVAILABLE", |one, _| available(one)),
            ("SINCE", |one, now| or_dash(one.since.map(|since| age(since, now)))),
        ];
        let mut columns = always.to_vec();
        if self.layout.namespaces {
            columns.insert(0, ("NAMESPACE", |one, _| Line::of(one.workload.object().namespace())));
        }
        if self.layout.is_wide() {
            columns.push(("IMAGES", |one, _| {
                let images: Vec<_> = one.workload.template().images().into_iter().map(within_line).collect();
                Line::of(images.join(","))
            }));
            columns.push(("CHANGED", |one, now| {
                or_dash(one.change.as_ref().map(|change| start_age(change.start, now)))
            }));
            columns.push(("BY", |one, _| or_dash(one.change.as_ref().and_then(|change| change.by.as_ref()))));
        }
        columns.push(("CAUSE", |one, _| cause(one)));
        columns
    }

    /// Whether two states of an object have the same cells of labels.
    #[must_use]
    pub fn have_same_labels(self, one: &Object, other: &Object) -> bool {
        self.labels.iter().all(|key| one.label(key) == other.label(key))
            && (!self.has_all_labels || labels_of(one) == labels_of(other))
    }

    /// Returns the names of the columns, which are empty for those of labels.
    pub(super) fn names(self) -> Vec<&'static str> {
        let names = self.facts().into_iter().map(|(name, _)| name).collect();
        let labels = self.labels.len() + usize::from(self.has_all_labels);
        with_labels(names, std::iter::repeat_n("", labels))
    }

    /// Returns the index of the column of states.
    pub(super) fn state(self) -> usize {
        self.names().iter().position(|column| *column == STATE).unwrap_or_default()
    }

    /// Returns the header. As in kubectl, that of a label is its name without its prefix.
    pub(super) fn header(self) -> Vec<Line> {
        let name = |key: &String| Line::of(key.rsplit('/').next().unwrap_or_default().to_uppercase());
        let labels = self.labels.iter().map(name);
        let labels = labels.chain(self.has_all_labels.then(|| Line::of("LABELS")));
        with_labels(self.facts().into_iter().map(|(name, _)| Line::of(name)).collect(), labels)
    }

    /// Returns the row of a rollout.
    pub(super) fn row(self, rollout: &RolloutView, now: Timestamp) -> Vec<Line> {
        let object = rollout.workload.object();
        let one = |key: &String| Line::of(object.label(key).unwrap_or_default());
        let labels = self.labels.iter().map(one);
        let labels = labels.chain(self.has_all_labels.then(|| Line::of(labels_of(object))));
        with_labels(self.facts().into_iter().map(|(_, cell)| cell(rollout, now)).collect(), labels)
    }

    /// Returns how the table fits into a narrow terminal.
    pub(super) fn narrowings(self) -> &'static [Narrowing] {
        if self.layout.is_wide() { WIDE_NARROWINGS } else { NARROWINGS }
    }
}

/// Adds the cells of labels to a row, before the cause.
fn with_labels<T>(mut row: Vec<T>, labels: impl Iterator<Item = T>) -> Vec<T> {
    let cause = row.pop();
    row.into_iter().chain(labels).chain(cause).collect()
}

/// Returns all labels, as kubectl prints them: `app=web,tier=front`.
fn labels_of(object: &Object) -> String {
    let labels = object.at("/metadata/labels").and_then(Value::as_object).into_iter().flatten();
    let labels: Vec<_> =
        labels.filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?))).collect();
    if labels.is_empty() { "<none>".to_owned() } else { labels.join(",") }
}

fn state(rollout: &RolloutView) -> Line {
    let has_held_pods = rollout.held_pods() > 0;
    let style = if has_held_pods { Style::Warning } else { state_style(rollout.state()) };
    Line::styled(style, rollout.state().word())
}

/// Returns the number of the current revision: `new` while the live template has none, `-` if revisions are unknown and for a
/// kind without revisions.
fn revision(rollout: &RolloutView) -> String {
    match rollout.revision {
        None if rollout.workload.kind().read_only().is_some() => "-".to_owned(),
        Some(number) => number.to_string(),
        None if rollout.revision_name.is_none() && !rollout.unknown.contains(&"revisions") => {
            "new".to_owned()
        }
        None => "-".to_owned(),
    }
}

/// Returns the updated pods: `2/5`, or `2/5, 3 held` for a complete rollout whose partition keeps the others. Before the
/// controller has observed the live template, its counters are about another one.
fn updated(rollout: &RolloutView) -> Line {
    let (counts, held) = (rollout.counts, rollout.held_pods());
    match rollout.state() {
        RolloutState::Unobserved => Line::of(format!("-/{}", counts.wanted)),
        _ if held > 0 => Line::of(format!("{}/{}, {held} held", counts.updated, counts.wanted)),
        _ => Line::of(format!("{}/{}", counts.updated, counts.wanted)),
    }
}

/// Returns the available pods: `3/3`, or `0/3 outage` if none serves.
fn available(rollout: &RolloutView) -> Line {
    let wanted = rollout.counts.wanted;
    let style = if rollout.available == Some(0) && wanted > 0 { Style::Bad } else { Style::Plain };
    let available =
        rollout.available.map_or_else(|| "-".to_owned(), |available| format!("{available}/{wanted}"));
    Line::styled(style, if rollout.is_outage { available + " outage" } else { available })
}

/// Returns the first cause, and the number of the others: `app: CrashLoopBackOff, exit 1 (and 1 more)`. Without a cause,
/// a failure, a hold and a change that the controller has not observed have the line of their verdict, and a complete
/// rollout has the hold of its next change. A hold of this program is short.
pub(in crate::render) fn cause(rollout: &RolloutView) -> Line {
    let [first, others @ ..] = rollout.causes.as_slice() else {
        return match rollout.state() {
            RolloutState::Failed => Line::styled(Style::Bad, &rollout.verdict.line),
            RolloutState::Unobserved | RolloutState::Held => Line::of(&rollout.verdict.line),
            _ => Line::styled(Style::Warning, rollout.next_change_hold.as_deref().unwrap_or_default()),
        };
    };
    let more = if others.is_empty() { String::new() } else { format!(" (and {} more)", others.len()) };
    let words = rollout.brief_hold().map_or_else(|| first.words(), |(words, _)| words);
    Line::styled(cause_style(first), words + &more)
}

/// Returns the line below a row with the command that continues or ends a hold of this program.
pub(super) fn command_below(rollout: &RolloutView) -> Option<Line> {
    rollout.brief_hold().map(|(_, command)| Line::of(command.to_string()).indented(INDENT))
}

/// How the table fits into a narrow terminal.
const NARROWINGS: &[Narrowing] = &[
    Narrowing::Below("CAUSE"),
    Narrowing::LeaveOut("REVISION"),
    Narrowing::LeaveOut("UPDATED"),
    Narrowing::Shorten("WORKLOAD", 12),
    Narrowing::LeaveOut("SINCE"),
    Narrowing::LeaveOut("AVAILABLE"),
    Narrowing::LeaveOut("NAMESPACE"),
];

/// How the wide table does.
const WIDE_NARROWINGS: &[Narrowing] = &[Narrowing::Below("CAUSE"), Narrowing::Shorten("IMAGES", 12)];
