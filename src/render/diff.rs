//! Formats a diff of two templates as styled text and as JSON.

use serde_json::{Value, json};

use super::escape;
use super::pod_update;
use super::status::workload_json;
use super::style::{Span, Style};
use crate::model::revision::diff::{Change, ChangeRow, Diff, DiffSide, Hunk, HunkLine, TemplatePath};
use crate::model::revision::pod_update::PodUpdate;
use crate::model::text::digest::Digest;
use crate::model::text::plural::first_of;
use crate::model::workload::Workload;

/// Returns the title line: `deployment.apps/web  revision 3 -> 5`.
#[must_use]
pub fn title(workload: &str, from: &str, to: &str) -> Vec<Span> {
    // Print the word "revision" only once.
    let to = match (from.strip_prefix("revision "), to.strip_prefix("revision ")) {
        (Some(_), Some(to)) => to,
        _ => to,
    };
    vec![
        Span::new(Style::Heading, escape::line(workload)),
        Span::plain(format!("  {} -> {}\n", escape::line(from), escape::line(to))),
    ]
}

/// Returns the changes in aligned columns. The name of a container is printed only in its first row.
///
/// Values are escaped even for a pipe, so that each row stays one line. The unified diff and the JSON have the
/// exact values.
#[must_use]
pub fn rows(rows: &[ChangeRow]) -> Vec<Span> {
    let width = |column: fn(&ChangeRow) -> &str| {
        rows.iter().map(|row| escape::line(column(row)).chars().count()).max().unwrap_or_default()
    };
    let (scope_width, field_width) = (width(|row| &row.scope), width(|row| &row.field));
    let mut spans = Vec::new();
    let mut before = "";
    for row in rows {
        let scope = if row.scope == before { "" } else { row.scope.as_str() };
        before = &row.scope;
        spans.push(Span::new(Style::Heading, format!("  {:scope_width$}", escape::line(scope))));
        let field = escape::line(&row.field);
        spans.push(Span::plain(format!("   {field:field_width$}   {}\n", escape::line(&row.text))));
    }
    spans
}

/// Returns the comparison with a workload elsewhere: the digests, the changes, and the fields that were left out.
#[must_use]
pub fn elsewhere(diff: &Diff, [from, to]: [Digest; 2], not_compared: &[TemplatePath]) -> Vec<Span> {
    let mut spans = match (from == to, diff.is_empty()) {
        (true, _) => vec![Span::new(Style::Good, format!("equal: {from:?}\n"))],
        (false, true) => no_differences(diff.reordered()),
        (false, false) => rows(&diff.rows()),
    };
    if from != to {
        spans.insert(0, Span::plain(format!("  {from:?} -> {to:?}\n")));
    }
    if !not_compared.is_empty() {
        let fields: Vec<String> = not_compared.iter().map(place).collect();
        spans.push(Span::plain(format!("  not compared: {}\n", escape::line(&fields.join(", ")))));
    }
    spans
}

/// Returns the line for an empty diff: no differences at all, or only the order of some lists.
#[must_use]
pub fn no_differences(reordered: &[TemplatePath]) -> Vec<Span> {
    let lists: Vec<String> = reordered.iter().map(place).collect();
    let order =
        if lists.is_empty() { String::new() } else { format!(" except the order of {}", lists.join(", ")) };
    vec![Span::plain(format!("no differences{}\n", escape::line(&order)))]
}

/// Returns the unified diff, with the paths of each hunk after `@@` and the changed words highlighted.
#[must_use]
pub fn unified(from: &str, to: &str, hunks: &[Hunk]) -> Vec<Span> {
    let mut spans = vec![
        Span::new(Style::Removed, format!("--- {}", escape::line(from))),
        Span::plain("\n"),
        Span::new(Style::Added, format!("+++ {}", escape::line(to))),
        Span::plain("\n"),
    ];
    for hunk in hunks {
        spans.push(Span::new(Style::Location, format!("@@ {} @@", escape::line(&paths(&hunk.paths)))));
        spans.push(Span::plain("\n"));
        spans.extend(hunk.lines.iter().flat_map(line));
    }
    spans
}

/// The most paths in the header of a hunk.
const MAX_PATHS: usize = 3;

fn paths(paths: &[TemplatePath]) -> String {
    first_of(&paths.iter().map(place).collect::<Vec<_>>(), MAX_PATHS, ", ")
}

fn place(path: &TemplatePath) -> String {
    if path.steps().is_empty() { "template".to_owned() } else { path.to_string() }
}

fn line(line: &HunkLine) -> Vec<Span> {
    let (sign, style, changed_style) = match line.side {
        DiffSide::Both => (' ', Style::Plain, Style::Plain),
        DiffSide::From => ('-', Style::Removed, Style::RemovedWord),
        DiffSide::To => ('+', Style::Added, Style::AddedWord),
    };
    let mut spans = vec![Span::new(style, sign)];
    let mut done = 0;
    for changed in &line.changed {
        spans.push(Span::new(style, &line.text[done..changed.start]));
        spans.push(Span::new(changed_style, &line.text[changed.clone()]));
        done = changed.end;
    }
    spans.push(Span::new(style, &line.text[done..]));
    spans.push(Span::plain("\n"));
    spans.retain(|span| !span.text.is_empty());
    spans
}

/// Returns the line about the pods of the workload.
#[must_use]
pub fn pod_update(words: &str) -> Vec<Span> {
    vec![Span::plain(format!("  {}\n", escape::line(words)))]
}

/// Returns the number in the label of a side: 3 for `revision 3` and for `namespace dev, revision 3`.
fn revision_number(side: &str) -> Option<i64> {
    side.rsplit(", ").next()?.strip_prefix("revision ")?.parse().ok()
}

/// The workload elsewhere of a comparison.
pub struct DiffWith<'a> {
    /// The workload.
    pub workload: &'a Workload,
    /// Its context, if it is another one.
    pub context: Option<&'a str>,
    /// The file that it is from.
    pub file: Option<&'a str>,
    /// The fields that differ and were left out.
    pub not_compared: &'a [TemplatePath],
}

/// Returns the comparison of two templates as JSON. docs/json.md documents the fields.
#[must_use]
pub fn json(
    workload: &Workload,
    [(from, from_digest), (to, to_digest)]: [(&str, Digest); 2],
    with: Option<DiffWith<'_>>,
    diff: &Diff,
    update: &PodUpdate,
) -> Value {
    let digest = |digest: Digest| format!("sha256:{}", digest.hex());
    let update = with.is_none().then(|| pod_update::json(update));
    let with = with.map(|with| {
        let not_compared: Vec<String> = with.not_compared.iter().map(ToString::to_string).collect();
        json!({
            "workload": workload_json(with.workload),
            "context": with.context,
            "file": with.file,
            "notCompared": not_compared,
        })
    });
    json!({
        "apiVersion": "rollout2/v1",
        "kind": "Diff",
        "workload": workload_json(workload),
        "with": with,
        "from": from,
        "to": to,
        "fromRevision": revision_number(from),
        "toRevision": revision_number(to),
        "fromDigest": digest(from_digest),
        "toDigest": digest(to_digest),
        "changes": changes(diff),
        "podUpdate": update,
    })
}

/// Returns the changes as JSON; `null` means an absent value.
#[must_use]
pub fn changes(diff: &Diff) -> Value {
    diff.changes().iter().map(change_json).collect()
}

fn change_json(change: &Change) -> Value {
    json!({
        "path": change.path.to_string(),
        "container": change.container(),
        "field": change.field(),
        "from": change.from,
        "to": change.to,
    })
}
