//! The status of a rollout: kubectl's line, a line for each cause, remarks, and JSON.

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use super::age::age;
use super::json::{least_time_json, merge, remarks_json, rollout_json};
use super::line::{Line, Style};
use crate::model::cause::Cause;
use crate::model::change::effect::LeastTime;
use crate::model::change::restart::restart_command;
use crate::model::kind::Workload;
use crate::model::status::stale_configuration::{PodsReadingAtStart, StaleConfiguration};
use crate::model::text::plural::plural;
use crate::model::view::RolloutView;
use crate::world::Terminal;

/// What the name of a workload must distinguish in the output of a command.
#[derive(Clone, Copy, Debug, Default)]
pub struct NameContext {
    /// Whether the output has several workloads.
    pub others: bool,
    /// Whether they may be in several namespaces.
    pub namespaces: bool,
}

impl NameContext {
    /// Returns what the names of these workloads must distinguish.
    #[must_use]
    pub fn of(workloads: &[Workload]) -> Self {
        let mut namespaces = workloads.iter().map(|workload| workload.object().namespace());
        let first = namespaces.next();
        Self { others: workloads.len() > 1, namespaces: namespaces.any(|other| Some(other) != first) }
    }

    /// Returns the name: `deployment/web`, or `deployment/web -n shop` for several namespaces.
    pub(super) fn name(self, workload: &Workload) -> String {
        self.with_namespace(workload.target(), workload)
    }

    /// Adds the namespace to a name of the workload if there are several.
    pub(super) fn with_namespace(self, name: String, workload: &Workload) -> String {
        if self.namespaces { format!("{name} -n {}", workload.object().namespace()) } else { name }
    }
}

/// Returns kubectl's line with the name that it lacks. Its lines about StatefulSets have no name, and none has a namespace.
/// For several workloads the name goes before such a line.
pub(super) fn named_line(workload: &Workload, line: &str, names: NameContext) -> String {
    let quoted = format!("{:?}", workload.name());
    if names.namespaces || (names.others && !line.contains(&quoted)) {
        format!("{}: {line}", names.name(workload))
    } else {
        line.to_owned()
    }
}

/// Returns the error that a workload was deleted, in kubectl's words.
pub(super) fn gone(name: &str, is_recreated: bool) -> String {
    let again = if is_recreated { ", and created again" } else { "" };
    format!("error: object has been deleted{again}: {name}")
}

/// The most lines that the evidence of a cause may take. Its last words are often the important ones.
const EVIDENCE_LINES: usize = 4;

/// The indentation of evidence below its cause.
pub(super) const INDENT: &str = "      ";

/// Returns one cause on one line, with its evidence in quotes at the end.
#[must_use]
pub fn cause_line(cause: &Cause, workload: &Workload, names: NameContext) -> String {
    with_evidence(&format!("  {}", cause_words(cause, workload, names)), new_evidence(cause))
}

fn with_evidence(words: &str, evidence: Option<&str>) -> String {
    let evidence = evidence.map(|evidence| format!("   \"{evidence}\"")).unwrap_or_default();
    format!("{words}{evidence}")
}

/// Returns one cause in its colour, in lines of a terminal. If it does not fit into one line, its evidence goes on
/// separate lines. The summary is never cut.
#[must_use]
pub fn cause_lines(cause: &Cause, workload: &Workload, names: NameContext, size: Terminal) -> Vec<Line> {
    cause_in_width(cause, new_evidence(cause), workload, names, size.width.into())
}

