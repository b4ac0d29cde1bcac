//! `history` as a table and as JSON; and one revision as kubectl prints it: the text of `--revision`, and the object of `-o`.

use std::collections::BTreeMap;

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use super::age::{age, start_age};
use super::columns::{code, number_cell, or_dash};
use super::json::{document, workload_json};
use super::line::{Line, Style};
use super::narrow::Narrowing;
use super::table::TableLayout;
use super::template_text::{pod_template_text, with_change_cause};
use crate::model::api::managed_fields::{Authorship, last_template_author};
use crate::model::api::object::drop_managed_fields;
use crate::model::diff::short_digests;
use crate::model::finding::{Finding, Reason};
use crate::model::hold::{hold_json, hold_words, left_words};
use crate::model::kind::Workload;
use crate::model::observation::{Observation, Role};
use crate::model::revision::{Integrity, PodCount, Revision, RevisionNumber, Revisions};
use crate::model::text::secret::without_secrets;
use crate::model::view::history::{History, HistoryEntry};

/// Returns the history of one workload as a header line and a table.
#[must_use]
pub fn table(history: &History<'_>, layout: TableLayout<'_>) -> Vec<Line> {
    let header = header(history, layout);
    let mut lines = match layout {
        TableLayout { headers: false, .. } => Vec::new(),
        _ if layout.is_markdown() => vec![Line::of(code(&header)), Line::default()],
        _ => layout.wrapped(header),
    };
    if history.entries.is_empty() {
        lines.extend(layout.headers.then(|| Line::of("No rollout history found.")));
        return lines;
    }
    let mut columns = vec!["REVISION", "AGE", "PODS", "STATE", "CHANGES", "CHANGE-CAUSE"];
    if layout.is_wide() {
        columns.extend(["NAME", "DIGEST", "IMAGES"]);
    }
    let rows = history.entries.iter().map(|entry| row(entry, history, layout.is_wide()));
    lines.extend(layout.lines(&columns, rows, NARROWINGS));
    lines
}

/// How the table fits into a narrow terminal.
const NARROWINGS: &[Narrowing] = &[
    Narrowing::Cut("CHANGE-CAUSE", 12),
    Narrowing::Cut("CHANGES", 26),
    Narrowing::LeaveOut("CHANGE-CAUSE"),
    Narrowing::Below("CHANGES"),
    Narrowing::LeaveOut("AGE"),
    Narrowing::LeaveOut("PODS"),
];

fn header(history: &History<'_>, layout: TableLayout<'_>) -> String {
    let workload = &history.observation.workload;
    let mut header = workload.reference();
    if layout.namespaces {
        header += &format!(" -n {}", workload.object().namespace());
    }
    match &history.author {
        Some(author) => header += &format!("  {}", last_changed(author, history.now)),
        None if last_template_author(workload.object()).is_some() => {
            header += "  template last changed by an unknown client";
        }
        None => {}
    }
    header
}

/// Returns who changed a template last: `template last changed by helm, 6m ago`.
pub(super) fn last_changed(author: &Authorship, now: Timestamp) -> String {
    format!("template last changed by {}, {} ago", author.manager, age(author.time, now))
}

fn row(entry: &HistoryEntry<'_>, history: &History<'_>, wide: bool) -> Vec<Line> {
    let revision = entry.revision;
    let mut cells = vec![
        number_cell(revision.number.known(), revision.past_numbers.last().copied()),
        or_dash(entry.start.map(|start| start_age(start, history.now))),
        or_dash(entry.pods.map(pods)),
        state(entry),
        Line::of(changes(entry)),
        Line::of(cause_cell(entry)),
    ];
    if wide {
        let facts = [revision.name.clone(), revision.digest.short(), revision.images().join(",")];
        cells.extend(facts.map(Line::of));
    }
    cells
}

