//! Drawing how workloads stand while they are followed.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

use super::drive::Tell;
use crate::model::follow::{Event, Follower, Moment};
use crate::render::follow::lines;
use crate::render::frame::{Frame, Scene};
use crate::render::screen::Screen;
use crate::render::status::Company;

/// What happens within this time is drawn together. A thousand pods may change in one second, and a
/// remote terminal shows no more than a few frames in it.
const TOGETHER: Duration = Duration::from_millis(100);

/// Draws on a screen how workloads stand while they are followed.
pub(super) struct Drawer<'a, 'w> {
    screen: &'a mut Screen<'w>,
    company: Company,
    /// When the frame that stands there was drawn.
    drawn: Option<Duration>,
    /// Whether something happened since.
    outdated: bool,
}

impl<'a, 'w> Drawer<'a, 'w> {
    pub(super) fn new(screen: &'a mut Screen<'w>, company: Company) -> Self {
        Self { screen, company, drawn: None, outdated: true }
    }

    /// Draws how everything ended, and says below it what did not end well: that is for stderr, where
    /// whoever keeps only that will look for it.
    pub(super) fn finish(self, follower: &Follower, wall: Timestamp) {
        let ends = || follower.tracks().iter().filter_map(|track| Some((track, track.end()?)));
        let elapsed = ends().map(|(_, end)| end.after).max().unwrap_or_default();
        let scene = Scene { follower, now: Moment { elapsed, wall }, company: self.company };
        self.screen.draw_last(|size| Frame::last(scene, size));
        for (track, end) in ends() {
            self.screen.notes(&lines::ends(track, end, false, self.company));
        }
    }
}

impl<'w> Tell<'w> for Drawer<'_, 'w> {
    fn screen(&mut self) -> &mut Screen<'w> {
        self.screen
    }

    fn event(&mut self, _follower: &Follower, _event: &Event, _elapsed: Duration) {
        self.outdated = true;
    }

    fn note_once(&mut self, line: &str) {
        self.screen.note_once(line);
    }

    fn is_heard(&self) -> bool {
        self.screen.is_read()
    }

    fn lull(&mut self, follower: &Follower, now: Moment) {
        if self.due().is_none_or(|due| now.elapsed >= due) {
            let scene = Scene { follower, now, company: self.company };
            self.screen.draw(|size| Frame::of(scene, size));
            (self.drawn, self.outdated) = (Some(now.elapsed), false);
        }
    }

    /// Soon after something happened, and at every full second, because it goes by.
    fn due(&self) -> Option<Duration> {
        let drawn = self.drawn?;
        Some(if self.outdated { drawn + TOGETHER } else { Duration::from_secs(drawn.as_secs() + 1) })
    }
}
