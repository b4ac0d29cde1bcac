//! The status of a rollout: kubectl's line, a line for each cause, and JSON.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::escape;
use super::fit_width::{LongWord, beginning, wrapped};
use super::style::{Span, Style};
use crate::model::change::hold::next_change_hold;
use crate::model::change::undo::rollback_command;
use crate::model::status::cause::Cause;
use crate::model::status::observation::Observation;
use crate::model::status::serving::{Serving, is_outage};
use crate::model::text::plural::plural;
use crate::model::workload::Workload;
use crate::model::workload::counts::Counts;
use crate::model::workload::verdict::{RolloutState, Verdict};
use crate::world::Terminal;

/// The status of one workload.
#[derive(Clone, Copy, Debug)]
pub struct RolloutStatus<'a> {
    /// The observation that it is based on.
    pub observed: &'a Observation,
    /// The verdict.
    pub verdict: &'a Verdict,
    /// Why the rollout does not progress.
    pub causes: &'a [Cause],
}

/// What the name of a workload must distinguish in the output of a command.
#[derive(Clone, Copy, Debug, Default)]
pub struct NameContext {
    /// Whether the output has several workloads.
    pub others: bool,
    /// Whether they may be in several namespaces.
    pub namespaces: bool,
}

impl NameContext {
    /// Returns the name: `deployment.apps/web`, or `deployment.apps/web in shop` for several namespaces.
    pub(super) fn name(self, workload: &Workload) -> String {
        self.with_namespace(workload.reference(), workload)
    }

    /// Adds the namespace to a name of the workload if there are several.
    pub(super) fn with_namespace(self, name: String, workload: &Workload) -> String {
        if self.namespaces { format!("{name} in {}", workload.object().namespace()) } else { name }
    }
}

/// Returns kubectl's line. Its lines about StatefulSets have no name, and none has a namespace. For several
/// workloads the name goes before such a line.
#[must_use]
pub fn line(workload: &Workload, verdict: &Verdict, names: NameContext) -> String {
    let line = &verdict.line;
    let quoted = format!("{:?}", workload.name());
    if names.namespaces || (names.others && !line.contains(&quoted)) {
        format!("{}: {line}", names.name(workload))
    } else {
        line.clone()
    }
}

/// Returns a line in the colour of its verdict, wrapped between words on a terminal.
#[must_use]
pub fn colored(line: &str, state: RolloutState, terminal: Option<Terminal>) -> Vec<Span> {
    let style = match state {
        RolloutState::Complete => Style::Good,
        RolloutState::Paused | RolloutState::Held => Style::Warning,
        RolloutState::Failed => Style::Bad,
        RolloutState::Progressing | RolloutState::Unobserved => Style::Plain,
    };
    let line = escape::line(line);
    let width = terminal.map_or(usize::MAX, |terminal| terminal.width.into());
    let lines = wrapped(&line, "  ", width, usize::MAX, LongWord::KeepCommand);
    lines.into_iter().flat_map(|line| [Span::new(style, line), Span::plain("\n")]).collect()
}

/// The most lines that the evidence of a cause may take. Its last words are often the important ones.
const EVIDENCE_LINES: usize = 4;

/// The indentation of evidence below its cause.
const INDENT: &str = "      ";

/// Returns one cause on one line, with its evidence in quotes at the end. On a narrow terminal the evidence goes
/// on separate lines. The summary is never cut.
#[must_use]
pub fn cause_line(
    cause: &Cause,
    workload: &Workload,
    names: NameContext,
    terminal: Option<Terminal>,
) -> String {
    let line = escape::line(&format!("  {}", cause_words(cause, workload, names))).into_owned();
    let width = terminal.map(|terminal| usize::from(terminal.width));
    let wrapped_line =
        || wrapped(&line, INDENT, width.unwrap_or(usize::MAX), usize::MAX, LongWord::KeepCommand);
    let Some(evidence) = new_evidence(cause) else {
        return wrapped_line().join("\n");
    };
    let evidence = format!("\"{}\"", escape::line(evidence));
    let on_one_line = format!("{line}   {evidence}");
    match width.filter(|&width| beginning(&on_one_line, width) != on_one_line) {
        Some(width) => {
            wrapped(&evidence, "", width.saturating_sub(INDENT.len()), EVIDENCE_LINES, LongWord::Split)
                .into_iter()
                .fold(wrapped_line().join("\n"), |text, words| text + "\n" + INDENT + &words)
        }
        None => on_one_line,
    }
}

