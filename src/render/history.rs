//! A history as a table and as JSON.

use serde_json::{Value, json};

use super::escape;
use super::table::Table;
use crate::model::age::age;
use crate::model::diff::Diff;
use crate::model::history::{Entry, History};
use crate::model::hold::Story;
use crate::model::observed::{Observed, Role};
use crate::model::revision::{Revision, Seal};
use crate::model::secret::without_secrets;
use crate::world::Terminal;

/// What the table is asked to show.
#[derive(Clone, Copy, Debug, Default)]
pub struct Form {
    /// Whether names, digests and images are shown too.
    pub wide: bool,
    /// Whether the header says the namespace.
    pub namespace: bool,
    /// The terminal it must fit; none for a pipe, where nothing is shortened.
    pub terminal: Option<Terminal>,
}

/// The history of one workload as a table under a line that names it.
#[must_use]
pub fn table(history: &History<'_>, form: Form) -> String {
    let header = header(history, form);
    if history.entries.is_empty() {
        return format!("{header}\nNo rollout history found.\n");
    }
    let mut columns = vec!["REVISION", "AGE", "PODS", "STATE", "CHANGES", "CHANGE-CAUSE"];
    if form.wide {
        columns.extend(["NAME", "DIGEST", "IMAGES"]);
    }
    let mut table = Table::new(&columns);
    for entry in &history.entries {
        table.row(&row(entry, history, form.wide));
    }
    if let Some(terminal) = form.terminal {
        table.fit(terminal.width.into(), &["CHANGES", "CHANGE-CAUSE"]);
    }
    format!("{header}\n{}", table.text())
}

fn header(history: &History<'_>, form: Form) -> String {
    let workload = &history.observed.workload;
    let mut header = workload.reference();
    if form.namespace {
        header += &format!("  in {}", workload.object().namespace());
    }
    if let Some(author) = &history.author {
        header +=
            &format!("  template last changed by {}, {} ago", author.manager, age(author.time, history.now));
    }
    escape::line(&header).into_owned()
}

fn row(entry: &Entry<'_>, history: &History<'_>, wide: bool) -> Vec<String> {
    let revision = entry.revision;
    let mut cells = vec![
        revision.number.known().map_or_else(|| "-".to_owned(), |number| number.to_string()),
        revision.created.map_or_else(|| "-".to_owned(), |created| age(created, history.now)),
        pods(entry),
        state(entry),
        changes(entry),
        cause(revision).unwrap_or_else(|| "<none>".to_owned()),
    ];
    if wide {
        cells.extend([revision.name.clone(), revision.digest.short(), entry.images.join(",")]);
    }
    cells
}

/// Why a revision was made. `kubectl --record` kept whole command lines there, `set env PASSWORD=...` among
/// them.
fn cause(revision: &Revision) -> Option<String> {
    revision.cause.as_deref().map(without_secrets)
}

fn pods(entry: &Entry<'_>) -> String {
    match entry.pods {
        None => "-".to_owned(),
        Some(count) if count.total == 0 => "0".to_owned(),
        Some(count) => format!("{}/{}", count.ready, count.total),
    }
}

fn state(entry: &Entry<'_>) -> String {
    let role = entry.role.map(role_name);
    let altered = matches!(entry.seal, Seal::Broken { .. }).then_some("altered");
    role.into_iter().chain(altered).collect::<Vec<_>>().join(",")
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Current => "current",
        Role::Updating => "updating",
        Role::Stable => "stable",
        Role::Leaving => "leaving",
    }
}

/// What a revision changed, in words.
#[must_use]
pub fn changes(entry: &Entry<'_>) -> String {
    let revision = entry.revision;
    let mut words = match entry.diff.as_ref().map(Diff::words) {
        None => format!("first: {}", entry.images.join(", ")),
        Some(words) if words.is_empty() => "no change".to_owned(),
        Some(words) => words.join(", "),
    };
    if let Some(last) = revision.past_numbers.last() {
        words += &format!("; was {last}");
    }
    words
}

/// That the live template is no revision yet, which a table of revisions cannot show.
#[must_use]
pub fn not_a_revision_yet(observed: &Observed) -> Option<String> {
    let current = observed.revisions.current()?;
    if observed.revisions.running().is_some() {
        return None;
    }
    let why =
        if observed.workload.is_paused() { "it is paused" } else { "the controller has not made it one" };
    let target = observed.workload.target();
    let line = format!(
        "note: the template of {target} is no revision yet, because {why}; its pods run {}",
        current.label()
    );
    Some(escape::line(&line).into_owned())
}

/// That something of ours holds it, which a table of revisions cannot show either.
#[must_use]
pub fn held(observed: &Observed) -> Option<String> {
    let workload = &observed.workload;
    let line = format!("note: {} is {}", workload.target(), Story::of(workload)?.words(workload));
    Some(escape::line(&line).into_owned())
}

/// Why a revision is marked `altered`.
#[must_use]
pub fn altered(observed: &Observed) -> Vec<String> {
    let altered = observed.revisions.iter().filter_map(|revision| match observed.workload.seal(revision) {
        Seal::Broken { expected } => Some(format!(
            "warning: revision {} was altered or restored from elsewhere: {}'s data hashes to {expected}, not to {}",
            revision.label(),
            revision.name,
            revision.hash
        )),
        Seal::None | Seal::Verified => None,
    });
    altered.map(|line| escape::line(&line).into_owned()).collect()
}

/// All histories in one document: `{"kind": "HistoryList", "items": [...]}`.
#[must_use]
pub fn json_list(histories: &[Value]) -> String {
    let document = json!({"apiVersion": "rollout2/v1", "kind": "HistoryList", "items": histories});
    format!("{document:#}\n")
}

/// One history; the README documents the fields.
#[must_use]
pub fn json(history: &History<'_>) -> Value {
    let workload = &history.observed.workload;
    let author = history.author.as_ref();
    json!({
        "kind": workload.object().kind(),
        "namespace": workload.object().namespace(),
        "name": workload.name(),
        "templateChangedBy": author.map(|author| &author.manager),
        "held": Story::of(workload).map(|story| story.json()),
        "templateChangedAt": author.map(|author| author.time.to_string()),
        "revisions": history.entries.iter().map(entry_json).collect::<Vec<_>>(),
    })
}

fn entry_json(entry: &Entry<'_>) -> Value {
    let revision = entry.revision;
    json!({
        "revision": revision.number.known(),
        "pastRevisions": revision.past_numbers,
        "name": revision.name,
        "hash": revision.hash,
        "digest": format!("sha256:{}", revision.digest.hex()),
        "created": revision.created.map(|created| created.to_string()),
        "pods": entry.pods.map(|count| json!({"ready": count.ready, "total": count.total})),
        "state": entry.role.map(role_name),
        "verified": match entry.seal {
            Seal::None => None,
            Seal::Verified => Some(true),
            Seal::Broken { .. } => Some(false),
        },
        "images": entry.images,
        "changes": entry.diff.as_ref().map(Diff::words),
        "changeCause": cause(revision),
    })
}
