//! A cause in words: on one line, in lines of a width, or without its pods; with its evidence and the log of its container.

use super::line::{Line, Style};
use super::state_words::NameContext;
use crate::model::cause::container_logs::LogLines;
use crate::model::cause::{Cause, CauseId, CauseSeverity};
use crate::model::follow::CauseChange;
use crate::model::kind::Workload;
use crate::model::text::plural::plural;

/// Returns one line about a cause that appeared, changed or went away.
pub(super) fn cause_report(
    workload: &Workload,
    cause: &Cause,
    change: CauseChange,
    names: NameContext<'_>,
) -> String {
    match change {
        CauseChange::Appeared | CauseChange::Changed => cause_line(cause, workload, names),
        // Without its mark, because it needs nothing any more.
        CauseChange::Gone => format!("  resolved: {}  {}", whose(cause, workload, names), cause.words()),
    }
}

/// Returns the last lines of a container's log, indented below their cause.
pub(super) fn log_lines(log: &LogLines) -> Vec<String> {
    let container = format!("    {} {}| ", log.pod, log.container);
    log.lines.iter().map(|line| format!("{container}{line}")).collect()
}

/// The most lines that the evidence of a cause may take. Its last words are often the important ones.
const EVIDENCE_LINES: usize = 4;

/// The indentation of evidence below its cause.
const INDENT: &str = "      ";

/// Returns one cause on one line, with its evidence in quotes at the end.
pub(super) fn cause_line(cause: &Cause, workload: &Workload, names: NameContext<'_>) -> String {
    with_evidence(&format!("  {}", cause_words(cause, workload, names)), new_evidence(cause))
}

fn with_evidence(words: &str, evidence: Option<&str>) -> String {
    let evidence = evidence.map(|evidence| format!("   {}", quoted(evidence))).unwrap_or_default();
    format!("{words}{evidence}")
}

/// Returns a text in quotation marks of a kind that it does not contain itself, if there is one.
pub(super) fn quoted(text: &str) -> String {
    let mark = ['"', '\'', '`'].into_iter().find(|mark| !text.contains(*mark)).unwrap_or('"');
    format!("{mark}{text}{mark}")
}

/// Returns one cause with this evidence in its colour, in lines of a width. If it does not fit into one line, its evidence
/// goes on separate lines. The summary is never cut.
#[must_use]
pub fn cause_in_width(
    cause: &Cause,
    evidence: Option<&str>,
    workload: &Workload,
    names: NameContext<'_>,
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
        let evidence = Line::styled(style, quoted(evidence));
        let evidence = evidence.wrapped("", room, EVIDENCE_LINES);
        lines.extend(evidence.into_iter().map(|line| line.indented(INDENT)));
    }
    lines
}

/// Returns the summary of a cause: `! web-1  app: CrashLoopBackOff, exit 1, 3 restarts`. The restarts belong to what the
/// container does, and come before what follows from it.
pub(super) fn cause_words(cause: &Cause, workload: &Workload, names: NameContext<'_>) -> String {
    let words = cause.words();
    let (does, follows) = words
        .rsplit_once("; ")
        .filter(|_| cause.id == CauseId::BlockedByPod)
        .map_or((words.as_str(), None), |(does, rest)| (does, Some(rest)));
    let restarts = (cause.restarts > 0).then(|| format!(", {}", plural(cause.restarts, "restart")));
    let follows = follows.map(|rest| format!("; {rest}")).unwrap_or_default();
    format!(
        "{} {}  {does}{}{follows}",
        mark(cause),
        whose(cause, workload, names),
        restarts.unwrap_or_default()
    )
}

/// Words of components that add nothing to the summary of a cause.
const FILLER: &str = "a and are available be code could desc error failed found image is no nodes not notfound of pull reference \
                      resolve rpc to unpack";

/// Returns the evidence of a cause, unless it only repeats the summary. JSON always has it.
pub(super) fn new_evidence(cause: &Cause) -> Option<&str> {
    let evidence = cause.evidence.as_deref()?;
    let [known, said] = [&*cause.summary(), evidence].map(str::to_lowercase);
    let known: Vec<&str> = words(&known).chain(FILLER.split(' ')).collect();
    words(&said).any(|word| !known.contains(&word)).then_some(evidence)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| word.contains(char::is_alphabetic))
}

/// Returns the mark of a cause: `-` for a hold, `~` for one that may resolve automatically, `!` for all others.
fn mark(cause: &Cause) -> char {
    match cause.severity {
        CauseSeverity::Hold => '-',
        CauseSeverity::MayPass => '~',
        CauseSeverity::NeedsFix | CauseSeverity::Fatal => '!',
    }
}

