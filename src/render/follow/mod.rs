//! The reports of a follower as lines of text: which words, and which stream; and as JSON.

pub mod json;
mod outcome;

pub use outcome::print_outcome;
pub(super) use outcome::rollback_at_end;

use self::outcome::{delete_hint, outcome_line};
use super::frame::pod_tree;
use super::line::Line;
use super::state_words::state_style;
use super::status::{NameContext, cause_line, cause_lines, named_line};
use super::ui::{DocumentForm, Ui};
use crate::model::cause::Cause;
use crate::model::cause::container_logs::LogLines;
use crate::model::engine::Now;
use crate::model::follow::{CauseChange, FollowedTarget, Outcome, Report, RollbackTarget, ShortTimeout};
use crate::model::kind::Workload;
use crate::model::kind::verdict::RolloutState;
use crate::model::text::go_duration;

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
                Some(size) => ui.out_lines(&cause_lines(reported, workload, names, size)),
                None => ui.err_line(&cause(workload, reported, *change, names)),
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
                ui.out_lines(&pod_tree(observed, now.server_time, terminal));
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
#[must_use]
pub fn cause(workload: &Workload, cause: &Cause, change: CauseChange, names: NameContext) -> String {
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
#[must_use]
pub fn log_lines(log: &LogLines) -> Vec<String> {
    let container = format!("    {} {}| ", log.pod, log.container);
    log.lines.iter().map(|line| format!("{container}{line}")).collect()
}

/// Returns that the command stops following a target because the reader of its output exited.
#[must_use]
pub fn without_reader(target: &FollowedTarget) -> String {
    let what = if target.rollback().is_some() { "rollback" } else { "rollout" };
    format!("note: stdout was closed; the {what} of {} continues in the cluster", target.workload().target())
}