/// Returns the cell CHANGE-CAUSE: the cause, or the revision that it was copied from. A rollback moves that revision below its
/// copies.
fn cause_cell(entry: &HistoryEntry<'_>) -> String {
    let is_below = |origin: &Revision| origin.number.known() > entry.revision.number.known();
    match entry.cause_origin {
        Some(origin) if is_below(origin) => format!("(as in {} below)", origin.label()),
        Some(origin) => format!("(as in {})", origin.label()),
        None => cause(entry.revision).unwrap_or_else(|| "<none>".to_owned()),
    }
}

/// Returns the change-cause with secret-looking values masked. `kubectl --record` stored whole command lines,
/// such as `set env PASSWORD=...`.
pub(super) fn cause(revision: &Revision) -> Option<String> {
    revision.change_cause.as_deref().map(without_secrets)
}

fn pods(count: PodCount) -> String {
    if count.total == 0 { "0".to_owned() } else { format!("{}/{}", count.ready, count.total) }
}

fn state(entry: &HistoryEntry<'_>) -> Line {
    let altered = matches!(entry.integrity, Integrity::Altered { .. }).then_some("altered");
    let style = match (entry.role, altered) {
        (_, Some(_)) => Style::Bad,
        (Some(Role::Current | Role::Stable), None) => Style::Good,
        (Some(Role::Updating | Role::Leaving), None) => Style::Warning,
        (None, None) => Style::Plain,
    };
    let words = entry.role.map(role_name).into_iter().chain(altered).collect::<Vec<_>>();
    Line::styled(style, words.join(","))
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Current => "current",
        Role::Updating => "updating",
        Role::Stable => "stable",
        Role::Leaving => "leaving",
    }
}

/// Returns what a revision changed: `image shop/web:1.1, env MODE=prod`.
#[must_use]
pub fn changes(entry: &HistoryEntry<'_>) -> String {
    let is_first = entry.revision.numbers().min().is_some_and(|number| number <= 1);
    change_words(entry.changes.as_deref(), entry.revision, is_first)
}

/// Returns the changes since the revision before, or the images of a revision without one before it.
pub(super) fn change_words(changes: Option<&[String]>, revision: &Revision, is_first: bool) -> String {
    match changes {
        None => {
            let images: Vec<_> = revision.images().iter().map(|image| short_digests(image)).collect();
            format!("{}: {}", if is_first { "first" } else { "previous unknown" }, images.join(", "))
        }
        Some([]) => "no change".to_owned(),
        Some(words) => words.join(", "),
    }
}

/// Returns the note that the live template has no revision yet, because the table lists only revisions.
#[must_use]
pub fn not_a_revision_yet(observed: &Observation) -> Option<Finding> {
    let newest = observed.revisions.current_or_newest()?;
    if observed.revisions.current().is_some() {
        return None;
    }
    let why =
        if observed.workload.is_paused() { "it is paused" } else { "the controller has not created it" };
    let target = observed.workload.target();
    let has_pods = observed.pod_count(newest).is_none_or(|count| count.total > 0);
    let pods = if has_pods { format!("; its pods run revision {}", newest.label()) } else { String::new() };
    let text = format!("the live template of {target} has no revision yet: {why}{pods}");
    Some(Finding::note(Reason::Incomplete, text))
}

/// Returns the note that the workload is held by a pause or a plan, or has fields of a plan that ended.
#[must_use]
pub fn held(observed: &Observation) -> Option<String> {
    let workload = &observed.workload;
    let words = hold_words(workload).or_else(|| left_words(workload))?;
    Some(format!("note: {} is {words}", workload.target()))
}

/// Returns a warning for each revision in the state `altered`: its name does not match the hash of its data.
#[must_use]
pub fn altered(observed: &Observation) -> Vec<String> {
    let altered = observed.revisions.iter().filter_map(|revision| match revision.integrity(&observed.workload) {
        Integrity::Altered { expected } => Some(format!(
            "warning: revision {} was altered, or restored from another cluster: the data of {} hashes to {expected}, not {}",
            revision.label(),
            revision.name,
            revision.hash
        )),
        Integrity::Unverifiable | Integrity::Verified => None,
    });
    altered.collect()
}

