//! Frames: what a terminal shows of followed rollouts at one moment.
//!
//! A frame is a function of what is known, a moment and a size, and of nothing else: not of the frame
//! before it, nor of the terminal. How one frame takes the place of another is [`live`](super::live)'s.

mod bars;
mod block;
mod causes;
mod columns;
mod fold;
mod head;
mod line;
mod revisions;
mod steps;
mod words;
mod wrap;

pub use line::Line;
pub use steps::{Steps, batch_rows};

use self::block::Block;
use super::status::Company;
use crate::model::follow::{Follower, Moment};
use crate::world::Terminal;

/// What a terminal shows at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame(Vec<Line>);

/// What is told apart from the facts.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// Who follows, and so what is known.
    pub follower: &'a Follower,
    /// The moment.
    pub now: Moment,
    /// What names must tell apart.
    pub company: Company,
}

impl Frame {
    /// The rollouts as they are followed: a block each, folded to a line each as far as the height asks
    /// for it. No frame is as high as the terminal: below it the cursor needs a line of its own, or
    /// writing the last one would scroll the first one away.
    #[must_use]
    pub fn of(scene: Scene<'_>, size: Terminal) -> Self {
        let width = usable_width(size);
        let blocks: Vec<_> = scene.blocks(width).collect();
        Self::new(fold::into_height(&blocks, usable_height(size)), size)
    }

    /// The rollouts as they ended. It is not drawn over any more, so it may be higher than the terminal:
    /// whatever did not end well is shown in full.
    #[must_use]
    pub fn last(scene: Scene<'_>, size: Terminal) -> Self {
        let width = usable_width(size);
        let blocks: Vec<_> = scene.blocks(width).collect();
        Self::new(fold::at_the_end(&blocks, usable_height(size)), size)
    }

    /// A plan as it is stepped, or as it ended, in the height of the terminal: of a thousand batches those
    /// matter around which it stands.
    #[must_use]
    pub fn of_steps(steps: Steps<'_>, size: Terminal) -> Self {
        Self::new(steps::lines(steps, usable_width(size), usable_height(size)), size)
    }

    /// A frame of these lines, each cut to the width of the terminal.
    pub fn new(lines: impl IntoIterator<Item = Line>, size: Terminal) -> Self {
        Self(lines.into_iter().map(|line| line.cut_to(usable_width(size))).collect())
    }

    /// Its lines.
    #[must_use]
    pub fn lines(&self) -> &[Line] {
        &self.0
    }
}

impl<'a> Scene<'a> {
    fn blocks(self, width: usize) -> impl Iterator<Item = Block> + 'a {
        let tracks = self.follower.tracks().iter();
        tracks.map(move |track| Block::of(track, self.now, self.company, width))
    }
}

/// The last column stays free: terminals differ in what they do with a line that fills it.
fn usable_width(size: Terminal) -> usize {
    usize::from(size.width).saturating_sub(1).max(1)
}

/// The line below the frame is the cursor's.
fn usable_height(size: Terminal) -> usize {
    usize::from(size.height).saturating_sub(1).max(1)
}