/// Returns one cause with this evidence, in lines of a width.
pub(super) fn cause_in_width(
    cause: &Cause,
    evidence: Option<&str>,
    workload: &Workload,
    names: NameContext,
    width: usize,
) -> Vec<Line> {
    let style = cause_style(cause);
    let words = format!("  {}", cause_words(cause, workload, names));
    let line = Line::styled(style, with_evidence(&words, evidence));
    if line.cells() <= width {
        return vec![line];
    }
    let mut lines = Line::styled(style, words).wrapped(INDENT, width, usize::MAX);
    if let Some(evidence) = evidence {
        let room = width.saturating_sub(INDENT.len());
        let evidence = Line::styled(style, format!("\"{evidence}\""));
        let evidence = evidence.wrapped("", room, EVIDENCE_LINES);
        lines.extend(evidence.into_iter().map(|line| line.indented(INDENT)));
    }
    lines
}

/// Returns the summary of a cause: `! web-1  app: CrashLoopBackOff, exit 1, 3 restarts`.
pub(super) fn cause_words(cause: &Cause, workload: &Workload, names: NameContext) -> String {
    let restarts = match cause.restarts {
        0 => String::new(),
        restarts => format!(", {}", plural(restarts, "restart")),
    };
    format!("{} {}  {}{restarts}", mark(cause), whose(cause, workload, names), cause.words())
}

/// Words of components that add nothing to the summary of a cause.
const FILLER: &str = "a and are available be code could desc error failed found image is no nodes not notfound of pull reference \
                      resolve rpc to unpack";

/// Returns the evidence of a cause, unless it only repeats the summary. JSON always has it.
pub(super) fn new_evidence(cause: &Cause) -> Option<&str> {
    let evidence = cause.evidence.as_deref()?;
    let [known, said] = [cause.summary.as_str(), evidence].map(str::to_lowercase);
    let known: Vec<&str> = words(&known).chain(FILLER.split(' ')).collect();
    words(&said).any(|word| !known.contains(&word)).then_some(evidence)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| word.contains(char::is_alphabetic))
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

/// Returns the style of a cause.
pub(super) fn cause_style(cause: &Cause) -> Style {
    if cause.needs_a_fix() { Style::Bad } else { Style::Warning }
}

/// Returns what serves: `3/3 available on revision 1`. Ready pods stand in for available ones that nothing counts.
#[must_use]
pub fn serving_words(view: &RolloutView) -> String {
    let wanted = view.counts.wanted;
    let available = view.available.unwrap_or(view.counts.ready);
    if view.is_outage {
        return format!("outage: 0/{wanted} available");
    }
    let on = match view.ready.as_slice() {
        [] => String::new(),
        [(only, _)] => format!(" on revision {only}"),
        some => {
            let each = some.iter().map(|(revision, ready)| format!("{ready} on revision {revision}"));
            format!(" (ready: {})", each.collect::<Vec<_>>().join(", "))
        }
    };
    format!("{available}/{wanted} available{on}")
}

/// Returns `3 of 3 pods started before`.
pub(super) fn started_before(pods: PodsReadingAtStart) -> String {
    format!("{} of {} pods started before", pods.started_before, pods.total)
}

/// Returns the note about each ConfigMap and Secret of which pods have earlier values, with the command that replaces them.
pub fn stale_configuration(
    workload: &Workload,
    stale: &[StaleConfiguration],
    now: Timestamp,
) -> impl Iterator<Item = String> {
    stale.iter().map(move |one| {
        let (object, ago) = (one.object.target(), age(one.change.time, now));
        let pods = started_before(one.pods);
        format!("note: {object} changed {ago} ago; {pods}: {}", restart_command(workload))
    })
}

/// Returns the status of one workload as JSON, with the least time that its rollout still needs, and the ConfigMaps and
/// Secrets of which pods have earlier values. docs/json.md documents the fields.
#[must_use]
pub fn json(view: &RolloutView, least: Option<LeastTime>, stale: &[StaleConfiguration]) -> Value {
    let least = least_time_json(least);
    let mut document = json!({"apiVersion": "rollout2/v1", "kind": "Status", "leastTime": least});
    merge(&mut document, rollout_json(view));
    document["remarks"] = remarks_json(&view.workload, stale);
    document
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::cause::CauseId;

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
}