/// Returns all histories as one document: `{"kind": "HistoryList", "items": [...]}`.
#[must_use]
pub fn json_list(histories: &[Value]) -> Value {
    document("HistoryList", json!({"items": histories}))
}

/// Returns one history as JSON. docs/json.md documents the fields.
#[must_use]
pub fn json(history: &History<'_>) -> Value {
    let workload = &history.observation.workload;
    let author = history.author.as_ref();
    json!({
        "workload": workload_json(workload),
        "templateChangedBy": author.map(|author| &author.manager),
        "held": hold_json(workload),
        "templateChangedAt": author.map(|author| author.time.to_string()),
        "revisions": history.entries.iter().map(entry_json).collect::<Vec<_>>(),
    })
}

fn entry_json(entry: &HistoryEntry<'_>) -> Value {
    let revision = entry.revision;
    json!({
        "revision": revision.number.known(),
        "pastRevisions": revision.past_numbers,
        "name": revision.name,
        "hash": revision.hash,
        "digest": format!("sha256:{}", revision.digest.hex()),
        "created": revision.created.map(|created| created.to_string()),
        "pods": entry.pods,
        "state": entry.role.map(role_name),
        "verified": match entry.integrity {
            Integrity::Unverifiable => None,
            Integrity::Verified => Some(true),
            Integrity::Altered { .. } => Some(false),
        },
        "images": revision.images(),
        "changes": entry.changes,
        "changeCause": cause(revision),
    })
}

/// Returns the template that kubectl describes for a revision. For a Deployment it has the change-cause as an
/// annotation.
#[must_use]
pub fn described_template(workload: &Workload, revision: &Revision) -> Value {
    let cause = revision.change_cause.as_ref().filter(|_| workload.kind().revisions().is_synced());
    let template = revision.template();
    cause.map_or_else(|| template.json().clone(), |cause| with_change_cause(template.json(), cause))
}

/// Returns kubectl's description of one revision.
#[must_use]
pub fn one_revision(workload: &Workload, revision: &Revision, template: &Value) -> String {
    let text = pod_template_text(template);
    format!("{} with revision #{}\n{text}\n", workload.reference(), revision.label())
}

/// Returns the revisions by number, as kubectl does. A missing number counts as 0, and a revision with an
/// unreadable number is left out. Of several revisions with one number the current one wins, else the last.
#[must_use]
pub fn by_number(revisions: &Revisions) -> BTreeMap<i64, &Revision> {
    let mut numbered = BTreeMap::new();
    let running_last =
        revisions.iter().filter(|revision| !revisions.is_current(revision)).chain(revisions.current());
    for revision in running_last {
        match revision.number {
            RevisionNumber::Known(number) => numbered.insert(number, revision),
            RevisionNumber::Missing => numbered.insert(0, revision),
            RevisionNumber::Unreadable => None,
        };
    }
    numbered
}

/// Returns the object for a revision: a Deployment's ReplicaSet, or the current DaemonSet or StatefulSet with the
/// template of the revision.
#[must_use]
pub fn revision_document(workload: &Workload, revision: &Revision, managed_fields: bool) -> Value {
    let template = revision.template().json().clone();
    let mut document = workload.kind().revisions().document(workload.object(), revision.json(), template);
    if !managed_fields {
        drop_managed_fields(&mut document);
    }
    document
}

