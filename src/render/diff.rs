//! Formats a diff of two templates as styled text and as JSON.

use serde_json::{Value, json};

use super::columns::aligned;
use super::json::{document, revision_json, workload_json};
use super::line::{Line, Style};
use super::pods;
use crate::model::change::effect::UpdatedPods;
use crate::model::diff::{Change, ChangeRow, Diff, DiffSide, Hunk, HunkLine, TemplatePath};
use crate::model::kind::Workload;
use crate::model::text::json::Digest;
use crate::model::text::plural::first_of;

/// Returns the title line: `deployment/web  revision 3 -> 5`.
#[must_use]
pub fn title(workload: &str, from: &str, to: &str) -> Line {
    // Print the word "revision" only once.
    let to = match (from.strip_prefix("revision "), to.strip_prefix("revision ")) {
        (Some(_), Some(to)) => to,
        _ => to,
    };
    Line::styled(Style::Heading, workload).with(Style::Plain, format!("  {from} -> {to}"))
}

/// Returns the changes in aligned columns. The name of a container is printed only in its first row.
#[must_use]
pub fn rows(rows: &[ChangeRow]) -> Vec<Line> {
    let mut before = "";
    let cells = rows.iter().map(|row| {
        let scope = if row.scope == before { "" } else { row.scope.as_str() };
        before = &row.scope;
        let text = if row.text.is_empty() { String::new() } else { format!(" {}", row.text) };
        vec![
            Line::styled(Style::Heading, format!("  {scope}")),
            Line::of(format!(" {}", row.field)),
            Line::of(text),
        ]
    });
    aligned(cells.collect())
}

/// Returns the comparison with a workload elsewhere: the digests, the changes, and the fields that were left out.
#[must_use]
pub fn elsewhere(diff: &Diff, [from, to]: [Digest; 2], not_compared: &[TemplatePath]) -> Vec<Line> {
    let mut lines = match (from == to, diff.is_empty()) {
        (true, _) => vec![Line::styled(Style::Good, format!("equal: {from:?}"))],
        (false, true) => vec![no_differences(&diff.reordered)],
        (false, false) => rows(&diff.rows()),
    };
    if from != to {
        lines.insert(0, Line::of(format!("  {from:?} -> {to:?}")));
    }
    if !not_compared.is_empty() {
        let fields: Vec<String> = not_compared.iter().map(place).collect();
        lines.push(Line::of(format!("  not compared: {}", fields.join(", "))));
    }
    lines
}

/// Returns the line for an empty diff: no differences at all, or only the order of some lists.
#[must_use]
pub fn no_differences(reordered: &[TemplatePath]) -> Line {
    let lists: Vec<String> = reordered.iter().map(place).collect();
    let order =
        if lists.is_empty() { String::new() } else { format!(" except the order of {}", lists.join(", ")) };
    Line::of(format!("no differences{order}"))
}

/// Returns the unified diff, with the paths of each hunk after `@@`.
#[must_use]
pub fn unified(from: &str, to: &str, hunks: &[Hunk]) -> Vec<Line> {
    let mut lines = vec![
        Line::styled(Style::Removed, format!("--- {from}")),
        Line::styled(Style::Added, format!("+++ {to}")),
    ];
    for hunk in hunks {
        lines.push(Line::styled(Style::Location, format!("@@ {} @@", paths(&hunk.paths))));
        lines.extend(hunk.lines.iter().map(line));
    }
    lines
}

/// The most paths in the header of a hunk.
const MAX_PATHS: usize = 3;

fn paths(paths: &[TemplatePath]) -> String {
    first_of(&paths.iter().map(place).collect::<Vec<_>>(), MAX_PATHS, ", ")
}

fn place(path: &TemplatePath) -> String {
    if path.steps().is_empty() { "template".to_owned() } else { path.to_string() }
}

fn line(line: &HunkLine) -> Line {
    let (sign, style) = match line.side {
        DiffSide::Both => (" ", Style::Plain),
        DiffSide::From => ("-", Style::Removed),
        DiffSide::To => ("+", Style::Added),
    };
    Line::styled(style, sign).with_tabs(style, &line.text)
}

/// Returns the revision in the label of a side as JSON: 3 for `revision 3` and for `namespace dev, revision 3`.
fn revision_of(side: &str) -> Option<Value> {
    side.rsplit(", ").next()?.strip_prefix("revision ").map(revision_json)
}

/// The workload elsewhere of a comparison.
#[derive(Debug)]
pub struct OtherWorkload {
    /// The workload.
    pub workload: Workload,
    /// Its context, if it is another one.
    pub context: Option<String>,
    /// The fields that differ and belong to the place, which are left out.
    pub not_compared: Vec<TemplatePath>,
}

/// Returns the comparison of two templates as JSON. docs/json.md documents the fields.
#[must_use]
pub fn json(
    workload: &Workload,
    [(from, from_digest), (to, to_digest)]: [(&str, Digest); 2],
    with: Option<&OtherWorkload>,
    diff: &Diff,
    update: &UpdatedPods,
) -> Value {
    let digest = |digest: Digest| format!("sha256:{}", digest.hex());
    let update = with.is_none().then(|| pods::plan_update_json(update));
    let with = with.map(|with| {
        let not_compared: Vec<String> = with.not_compared.iter().map(ToString::to_string).collect();
        json!({
            "workload": workload_json(&with.workload),
            "context": with.context,
            "notCompared": not_compared,
        })
    });
    let facts = json!({
        "workload": workload_json(workload),
        "with": with,
        "from": from,
        "to": to,
        "fromRevision": revision_of(from),
        "toRevision": revision_of(to),
        "fromDigest": digest(from_digest),
        "toDigest": digest(to_digest),
        "changes": changes(diff),
        "reordered": reordered(diff),
        "podUpdate": update,
    });
    document("Diff", facts)
}

/// Returns the changes as JSON; `null` means an absent value.
#[must_use]
pub fn changes(diff: &Diff) -> Value {
    diff.changes.iter().map(change_json).collect()
}

/// Returns the paths of the lists whose elements have another order.
#[must_use]
pub fn reordered(diff: &Diff) -> Value {
    diff.reordered.iter().map(ToString::to_string).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::line::text_of;

    #[test]
    fn a_side_has_its_revision() {
        for (side, expected) in [
            ("revision 3", json!(3)),
            ("namespace dev, revision 3", json!(3)),
            ("revision web-7c5d9", json!("web-7c5d9")),
            ("live", Value::Null),
            ("live (revision 3)", Value::Null),
        ] {
            assert_eq!(json!(revision_of(side)), expected, "{side}");
        }
    }

    #[test]
    fn columns_are_aligned_by_cells() {
        let row = |field: &str| ChangeRow {
            scope: "pod".to_owned(),
            field: field.to_owned(),
            text: "added".to_owned(),
        };
        let text = text_of(&rows(&[row("設定"), row("label")]), false);
        assert_eq!(text, "  pod   設定    added\n        label   added\n");
    }
}
