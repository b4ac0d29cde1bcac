//! Prints the reports of a follower as lines of text or JSON.

use serde_json::Value;

use crate::command::event_loop::Reporter;
use crate::model::engine::Now;
use crate::model::follow::{CauseChange, Follower, Report, TargetReport, TargetTracker};
use crate::model::kind::verdict::Verdict;
use crate::model::text::yaml::yaml;
use crate::render::follow::{json, lines};
use crate::render::frame::pod_tree;
use crate::render::status::{NameContext, cause_lines, colored};
use crate::render::ui::Ui;

/// The output format of a followed rollout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReportFormat {
    /// kubectl's lines on stdout, once each; causes and results on stderr.
    #[default]
    Lines,
    /// One line of JSON for each change.
    Json,
    /// A YAML document for each change.
    Yaml,
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

/// Prints the reports of a follower as lines.
pub(in crate::command) struct LineReporter<'a> {
    ui: &'a mut Ui,
    format: ReportFormat,
    names: NameContext,
    /// Whether each pod is printed after the last line.
    shows_pods: bool,
}

impl<'a> LineReporter<'a> {
    /// Creates a reporter that prints on a `Ui`.
    pub(super) fn new(ui: &'a mut Ui, format: ReportFormat, names: NameContext, shows_pods: bool) -> Self {
        Self { ui, format, names, shows_pods }
    }

    fn lines(&mut self, TargetReport { target: tracker, report }: &TargetReport<'_>, now: Now) {
        let names = self.names;
        match report {
            Report::Status { verdict, line_changed: true, is_rollback: false, .. } => {
                self.print_status(tracker, verdict);
            }
            Report::Status { verdict, line_changed: true, .. } => {
                let line = lines::rollback_line(tracker, verdict, names);
                self.ui.notes(line);
            }
            Report::Status { .. } => {}
            Report::Cause { cause, change } => {
                // A script reads only kubectl's lines from stdout; a person reads the causes below them.
                let (workload, observed) = (tracker.workload(), tracker.observation());
                if let (Some(size), true) = (self.ui.terminal(), *change != CauseChange::Gone) {
                    self.ui.lines(&cause_lines(cause, workload, names, size));
                } else {
                    self.ui.note(&lines::cause(workload, observed, cause, *change, names));
                }
                if *change == CauseChange::Appeared {
                    self.ui.notes(lines::blocked_rollback(tracker, cause));
                }
            }
            Report::Log { log } => {
                let title = format!("log of {} {}", log.pod, log.container);
                self.ui.group(&title, &lines::log(log));
            }
            Report::Waiting { reason } => self.ui.note(&lines::waiting(tracker, reason)),
            Report::RollbackTarget(target) => {
                self.ui.note(&lines::rollback_target(tracker, target, names));
            }
            Report::LeastTime { least, timeout } => {
                self.ui.notes(lines::least_time(tracker, *least, *timeout, names));
            }
            Report::RollbackStarted { result, revision } => {
                self.ui.notes(lines::rollback_started(tracker, result, revision, names));
            }
            Report::Ended { result } => {
                if let Some(observed) = tracker.observation().filter(|_| self.shows_pods) {
                    let terminal = self.ui.terminal();
                    self.ui.lines(&pod_tree(observed, now.server_time, terminal));
                }
                let has_failed = tracker.rollback().is_some();
                let end = lines::result(tracker, result, has_failed, names, now.server_time);
                self.ui.notes(end.result);
                match (self.ui.terminal(), end.serving) {
                    (Some(_), Some(serving)) => self.ui.line(&serving),
                    (_, serving) => self.ui.notes(serving),
                }
                self.ui.notes(end.hints);
            }
        }
    }

    fn print_status(&mut self, tracker: &TargetTracker, verdict: &Verdict) {
        if let Some(line) = lines::status_line(tracker, verdict, self.names) {
            let terminal = self.ui.terminal();
            self.ui.lines(&colored(&line, verdict.state, terminal));
        }
        self.ui.notes(lines::failed_line(tracker, verdict, self.names));
    }
}

impl Reporter<Follower> for LineReporter<'_> {
    fn ui(&mut self) -> &mut Ui {
        self.ui
    }

    fn report(&mut self, report: &TargetReport<'_>, now: Now) {
        match self.format {
            ReportFormat::Json | ReportFormat::Yaml => {
                print_document(&json::event(report, now.elapsed), self.format, self.ui);
            }
            ReportFormat::Lines | ReportFormat::Frames => self.lines(report, now),
        }
    }
}

/// Prints a document as JSON on one line, or as YAML.
pub(in crate::command) fn print_document(document: &Value, format: ReportFormat, ui: &mut Ui) {
    match format {
        ReportFormat::Yaml => ui.document(&yaml(document)),
        _ => ui.json(&format!("{document}\n")),
    }
}
