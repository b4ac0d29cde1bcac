//! Prints the reports of a follower as lines of text or JSON.

use serde_json::Value;

use super::event_loop::Reporter;
use crate::error::{Error, ErrorKind};
use crate::model::follow::{
    CauseChange, Follower, Now, Outcome, Report, RolloutFailure, TargetId, TargetTracker,
};
use crate::model::workload::verdict::Verdict;
use crate::render::follow::{json, lines};
use crate::render::frame::pod_tree;
use crate::render::screen::Screen;
use crate::render::status::{NameContext, colored};
use crate::render::yaml;

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
    /// kubectl's lines and nothing else. Its errors are printed together at the end.
    Kubectl,
}

impl ReportFormat {
    /// Returns the text format: frames if the terminal can draw them, unless `wants_lines`.
    #[must_use]
    pub fn of_text(screen: &Screen<'_>, wants_lines: bool) -> Self {
        if screen.can_draw() && !wants_lines { Self::Frames } else { Self::Lines }
    }
}

/// Prints the reports of a follower as lines.
pub(in crate::command) struct LineReporter<'a, 'w> {
    screen: &'a mut Screen<'w>,
    format: ReportFormat,
    names: NameContext,
    /// Whether each pod is printed after the last line.
    shows_pods: bool,
    /// kubectl's errors, printed at the end.
    pub(super) errors: Vec<Error>,
}

impl<'a, 'w> LineReporter<'a, 'w> {
    /// Creates a reporter that prints on a screen.
    pub(super) fn new(
        screen: &'a mut Screen<'w>,
        format: ReportFormat,
        names: NameContext,
        shows_pods: bool,
    ) -> Self {
        Self { screen, format, names, shows_pods, errors: Vec::new() }
    }

    fn lines(&mut self, tracker: &TargetTracker, event: &Report, now: Now) {
        let names = self.names;
        match event {
            Report::Status { verdict, line_changed: true, is_rollback: false, .. } => {
                self.print_status(tracker, verdict);
            }
            Report::Status { verdict, line_changed: true, .. } => {
                let line = lines::rollback_line(tracker, verdict, names);
                self.screen.notes(line);
            }
            Report::Status { .. } | Report::Request(_) => {}
            Report::Cause { cause, change, .. } => {
                self.screen.note(&lines::cause(tracker.workload(), cause, *change, names));
                if *change == CauseChange::Appeared {
                    self.screen.notes(lines::blocked_rollback(tracker, cause));
                }
            }
            Report::Log { log, .. } => {
                let title = format!("log of {} {}", log.pod, log.container);
                self.screen.group(&title, &lines::log(log));
            }
            Report::Waiting { reason, .. } => self.screen.note(&lines::waiting(tracker, reason)),
            Report::RollbackStarted { result, revision, .. } => {
                self.screen.notes(lines::rollback_started(tracker, result, revision, names));
            }
            Report::Ended { result, .. } => {
                if let Some(observed) = tracker.observation().filter(|_| self.shows_pods) {
                    let terminal = self.screen.terminal();
                    self.screen.styled_lines(&pod_tree(observed, now.server_time, terminal));
                }
                self.screen.notes(lines::result(tracker, result, tracker.rollback().is_some(), names));
            }
        }
    }

    fn print_status(&mut self, tracker: &TargetTracker, verdict: &Verdict) {
        if let Some(line) = lines::status_line(tracker, verdict, self.names) {
            let terminal = self.screen.terminal();
            self.screen.styled(&colored(&line, verdict.state, terminal));
        }
    }

    fn as_kubectl(&mut self, event: &Report) {
        match event {
            Report::Status { verdict, .. } => self.screen.line(&verdict.line),
            Report::Ended { result, .. } => {
                let text = match &result.outcome {
                    Outcome::Failed(RolloutFailure::Kubectl(text)) => text.clone(),
                    Outcome::Deleted => "object has been deleted".to_owned(),
                    Outcome::TimedOut(_) => "timed out waiting for the condition".to_owned(),
                    Outcome::Unreadable(error) => return self.errors.push(error.clone()),
                    _ => return,
                };
                self.errors.push(Error::new(ErrorKind::Failed, text));
            }
            _ => {}
        }
    }
}

impl<'w> Reporter<'w, Follower, Report> for LineReporter<'_, 'w> {
    fn screen(&mut self) -> &mut Screen<'w> {
        self.screen
    }

    fn report(&mut self, follower: &Follower, event: &Report, now: Now) {
        if self.format == ReportFormat::Kubectl {
            return self.as_kubectl(event);
        }
        if matches!(self.format, ReportFormat::Json | ReportFormat::Yaml) {
            if let Some(document) = json::event(follower, event, now.elapsed) {
                print_document(&document, self.format, self.screen);
            }
            return;
        }
        let tracker = target(event).and_then(|TargetId(index)| follower.targets().get(index));
        if let Some(tracker) = tracker {
            self.lines(tracker, event, now);
        }
    }

    fn has_reader(&self) -> bool {
        self.screen.is_read()
    }

    fn note_once(&mut self, line: &str) {
        if self.format != ReportFormat::Kubectl {
            self.screen.note_once(line);
        }
    }
}

/// Prints a document as JSON on one line, or as YAML.
pub(super) fn print_document(document: &Value, format: ReportFormat, screen: &mut Screen<'_>) {
    match format {
        ReportFormat::Yaml => screen.document(&yaml::yaml(document)),
        _ => screen.exact(&format!("{document}\n")),
    }
}

fn target(event: &Report) -> Option<TargetId> {
    match event {
        Report::Status { target, .. }
        | Report::Cause { target, .. }
        | Report::Log { target, .. }
        | Report::Waiting { target, .. }
        | Report::RollbackStarted { target, .. }
        | Report::Ended { target, .. } => Some(*target),
        Report::Request(_) => None,
    }
}
