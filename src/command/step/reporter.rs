//! Prints the reports of a stepper.

use crate::command::event_loop::Reporter;
use crate::command::event_loop::frames::FrameSource;
use crate::model::cause::container_logs::ContainerLogs;
use crate::model::engine::Now;
use crate::model::step::{StepReport, Stepper};
use crate::render::frame::{Frame, Steps};
use crate::render::step::{Printed, json, lines};
use crate::render::ui::Ui;
use crate::world::Terminal;

/// Prints each report as a line of text or JSON.
pub(super) struct PlanLineReporter<'a> {
    ui: &'a mut Ui,
    is_json: bool,
}

impl<'a> PlanLineReporter<'a> {
    pub(super) fn new(ui: &'a mut Ui, is_json: bool) -> Self {
        Self { ui, is_json }
    }
}

impl Reporter<Stepper> for PlanLineReporter<'_> {
    fn ui(&mut self) -> &mut Ui {
        self.ui
    }

    fn report(&mut self, (stepper, report): &(&Stepper, StepReport), now: Now) {
        if let StepReport::Decision(why) = report {
            self.ui.note(&lines::decision(why)); // on stderr, also with JSON
        } else if self.is_json {
            if let Some(line) = json::line(stepper, report, now) {
                self.ui.json(&line);
            }
        } else {
            print(lines::of(stepper, report, now), self.ui);
        }
    }
}

/// Renders the frames of a plan: its batches, and the logs of the causes.
#[derive(Default)]
pub(super) struct PlanFrames {
    logs: ContainerLogs,
}

impl PlanFrames {
    /// Returns the content of a frame.
    pub(super) fn steps<'a>(&'a self, stepper: &'a Stepper, now: Now) -> Steps<'a> {
        Steps { stepper, now, logs: &self.logs }
    }
}

impl FrameSource<Stepper> for PlanFrames {
    fn frame(&self, stepper: &Stepper, now: Now, size: Terminal) -> Frame {
        Frame::of_steps(self.steps(stepper, now), size)
    }

    fn record(&mut self, (stepper, report): &(&Stepper, StepReport), now: Now) -> Vec<String> {
        match report {
            StepReport::Cause { .. } => Vec::new(), // the frame shows it
            StepReport::Log(log) => {
                self.logs.keep(log.clone());
                Vec::new()
            }
            report => lines::of(stepper, report, now).notes,
        }
    }
}

/// Prints results on stdout, everything else on stderr.
pub(super) fn print(printed: Printed, ui: &mut Ui) {
    for line in printed.results {
        ui.wrapped_line(&line);
    }
    ui.notes(&printed.notes);
}
