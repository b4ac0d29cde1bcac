//! What happens while a workload is stepped, on the screen.

use crate::command::draw::Picture;
use crate::command::drive::Tell;
use crate::model::follow::{Logs, Moment};
use crate::model::step::{Event, Stepper};
use crate::render::frame::{Frame, Steps};
use crate::render::screen::Screen;
use crate::render::step::{Told, json, lines};
use crate::world::Terminal;

/// Tells in lines, or in lines of JSON.
pub(super) struct Teller<'a, 'w> {
    screen: &'a mut Screen<'w>,
    is_json: bool,
}

impl<'a, 'w> Teller<'a, 'w> {
    pub(super) fn new(screen: &'a mut Screen<'w>, is_json: bool) -> Self {
        Self { screen, is_json }
    }
}

impl<'w> Tell<'w, Stepper, Event> for Teller<'_, 'w> {
    fn screen(&mut self) -> &mut Screen<'w> {
        self.screen
    }

    fn event(&mut self, stepper: &Stepper, event: &Event, now: Moment) {
        if self.is_json {
            if let Some(line) = json::line(stepper, event, now) {
                self.screen.exact(&line);
            }
        } else {
            say(lines::of(stepper, event, now), self.screen);
        }
    }

    fn note_once(&mut self, line: &str) {
        self.screen.note_once(line);
    }

    fn is_heard(&self) -> bool {
        self.screen.is_read()
    }
}

/// The batches, drawn, and the logs of what went wrong.
#[derive(Default)]
pub(super) struct Batches {
    logs: Logs,
}

impl Batches {
    /// What there is to draw at a moment.
    pub(super) fn steps<'a>(&'a self, stepper: &'a Stepper, now: Moment) -> Steps<'a> {
        Steps { stepper, now, logs: &self.logs }
    }
}

impl Picture<Stepper, Event> for Batches {
    fn frame(&self, stepper: &Stepper, now: Moment, size: Terminal) -> Frame {
        Frame::of_steps(self.steps(stepper, now), size)
    }

    fn hear(&mut self, stepper: &Stepper, event: &Event, now: Moment) -> Vec<String> {
        match event {
            Event::Cause { .. } => Vec::new(), // the frame shows it
            Event::Log(log) => {
                self.logs.keep(log.clone());
                Vec::new()
            }
            event => lines::of(stepper, event, now).notes,
        }
    }
}

/// Says results on stdout, everything else on stderr.
pub(super) fn say(told: Told, screen: &mut Screen<'_>) {
    for line in told.results {
        screen.result(&format!("{line}\n"));
    }
    screen.notes(&told.notes);
}
