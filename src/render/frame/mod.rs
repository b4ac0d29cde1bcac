//! Frames: what a terminal shows about followed rollouts at one moment.
//!
//! A frame depends only on the follower, a moment and the size of the terminal. [`drawn_frame`](super::drawn_frame)
//! replaces one frame on the terminal by the next.

mod bars;
mod causes;
mod fit_height;
mod header;
mod revisions;
mod steps;
mod workload_block;

pub use steps::{Steps, batch_rows};

use k8s_openapi::jiff::Timestamp;

use self::workload_block::WorkloadBlock;
use super::line::Line;
use super::status::NameContext;
use crate::model::follow::{Follower, Now};
use crate::model::observation::Observation;
use crate::world::Terminal;

/// Returns a line for each revision, and for each of its pods its name, node, state and restarts.
#[must_use]
pub fn pod_tree(observed: &Observation, now: Timestamp, terminal: Option<Terminal>) -> Vec<Line> {
    revisions::pod_tree(observed, now, terminal.map_or(usize::MAX, usable_width))
}

/// The lines that a terminal shows at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame(Vec<Line>);

/// Followed rollouts at one moment.
#[derive(Clone, Copy, Debug)]
pub struct FollowSnapshot<'a> {
    /// The follower with its targets.
    pub follower: &'a Follower,
    /// The moment.
    pub now: Now,
    /// What names must distinguish.
    pub names: NameContext,
    /// Whether each pod has a line.
    pub shows_pods: bool,
}

impl Frame {
    /// Renders rollouts while they are followed: one block each, folded as far as the height requires. The frame
    /// is lower than the terminal, because the cursor needs the line below it.
    #[must_use]
    pub fn of(snapshot: FollowSnapshot<'_>, size: Terminal) -> Self {
        let width = usable_width(size);
        let blocks: Vec<_> = snapshot.blocks(width).collect();
        Self::new(fit_height::into_height(&blocks, usable_height(size)), size)
    }

    /// Renders the results. The last frame is never replaced, so it may be higher than the terminal. Only complete
    /// workloads are folded.
    #[must_use]
    pub fn last(snapshot: FollowSnapshot<'_>, size: Terminal) -> Self {
        let width = usable_width(size);
        let blocks: Vec<_> = snapshot.blocks(width).collect();
        Self::new(fit_height::final_lines(&blocks, usable_height(size)), size)
    }

    /// Renders a plan. Of many batches, it shows those around the current one.
    #[must_use]
    pub fn of_steps(steps: Steps<'_>, size: Terminal) -> Self {
        Self::new(steps::lines(steps, usable_width(size), usable_height(size)), size)
    }

    /// Creates a frame of lines, each cut to the width of the terminal.
    pub fn new(lines: impl IntoIterator<Item = Line>, size: Terminal) -> Self {
        Self(lines.into_iter().map(|line| line.cut_to(usable_width(size))).collect())
    }

    /// Replaces each ellipsis by a character of ASCII, for a terminal that shows no others.
    #[must_use]
    pub fn into_ascii(self) -> Self {
        Self(self.0.into_iter().map(Line::into_ascii).collect())
    }

    /// Returns the lines.
    #[must_use]
    pub fn lines(&self) -> &[Line] {
        &self.0
    }
}

impl<'a> FollowSnapshot<'a> {
    fn blocks(self, width: usize) -> impl Iterator<Item = WorkloadBlock> + 'a {
        let trackers = self.follower.targets().iter();
        trackers.map(move |tracker| WorkloadBlock::of(tracker, self.now, self.names, self.shows_pods, width))
    }
}

/// Returns the width without the last column. Terminals differ in how they treat a line that fills it.
pub(super) fn usable_width(size: Terminal) -> usize {
    usize::from(size.width).saturating_sub(1).max(1)
}

/// Returns the height without the line of the cursor below the frame.
pub(super) fn usable_height(size: Terminal) -> usize {
    usize::from(size.height).saturating_sub(1).max(1)
}