/// Returns what a cause affects: `web-1`, `web-1 and 49 more`, or the workload. A hold affects the workload.
fn whose(cause: &Cause, workload: &Workload, names: NameContext<'_>) -> String {
    match cause.pods.as_slice() {
        _ if cause.severity == CauseSeverity::Hold => names.name(workload),
        [] => names.name(workload),
        [only] => names.in_context(only.clone()),
        [example, others @ ..] => names.in_context(format!("{example} and {} more", others.len())),
    }
}

/// Returns the style of a cause.
pub(super) fn cause_style(cause: &Cause) -> Style {
    if cause.needs_a_fix() { Style::Bad } else { Style::Warning }
}

/// Returns a cause without the pods it affects: `! app: CrashLoopBackOff, exit 1`.
pub(super) fn in_short(cause: &Cause) -> Line {
    Line::styled(cause_style(cause), format!("{} {}", mark(cause), cause.words()))
}

/// Returns a cause without the pods it affects, and its evidence on a line of its own, which is cut.
pub(super) fn in_short_with_evidence(cause: &Cause, log: Option<&LogLines>, width: usize) -> Vec<Line> {
    let words = in_short(cause).indented("  ").wrapped(INDENT, width, usize::MAX);
    let evidence = evidence(cause, log).map(|evidence| format!("{INDENT}{}", quoted(evidence)));
    let evidence = evidence.map(|evidence| Line::styled(cause_style(cause), evidence));
    words.into_iter().chain(evidence).collect()
}

/// The most causes in a block. More causes are only counted.
const MAX_CAUSES: usize = 4;

/// Returns the causes of a workload, and a line that counts those that are not shown.
pub(super) fn cause_lines<'a>(
    causes: &[Cause],
    log_of: impl Fn(&Cause) -> Option<&'a LogLines>,
    workload: &Workload,
    names: NameContext<'_>,
    width: usize,
) -> Vec<Line> {
    let shown = causes.iter().take(MAX_CAUSES);
    let lines = shown.flat_map(|cause| {
        let evidence = evidence(cause, log_of(cause));
        cause_in_width(cause, evidence, workload, names, width)
    });
    let more = causes.len().saturating_sub(MAX_CAUSES);
    let more = (more > 0).then(|| Line::of(format!("  and {}", plural(more, "more cause"))));
    lines.chain(more).collect()
}

/// Returns the evidence of a cause: the message of the kubelet or controller, or else the most important line of the
/// container's log. An error in the log of a container that is not ready says more than the message about its probe.
fn evidence<'a>(cause: &'a Cause, log: Option<&'a LogLines>) -> Option<&'a str> {
    let error = log.filter(|_| cause.id.keeps_unready()).and_then(LogLines::line_like_error);
    error.or_else(|| new_evidence(cause)).or_else(|| log.and_then(LogLines::error_line)).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_in_quotes_is_quoted_with_others() {
        for (text, expected) in [
            ("no route to host", "\"no route to host\""),
            ("Get \"http://10.0.0.7\": refused", "'Get \"http://10.0.0.7\": refused'"),
            ("\"a\" may require 'docker login'", "`\"a\" may require 'docker login'`"),
        ] {
            assert_eq!(quoted(text), expected);
        }
    }

    #[test]
    fn an_error_in_the_log_of_an_unready_container_comes_before_the_message_of_its_probe() {
        let log =
            |line: &str| LogLines { pod: "w".into(), container: "app".into(), lines: vec![line.into()] };
        let (error, other) = (log("x509: unknown authority, error"), log("GET /healthz"));
        let probe = "HTTP probe failed with statuscode: 503";
        for (id, log, expected) in [
            (CauseId::ReadinessProbe, None, probe),
            (CauseId::ReadinessProbe, Some(&other), probe),
            (CauseId::ReadinessProbe, Some(&error), "x509: unknown authority, error"),
            (CauseId::LivenessProbe, Some(&error), probe),
        ] {
            let cause = Cause { evidence: Some(probe.to_owned()), ..Cause::new(id, "probe") };
            assert_eq!(evidence(&cause, log), Some(expected));
        }
    }

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
            let cause = Cause { evidence, ..Cause::new(CauseId::CrashLoop, summary) };
            assert_eq!(new_evidence(&cause).is_some(), is_new, "{:?}", cause.evidence);
        }
    }
}
