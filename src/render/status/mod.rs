//! What `status` prints of its reports: which words, and which stream. A line for each cause, with its evidence.

pub mod json;
mod outcome;

pub use outcome::print_outcome;
pub(super) use outcome::rollback_at_end;

use k8s_openapi::jiff::Timestamp;

use self::outcome::{delete_hint, outcome_line};
use super::age::age;
use super::line::{Line, Style};
use super::message_writer::usable_width;
use super::revisions;
use super::state_words::{NameContext, named_line, state_style};
use super::ui::{DocumentForm, Ui};
use crate::model::cause::Cause;
use crate::model::cause::container_logs::LogLines;
use crate::model::change::restart::restart_command;
use crate::model::engine::Now;
use crate::model::follow::{CauseChange, FollowedTarget, Outcome, Report, RollbackTarget, ShortTimeout};
use crate::model::kind::Workload;
use crate::model::kind::verdict::RolloutState;
use crate::model::status::stale_configuration::{PodsReadingAtStart, StaleConfiguration};
use crate::model::text::go_duration;
use crate::model::text::plural::plural;

/// The output format of followed rollouts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportFormat {
    /// kubectl's lines on stdout, and on a terminal the causes and what serves below them. Everything else on stderr.
    Lines,
    /// A document for each change.
    Documents(DocumentForm),
    /// A live frame, redrawn in place.
    Frames,
}

impl ReportFormat {
    /// Returns the text format: frames if the terminal can draw them, unless `wants_lines`.
    #[must_use]
    pub fn of_text(ui: &Ui, wants_lines: bool) -> Self {
        if ui.can_draw() && !wants_lines { Self::Frames } else { Self::Lines }
    }
}

/// Prints a report: kubectl's lines and the pods on stdout, present causes and what serves there on a terminal only, and
/// everything else on stderr. `shows_pods` adds each pod to the end.
pub fn print(
    target: &FollowedTarget,
    report: &Report,
    names: NameContext,
    shows_pods: bool,
    now: Now,
    ui: &mut Ui,
) {
    let terminal = ui.terminal();
    match report {
        Report::Status { prints_line: false, .. } => {}
        Report::Status { verdict, .. } => {
            let line = named_line(target.workload(), &verdict.line, names);
            match (verdict.state, target.is_rollback_written()) {
                // kubectl prints this line as its error. `Report::Ended` does so, and here it is above the causes.
                (RolloutState::Failed, false) if target.options().once => {
                    ui.err_line(&format!("error: {line}"));
                }
                (RolloutState::Failed, _) => {}
                (state, false) => {
                    ui.out_lines(&Line::styled(state_style(state), line).wrapped_for(terminal, "  "));
                }
                // A script that waits for `successfully rolled out` on stdout waits for the rollout that failed.
                (_, true) => ui.err_line(&format!("rolling back: {line}")),
            }
        }
        Report::Cause { cause: reported, change } => {
            // A script reads only kubectl's lines from stdout; a person reads the causes below them.
            let workload = target.workload();
            match terminal.filter(|_| *change != CauseChange::Gone) {
                Some(size) => {
                    let evidence = new_evidence(reported);
                    ui.out_lines(&cause_in_width(reported, evidence, workload, names, size.width.into()));
                }
                None => ui.err_line(&cause_report(workload, reported, *change, names)),
            }
            if *change == CauseChange::Appeared && target.rollback().is_some() {
                // The controller would wait until the deadline.
                ui.err_lines(delete_hint(target, reported));
            }
        }
        Report::Log { log } => {
            ui.err_group(&format!("log of {} {}", log.pod, log.container), &log_lines(log));
        }
        Report::Waiting { reason } => {
            ui.err_line(&format!("note: {}: waiting for {reason}", names.name(target.workload())));
        }
        Report::RollbackTarget(_) | Report::LeastTime { .. } | Report::RollbackStarted { .. } => {
            ui.err_lines(notes(target, report, names));
        }
        Report::Ended { result } => {
            if let Some(observed) = target.observation().filter(|_| shows_pods) {
                let width = terminal.map_or(usize::MAX, usable_width);
                ui.out_lines(&revisions::tree(observed, now.server_time, width, true));
            }
            print_outcome(target, result, names, now.server_time, terminal.is_some(), ui);
        }
    }
}