/// Returns the summary of a cause: `! web-1  app: CrashLoopBackOff, exit 1, 3 restarts`.
pub(super) fn cause_words(cause: &Cause, workload: &Workload, names: NameContext) -> String {
    let mut words = format!("{} {}  ", mark(cause), whose(cause, workload, names));
    if let Some(container) = &cause.container {
        words += &format!("{container}: ");
    }
    words += &cause.summary;
    if cause.restarts > 0 {
        words += &format!(", {}", plural(cause.restarts, "restart"));
    }
    words
}

/// Words of components that add nothing to the summary of a cause.
const FILLER: [&str; 24] = [
    "a",
    "and",
    "are",
    "available",
    "be",
    "code",
    "could",
    "desc",
    "error",
    "failed",
    "found",
    "image",
    "is",
    "no",
    "nodes",
    "not",
    "notfound",
    "of",
    "pull",
    "reference",
    "resolve",
    "rpc",
    "to",
    "unpack",
];

/// Returns the evidence of a cause, unless it only repeats the summary. JSON always has it.
pub(super) fn new_evidence(cause: &Cause) -> Option<&str> {
    let words = |text: &str| {
        let text = text.to_lowercase();
        let words = text.split(|letter: char| !letter.is_alphanumeric()).map(str::to_owned);
        words.filter(|word| word.chars().any(char::is_alphabetic)).collect::<HashSet<_>>()
    };
    let evidence = cause.evidence.as_deref()?;
    let summary = words(&cause.summary);
    let is_new = |word: &String| !summary.contains(word) && !FILLER.contains(&word.as_str());
    words(evidence).iter().any(is_new).then_some(evidence)
}

/// Returns the mark of a cause: `-` for a hold, `~` for one that may resolve automatically, `!` for all others.
pub(super) fn mark(cause: &Cause) -> char {
    match cause.id {
        id if id.is_hold() => '-',
        _ if cause.is_transient => '~',
        _ => '!',
    }
}

/// Returns what a cause affects: `web-1`, `web-1 and 49 more`, or the workload. A hold affects the workload.
fn whose(cause: &Cause, workload: &Workload, names: NameContext) -> String {
    match cause.pods.as_slice() {
        _ if cause.id.is_hold() => names.name(workload),
        [] => names.name(workload),
        [only] => only.clone(),
        [example, others @ ..] => format!("{example} and {} more", others.len()),
    }
}

/// Returns the line of a cause in its colour.
#[must_use]
pub fn colored_cause(line: String, cause: &Cause) -> Vec<Span> {
    vec![Span::new(cause_style(cause), line), Span::plain("\n")]
}

/// Returns the style of a cause.
pub(super) fn cause_style(cause: &Cause) -> Style {
    if cause.needs_a_fix() { Style::Bad } else { Style::Warning }
}

/// Returns what serves while a rollout is not complete: `  3/3 available on revision 1`.
#[must_use]
pub fn serving_line(observed: &Observation, state: RolloutState) -> String {
    let Serving { wanted, available, ready } = Serving::of(observed);
    if is_outage(observed, state) {
        return format!("  outage: 0/{wanted} available");
    }
    let on = match ready.as_slice() {
        [] => String::new(),
        [(only, _)] => format!(" on revision {}", only.label()),
        some => {
            let each =
                some.iter().map(|(revision, ready)| format!("{ready} on revision {}", revision.label()));
            format!(" (ready: {})", each.collect::<Vec<_>>().join(", "))
        }
    };
    escape::line(&format!("  {available}/{wanted} available{on}")).into_owned()
}

/// Returns the note that a pause or a plan holds the next change of a complete rollout.
#[must_use]
pub fn next_change_note(workload: &Workload, state: RolloutState) -> Option<String> {
    let hold = next_change_hold(workload).filter(|_| state == RolloutState::Complete)?;
    Some(escape::line(&format!("note: {} is {hold}", workload.reference())).into_owned())
}

/// Returns the hint with the command that rolls a failed rollout back.
#[must_use]
pub fn rollback_command_hint(observed: &Observation) -> Option<String> {
    rollback_command(observed).map(|command| format!("hint: {command}"))
}

