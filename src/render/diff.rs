//! A diff as text, with its colours as data, and as JSON.

use serde_json::{Value, json};

use super::escape;
use super::style::{Span, Style};
use crate::model::diff::{Change, Diff, Hunk, HunkLine, Path, Row, Side};

/// The line that names the workload and the two sides: `deployment.apps/web  revision 3 -> 5`.
#[must_use]
pub fn title(workload: &str, from: &str, to: &str) -> Vec<Span> {
    // Of two revisions the word is said once.
    let to = match (from.strip_prefix("revision "), to.strip_prefix("revision ")) {
        (Some(_), Some(to)) => to,
        _ => to,
    };
    vec![
        Span::new(Style::Heading, escape::line(workload)),
        Span::plain(format!("  {} -> {}\n", escape::line(from), escape::line(to))),
    ]
}

/// The changes in words, in columns; a container is named once.
///
/// Each row must stay one line wherever it goes, so what is in it is escaped for a pipe too: the
/// exact values are in the hunks and in the JSON.
#[must_use]
pub fn rows(rows: &[Row]) -> Vec<Span> {
    let width = |column: fn(&Row) -> &str| {
        rows.iter().map(|row| escape::line(column(row)).chars().count()).max().unwrap_or_default()
    };
    let (scope_width, subject_width) = (width(|row| &row.scope), width(|row| &row.subject));
    let mut spans = Vec::new();
    let mut before = "";
    for row in rows {
        let scope = if row.scope == before { "" } else { row.scope.as_str() };
        before = &row.scope;
        spans.push(Span::new(Style::Heading, format!("  {:scope_width$}", escape::line(scope))));
        let subject = escape::line(&row.subject);
        spans.push(Span::plain(format!("   {subject:subject_width$}   {}\n", escape::line(&row.text))));
    }
    spans
}

/// What is said when no row is: that nothing differs, or nothing but the order of some lists.
#[must_use]
pub fn no_differences(reordered: &[Path]) -> Vec<Span> {
    let lists: Vec<String> = reordered.iter().map(place).collect();
    let order =
        if lists.is_empty() { String::new() } else { format!(" but the order of {}", lists.join(", ")) };
    vec![Span::plain(format!("no differences{}\n", escape::line(&order)))]
}

/// The unified diff: `---` and `+++` name the sides, `@@` says where, changed words stand out.
#[must_use]
pub fn unified(from: &str, to: &str, hunks: &[Hunk]) -> Vec<Span> {
    let mut spans = vec![
        Span::new(Style::Removed, format!("--- {}", escape::line(from))),
        Span::plain("\n"),
        Span::new(Style::Added, format!("+++ {}", escape::line(to))),
        Span::plain("\n"),
    ];
    for hunk in hunks {
        spans.push(Span::new(Style::Place, format!("@@ {} @@", escape::line(&places(&hunk.places)))));
        spans.push(Span::plain("\n"));
        spans.extend(hunk.lines.iter().flat_map(line));
    }
    spans
}

/// As many places as a line has room for.
const MOST_PLACES: usize = 3;

fn places(paths: &[Path]) -> String {
    let named: Vec<String> = paths.iter().take(MOST_PLACES).map(place).collect();
    let more = match paths.len().saturating_sub(MOST_PLACES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", named.join(", "))
}

fn place(path: &Path) -> String {
    if path.steps().is_empty() { "template".to_owned() } else { path.to_string() }
}

fn line(line: &HunkLine) -> Vec<Span> {
    let (sign, style, changed_style) = match line.side {
        Side::Both => (' ', Style::Plain, Style::Plain),
        Side::From => ('-', Style::Removed, Style::RemovedWord),
        Side::To => ('+', Style::Added, Style::AddedWord),
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

/// The changes as a JSON list of `{path, container, field, from, to}`; null is nothing there.
#[must_use]
pub fn json(diff: &Diff) -> String {
    let changes: Vec<Value> = diff.changes().iter().map(change_json).collect();
    format!("{:#}\n", Value::from(changes))
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