/// Returns the name of a document: `replicaset.apps/web-67fd86cfbd`, `cloneset.apps.kruise.io/web`.
#[must_use]
pub fn document_name(document: &Value) -> String {
    let text = |pointer: &str| document.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let group = text("/apiVersion").split_once('/').map_or("apps", |(group, _)| group);
    format!("{}.{group}/{}", text("/kind").to_lowercase(), text("/metadata/name"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api::object::Object;

    /// Returns `NUMBER CHANGES ORIGIN` of each revision of a Deployment, from its numbers, image and change-cause. They were
    /// created in this order.
    fn rows_of_history(kept: &[(&[i64], &str, &str)]) -> Vec<String> {
        let template = |image: &str| json!({"spec": {"containers": [{"name": "c", "image": image}]}});
        let live = kept.iter().max_by_key(|(numbers, ..)| numbers.last()).map_or("", |(_, image, _)| image);
        let workload = json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "w", "namespace": "n", "uid": "u"},
            "spec": {"template": template(live)},
        });
        let workload = Workload::of(Object::read(workload).unwrap()).unwrap();
        let objects = kept.iter().enumerate().map(|(second, (numbers, image, cause))| {
            let (number, past) = numbers.split_last().unwrap();
            let past: Vec<String> = past.iter().map(ToString::to_string).collect();
            let replica_set: Value = json!({
                "apiVersion": "apps/v1", "kind": "ReplicaSet", "spec": {"template": template(image)},
                "metadata": {
                    "name": image, "creationTimestamp": format!("2026-11-20T13:00:{second:02}Z"),
                    "ownerReferences": [{"controller": true, "uid": "u"}],
                    "annotations": {
                        "deployment.kubernetes.io/revision": number.to_string(),
                        "deployment.kubernetes.io/revision-history": past.join(","),
                        "kubernetes.io/change-cause": cause,
                    },
                },
            });
            Object::read(replica_set).unwrap()
        });
        let revisions = Revisions::of(&workload, objects);
        let observation = Observation { revisions, ..Observation::of_alone(workload) };
        let history = History::of(&observation, Timestamp::UNIX_EPOCH);
        let row = |entry: &HistoryEntry<'_>| {
            let cause = cause_cell(entry);
            let origin = if entry.cause_origin.is_some() { format!(" {cause}") } else { String::new() };
            format!("{} {}{origin}", entry.revision.label(), changes(entry))
        };
        history.entries.iter().map(row).collect()
    }

    #[test]
    fn a_restored_revision_keeps_the_cause_that_a_bad_one_copied() {
        let kept: [(&[i64], _, _); 3] =
            [(&[3, 6], "w:1.0", "good"), (&[4], "w:3.0", "good"), (&[5], "w:3.1", "good")];
        assert_eq!(
            rows_of_history(&kept),
            ["4 image w:3.0 (as in 6 below)", "5 image w:3.1 (as in 6 below)", "6 image w:1.0"]
        );
        let kept: [(&[i64], _, _); 2] = [(&[1], "w:1", "one"), (&[2], "w:2", "one")];
        assert_eq!(rows_of_history(&kept), ["1 first: w:1", "2 image w:2 (as in 1)"]);
        // Other controllers only renumber a restored revision.
        let kept: [(&[i64], _, _); 2] = [(&[3], "w:1", "one"), (&[2], "w:2", "one")];
        assert_eq!(rows_of_history(&kept), ["2 image w:2 (as in 3 below)", "3 image w:1"]);
    }

    #[test]
    fn changes_are_those_to_the_revision_before_and_the_oldest_one_is_not_the_first() {
        // 2 was restored as 4. So 3 changed it, and not 1.
        let kept: [(&[i64], _, _); 3] = [(&[1], "w:1", "a"), (&[3], "x:2", "c"), (&[2, 4], "w:2", "b")];
        assert_eq!(rows_of_history(&kept)[1], "3 image x:2");
        let kept: [(&[i64], _, _); 2] = [(&[4], "w:4", "a"), (&[5], "w:5", "b")];
        assert_eq!(rows_of_history(&kept), ["4 previous unknown: w:4", "5 image w:5"]);
        let kept: [(&[i64], _, _); 1] = [(&[1, 3], "w:1", "a")];
        assert_eq!(rows_of_history(&kept), ["3 first: w:1"]);
    }

    /// Revision 2 is not kept: nothing shows what 3 changed, nor who did, nor whether its cause is a copy.
    #[test]
    fn a_revision_after_a_missing_number_is_compared_with_none() {
        let kept: [(&[i64], _, _); 3] = [(&[1, 4], "w:1", "a"), (&[3], "w:3", "a"), (&[5], "w:5", "a")];
        let rows = ["3 previous unknown: w:3", "4 image w:1", "5 image w:5 (as in 4)"];
        assert_eq!(rows_of_history(&kept), rows);
    }
}