/// Whether a rollout needs a user: it failed, or it has a cause that does not resolve without a fix.
#[must_use]
pub fn needs_a_fix<'c>(state: RolloutState, causes: impl IntoIterator<Item = &'c Cause>) -> bool {
    let is_under_way = !matches!(state, RolloutState::Complete | RolloutState::Unobserved);
    state == RolloutState::Failed || (is_under_way && causes.into_iter().any(Cause::needs_a_fix))
}

/// Returns the status of one workload as JSON. docs/json.md documents the fields.
#[must_use]
pub fn json(status: &RolloutStatus<'_>) -> Value {
    let RolloutStatus { observed, verdict, causes } = status;
    let workload = &observed.workload;
    let running = observed.revisions.current();
    let counts = Counts::of(workload);
    json!({
        "apiVersion": "rollout2/v1",
        "kind": "Status",
        "workload": workload_json(workload),
        "revision": running.and_then(|running| running.number.known()),
        "revisionName": running.map(|running| &running.name),
        "verdict": verdict.state.word(),
        "message": verdict.line,
        "pods": pods_json(counts),
        "outage": is_outage(observed, verdict.state),
        "causes": causes.iter().map(cause_json).collect::<Vec<_>>(),
        "unknown": observed.unread_types(verdict.state),
    })
}

/// Returns the identity of a workload as JSON.
pub(in crate::render) fn workload_json(workload: &Workload) -> Value {
    let object = workload.object();
    json!({
        "apiVersion": workload.api_version(),
        "kind": object.kind(),
        "namespace": object.namespace(),
        "name": object.name(),
        "uid": object.uid(),
        "generation": object.generation(),
    })
}

/// Returns a revision as JSON: its number, or the name of its object before it has a number.
pub(super) fn revision_json(label: &str) -> Value {
    label.parse::<i64>().map_or_else(|_| json!(label), Value::from)
}

/// Returns the pod counters of a workload's status as JSON.
pub(super) fn pods_json(counts: Counts) -> Value {
    json!({
        "wanted": counts.wanted,
        "expectedUpdated": counts.released,
        "total": counts.total,
        "updated": counts.updated,
        "ready": counts.ready,
        "available": counts.available,
    })
}

/// Returns a cause as JSON.
pub(super) fn cause_json(cause: &Cause) -> Value {
    json!({
        "id": cause.id.name(),
        "transient": cause.is_transient,
        "hold": cause.id.is_hold(),
        "summary": cause.summary,
        "container": cause.container,
        "pods": cause.pods.len(),
        "example": cause.pods.first(),
        "restarts": cause.restarts,
        "evidence": cause.evidence,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::status::cause::CauseId;

    #[test]
    fn evidence_that_repeats_the_summary_is_left_out() {
        for (summary, evidence, is_new) in [
            ("ImagePullBackOff, no image app:2", "not found", false),
            ("ImagePullBackOff, no image app:2", "failed to resolve reference \"app:2\": not found", false),
            (
                "claim \"data\" not found",
                "0/3 nodes are available: claim \"data\" not found. not found",
                false,
            ),
            ("unschedulable", "0/3 nodes are available: 3 Insufficient cpu.", true),
            ("crashed, exit 1", "panic: DB_URL is not set", true),
        ] {
            let evidence = Some(evidence.to_owned());
            let cause = Cause { summary: summary.to_owned(), evidence, ..Cause::sample(CauseId::CrashLoop) };
            assert_eq!(new_evidence(&cause).is_some(), is_new, "{:?}", cause.evidence);
        }
    }

    #[test]
    fn a_hold_needs_no_fix() {
        for (id, is_needed) in [(CauseId::CrashLoop, true), (CauseId::Partition, false)] {
            assert_eq!(needs_a_fix(RolloutState::Progressing, [&Cause::sample(id)]), is_needed, "{id:?}");
        }
    }

    #[test]
    fn only_a_complete_rollout_has_a_note_about_the_next_change() {
        let paused =
            serde_json::json!({"kind": "Deployment", "metadata": {"name": "w"}, "spec": {"paused": true}});
        let workload = Workload::of_json(&paused).unwrap();
        assert!(next_change_note(&workload, RolloutState::Complete).is_some());
        assert_eq!(next_change_note(&workload, RolloutState::Paused), None);
    }
}
