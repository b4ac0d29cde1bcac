//! How a rollout stands: kubectl's line, a line for each cause, and JSON.

use serde_json::{Value, json};

use super::escape;
use super::style::{Span, Style};
use super::table::beginning;
use super::wrap::wrapped;
use crate::model::cause::Cause;
use crate::model::observed::Observed;
use crate::model::verdict::{Counts, State, Verdict};
use crate::world::Terminal;

/// One workload's standing: what was seen, and what follows from it.
#[derive(Clone, Copy, Debug)]
pub struct Standing<'a> {
    /// What was seen.
    pub observed: &'a Observed,
    /// How the rollout stands.
    pub verdict: &'a Verdict,
    /// Why it does not go on.
    pub causes: &'a [Cause],
}

/// What beside the workload itself a line must tell apart.
#[derive(Clone, Copy, Debug, Default)]
pub struct Company {
    /// Whether other workloads are told of too.
    pub others: bool,
    /// Whether they may be in other namespaces.
    pub namespaces: bool,
}

impl Standing<'_> {
    /// `deployment.apps/web`, with the namespace where there may be several.
    pub(super) fn name(&self, company: Company) -> String {
        let workload = &self.observed.workload;
        if company.namespaces {
            format!("{} in {}", workload.reference(), workload.object().namespace())
        } else {
            workload.reference()
        }
    }
}

/// kubectl's line. Its lines about StatefulSets have no name in them, and none has a namespace, so in
/// company the name goes before those that need it.
#[must_use]
pub fn line(standing: &Standing<'_>, company: Company) -> String {
    let line = &standing.verdict.line;
    let quoted = format!("{:?}", standing.observed.workload.name());
    if company.namespaces || (company.others && !line.contains(&quoted)) {
        format!("{}: {line}", standing.name(company))
    } else {
        line.clone()
    }
}

/// A line in the colour of its verdict.
#[must_use]
pub fn colored(line: &str, state: State) -> Vec<Span> {
    let style = match state {
        State::Complete => Style::Good,
        State::Paused | State::Held => Style::Warning,
        State::Failed => Style::Bad,
        State::Progressing | State::Unobserved => Style::Plain,
    };
    vec![Span::new(style, escape::line(line)), Span::plain("\n")]
}

/// How many lines of a terminal the words of a component may take: the deciding ones come late.
const WORDS_LINES: usize = 4;

/// What these lines begin with.
const INDENT: &str = "      ";

/// One cause on one line, the words of whoever knows it in quotes at the end. Where they do not fit a
/// terminal they stand on lines of their own; the summary is never cut.
#[must_use]
pub fn cause_line(
    cause: &Cause,
    standing: &Standing<'_>,
    company: Company,
    terminal: Option<Terminal>,
) -> String {
    let line = escape::line(&format!("  {}", cause_words(cause, standing, company))).into_owned();
    let Some(evidence) = &cause.evidence else {
        return line;
    };
    let evidence = format!("\"{}\"", escape::line(evidence));
    let on_one_line = format!("{line}   {evidence}");
    let width = terminal.map(|terminal| usize::from(terminal.width));
    match width.filter(|&width| beginning(&on_one_line, width) != on_one_line) {
        Some(width) => wrapped(&evidence, width.saturating_sub(INDENT.len()), WORDS_LINES)
            .into_iter()
            .fold(line, |text, words| text + "\n" + INDENT + &words),
        None => on_one_line,
    }
}

/// A cause in our own words: `! web-1  app: CrashLoopBackOff, exit 1, 3 restarts`.
pub(super) fn cause_words(cause: &Cause, standing: &Standing<'_>, company: Company) -> String {
    let mut words = format!("{} {}  ", mark(cause), whose(cause, standing, company));
    if let Some(container) = &cause.container {
        words += &format!("{container}: ");
    }
    words += &cause.summary;
    if cause.restarts > 0 {
        words +=
            &format!(", {} {}", cause.restarts, if cause.restarts == 1 { "restart" } else { "restarts" });
    }
    words
}

/// What to make of a cause at a glance.
pub(super) fn mark(cause: &Cause) -> char {
    match cause.id {
        id if id.is_hold() => '-',
        _ if cause.heals => '~',
        _ => '!',
    }
}

/// `web-1`, `web-1 and 49 more`, or the workload; a hold is always the workload's.
fn whose(cause: &Cause, standing: &Standing<'_>, company: Company) -> String {
    match cause.pods.as_slice() {
        _ if cause.id.is_hold() => standing.name(company),
        [] => standing.name(company),
        [only] => only.clone(),
        [example, others @ ..] => format!("{example} and {} more", others.len()),
    }
}

/// A cause's line in the colour of its gravity.
#[must_use]
pub fn colored_cause(line: String, cause: &Cause) -> Vec<Span> {
    vec![Span::new(cause_style(cause), line), Span::plain("\n")]
}

/// What the gravity of a cause looks like.
pub(super) fn cause_style(cause: &Cause) -> Style {
    if cause.heals || cause.id.is_hold() { Style::Warning } else { Style::Bad }
}

/// One workload's standing on one line of JSON; the README documents the fields.
#[must_use]
pub fn json_line(standing: &Standing<'_>) -> String {
    let Standing { observed, verdict, causes } = standing;
    let workload = &observed.workload;
    let running = observed.revisions.running();
    let counts = Counts::of(workload);
    let document = json!({
        "apiVersion": "rollout2/v1",
        "kind": "Status",
        "workload": {
            "kind": workload.object().kind(),
            "namespace": workload.object().namespace(),
            "name": workload.name(),
            "uid": workload.object().uid(),
            "generation": workload.object().generation(),
        },
        "revision": running.and_then(|running| running.number.known()),
        "revisionName": running.map(|running| &running.name),
        "verdict": verdict.state.word(),
        "message": verdict.line,
        "pods": pods_json(counts),
        "causes": causes.iter().map(cause_json).collect::<Vec<_>>(),
        "unknown": unknown(standing),
    });
    format!("{document}\n")
}

/// The pods of a workload as its controller counts them.
pub(super) fn pods_json(counts: Counts) -> Value {
    json!({
        "wanted": counts.wanted,
        "total": counts.total,
        "updated": counts.updated,
        "ready": counts.ready,
        "available": counts.available,
    })
}

pub(super) fn cause_json(cause: &Cause) -> Value {
    json!({
        "id": cause.id.name(),
        "healsByItself": cause.heals,
        "hold": cause.id.is_hold(),
        "summary": cause.summary,
        "container": cause.container,
        "pods": cause.pods.len(),
        "example": cause.pods.first(),
        "restarts": cause.restarts,
        "evidence": cause.evidence,
    })
}

/// What could not be read, so that no cause does not mean no trouble.
pub(super) fn unknown(standing: &Standing<'_>) -> Vec<&'static str> {
    let Standing { observed, verdict, .. } = standing;
    let mut unknown = Vec::new();
    if observed.revisions.is_empty() {
        unknown.push("revisions");
    }
    if observed.pods.is_none() {
        unknown.push("pods");
    }
    if observed.events.is_none() && verdict.state != State::Complete {
        unknown.push("events");
    }
    unknown
}
