//! Drawing how something stands while it is driven.

use std::time::Duration;

use super::drive::Tell;
use crate::model::follow::Moment;
use crate::render::frame::Frame;
use crate::render::screen::Screen;
use crate::world::Terminal;

/// What happens within this time is drawn together. A thousand pods may change in one second, and a
/// remote terminal shows no more than a few frames in it.
const TOGETHER: Duration = Duration::from_millis(100);

/// What there is to draw of something that is driven.
pub(super) trait Picture<Driven, Event> {
    /// How it stands at a moment, on a terminal of some size.
    fn frame(&self, driven: &Driven, now: Moment, size: Terminal) -> Frame;

    /// Takes note of an event; what is said of it above the frame, because no frame shows it.
    fn hear(&mut self, _driven: &Driven, _event: &Event, _now: Moment) -> Vec<String> {
        Vec::new()
    }
}

/// Draws on a screen how something stands while it is driven.
pub(super) struct Drawer<'a, 'w, P> {
    screen: &'a mut Screen<'w>,
    picture: P,
    /// When the frame that stands there was drawn.
    drawn: Option<Duration>,
    /// Whether something happened since.
    outdated: bool,
}

impl<'a, 'w, P> Drawer<'a, 'w, P> {
    pub(super) fn new(screen: &'a mut Screen<'w>, picture: P) -> Self {
        Self { screen, picture, drawn: None, outdated: true }
    }

    /// Draws the last frame, which stays, and hands the screen back.
    pub(super) fn finish(self, frame: impl FnOnce(&P, Terminal) -> Frame) -> &'a mut Screen<'w> {
        self.screen.draw_last(|size| frame(&self.picture, size));
        self.screen
    }
}

impl<'w, P: Picture<Driven, Event>, Driven, Event> Tell<'w, Driven, Event> for Drawer<'_, 'w, P> {
    fn screen(&mut self) -> &mut Screen<'w> {
        self.screen
    }

    fn event(&mut self, driven: &Driven, event: &Event, now: Moment) {
        self.outdated = true;
        self.screen.notes(&self.picture.hear(driven, event, now));
    }

    fn note_once(&mut self, line: &str) {
        self.screen.note_once(line);
    }

    fn is_heard(&self) -> bool {
        self.screen.is_read()
    }

    fn lull(&mut self, driven: &Driven, now: Moment) {
        if self.when().is_none_or(|due| now.elapsed >= due) {
            self.screen.draw(|size| self.picture.frame(driven, now, size));
            (self.drawn, self.outdated) = (Some(now.elapsed), false);
        }
    }

    fn due(&self) -> Option<Duration> {
        self.when()
    }
}

impl<P> Drawer<'_, '_, P> {
    /// Soon after something happened, and at every full second, because it goes by.
    fn when(&self) -> Option<Duration> {
        let drawn = self.drawn?;
        Some(if self.outdated { drawn + TOGETHER } else { Duration::from_secs(drawn.as_secs() + 1) })
    }
}
