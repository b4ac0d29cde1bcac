//! Draws the reports of an engine as live frames.

use std::time::Duration;

use super::event_loop::Reporter;
use crate::model::engine::{Engine, Now};
use crate::render::frame::Frame;
use crate::render::ui::Ui;
use crate::world::Terminal;

/// Reports within this time share one redraw. A thousand pods may change in one second, and a remote
/// terminal shows only a few frames per second.
const REDRAW_DELAY: Duration = Duration::from_millis(100);

/// Renders the frames of an engine.
pub(super) trait FrameSource<E: Engine> {
    /// Returns the frame at a moment, for a terminal of a size.
    fn frame(&self, engine: &E, now: Now, size: Terminal) -> Frame;

    /// Records a report, and returns the lines to print above the frame because no frame shows them.
    fn record(&mut self, _engine: &E, _report: &E::Report, _now: Now) -> Vec<String> {
        Vec::new()
    }
}

/// Draws a frame and replaces it when reports arrive and every second.
pub(super) struct FrameReporter<'a, P> {
    ui: &'a mut Ui,
    frames: P,
    /// When the frame on the terminal was drawn.
    drawn: Option<Duration>,
    /// Whether a report arrived since.
    outdated: bool,
}

impl<'a, P> FrameReporter<'a, P> {
    pub(super) fn new(ui: &'a mut Ui, frames: P) -> Self {
        Self { ui, frames, drawn: None, outdated: true }
    }

    /// Draws the last frame, which stays on the terminal, and returns the `Ui`.
    pub(super) fn finish(self, frame: impl FnOnce(&P, Terminal) -> Frame) -> &'a mut Ui {
        self.ui.draw_last(|size| frame(&self.frames, size));
        self.ui
    }
}

impl<E: Engine, P: FrameSource<E>> Reporter<E> for FrameReporter<'_, P> {
    fn ui(&mut self) -> &mut Ui {
        self.ui
    }

    fn report(&mut self, engine: &E, report: &E::Report, now: Now) {
        self.outdated = true;
        self.ui.err_lines(self.frames.record(engine, report, now));
    }

    fn redraw_if_due(&mut self, engine: &E, now: Now) {
        if self.next_draw().is_none_or(|due| now.elapsed >= due) {
            self.ui.draw(|size| self.frames.frame(engine, now, size));
            (self.drawn, self.outdated) = (Some(now.elapsed), false);
        }
    }

    fn next_redraw(&self) -> Option<Duration> {
        self.next_draw()
    }
}

impl<P> FrameReporter<'_, P> {
    /// Returns the time of the next redraw: [`REDRAW_DELAY`] after the last frame if it is outdated, else
    /// the next full second, because frames show elapsed times.
    fn next_draw(&self) -> Option<Duration> {
        let drawn = self.drawn?;
        Some(if self.outdated { drawn + REDRAW_DELAY } else { Duration::from_secs(drawn.as_secs() + 1) })
    }
}