/// Returns what a report prints above a live frame, because no frame shows it. The last frame shows the rollback, so the
/// causes of the failure have to stay above it.
#[must_use]
pub fn above_frame(target: &FollowedTarget, report: &Report, names: NameContext) -> Vec<String> {
    let failed = target.causes().filter(|_| matches!(report, Report::RollbackStarted { .. }));
    let causes = failed.flat_map(|cause| {
        let log = target.log_for(cause).map(log_lines).unwrap_or_default();
        std::iter::once(cause_line(cause, target.workload(), names)).chain(log)
    });
    causes.chain(notes(target, report, names)).collect()
}

/// Returns the notes that a report is in every format for reading.
fn notes(target: &FollowedTarget, report: &Report, names: NameContext) -> Vec<String> {
    let name = names.name(target.workload());
    match report {
        Report::RollbackTarget(RollbackTarget::Revision { label, images }) => {
            let image = if images.len() == 1 { "image" } else { "images" };
            let images = images.join(", ");
            vec![format!("note: {name}: would roll back to revision {label} ({image} {images})")]
        }
        Report::RollbackTarget(RollbackTarget::Nothing(why)) => {
            vec![format!("note: {name}: nothing to roll back to: {why}")]
        }
        Report::LeastTime { least, timeout } => {
            let warning = timeout.map(|ShortTimeout { given, fitting }| {
                let [given, fitting] = [given, fitting].map(go_duration::short);
                format!(
                    "warning: --timeout {given} ends before the rollout of {name} can; --timeout {fitting} fits"
                )
            });
            std::iter::once(format!("note: {name}: {least}")).chain(warning).collect()
        }
        Report::RollbackStarted { result, revision } => {
            let why = match &result.outcome {
                Outcome::OtherTargetFailed(other) => format!(", because {other} failed"),
                _ => String::new(),
            };
            let back = format!("{name}: rolling back to revision {revision}, the stable revision{why}");
            outcome_line(target, result, names).into_iter().chain([back]).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns one line about a cause that appeared, changed or went away.
pub(super) fn cause_report(
    workload: &Workload,
    cause: &Cause,
    change: CauseChange,
    names: NameContext,
) -> String {
    match change {
        CauseChange::Appeared | CauseChange::Changed => cause_line(cause, workload, names),
        CauseChange::Gone => {
            let summary = format!("resolved: {}", cause.words());
            let gone = Cause { summary, container: None, evidence: None, restarts: 0, ..cause.clone() };
            cause_line(&gone, workload, names)
        }
    }
}

/// Returns the last lines of a container's log, indented below their cause.
pub(super) fn log_lines(log: &LogLines) -> Vec<String> {
    let container = format!("    {} {}| ", log.pod, log.container);
    log.lines.iter().map(|line| format!("{container}{line}")).collect()
}

/// Returns that the command stops following a target because the reader of its output exited.
#[must_use]
pub fn without_reader(target: &FollowedTarget) -> String {
    let what = if target.rollback().is_some() { "rollback" } else { "rollout" };
    format!("note: stdout was closed; the {what} of {} continues in the cluster", target.workload().target())
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

/// The most lines that the evidence of a cause may take. Its last words are often the important ones.
const EVIDENCE_LINES: usize = 4;

/// The indentation of evidence below its cause.
pub(super) const INDENT: &str = "      ";

/// Returns one cause on one line, with its evidence in quotes at the end.
fn cause_line(cause: &Cause, workload: &Workload, names: NameContext) -> String {
    with_evidence(&format!("  {}", cause_words(cause, workload, names)), new_evidence(cause))
}

fn with_evidence(words: &str, evidence: Option<&str>) -> String {
    let evidence = evidence.map(|evidence| format!("   \"{evidence}\"")).unwrap_or_default();
    format!("{words}{evidence}")
}

/// Returns one cause with this evidence in its colour, in lines of a width. If it does not fit into one line, its evidence
/// goes on separate lines. The summary is never cut.
#[must_use]
pub fn cause_in_width(
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
