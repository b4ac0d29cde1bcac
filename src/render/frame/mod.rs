//! Frames: what a terminal shows about followed rollouts at one moment.
//!
//! A frame depends only on the follower, a moment and the size of the terminal. [`MessageWriter`](super::message_writer::MessageWriter)
//! replaces one frame on the terminal by the next.

mod header;
mod revisions;
mod steps;
mod workload_block;

pub use steps::{Steps, batch_rows};

use std::collections::BTreeMap;

use k8s_openapi::jiff::Timestamp;

use self::workload_block::{Severity, WorkloadBlock};
use super::columns::aligned;
use super::line::Line;
use super::status::NameContext;
use crate::model::engine::Now;
use crate::model::follow::Follower;
use crate::model::observation::Observation;
use crate::world::Terminal;

/// Returns a line for each revision, and for each of its pods its name, node, state and restarts.
#[must_use]
pub fn pod_tree(observed: &Observation, now: Timestamp, terminal: Option<Terminal>) -> Vec<Line> {
    revisions::tree(observed, now, terminal.map_or(usize::MAX, usable_width), true)
}

/// The lines that a terminal shows at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame(Vec<Line>);

/// Followed rollouts at one moment.
#[derive(Clone, Copy, Debug)]
pub struct FollowMoment<'a> {
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
    pub fn of(moment: FollowMoment<'_>, size: Terminal) -> Self {
        Self::new(into_height(&moment.blocks(size), usable_height(size)), size)
    }

    /// Renders the results. The last frame is never replaced, so it may be higher than the terminal. Only complete
    /// workloads are folded.
    #[must_use]
    pub fn last(moment: FollowMoment<'_>, size: Terminal) -> Self {
        Self::new(final_lines(&moment.blocks(size), usable_height(size)), size)
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

impl FollowMoment<'_> {
    fn blocks(self, size: Terminal) -> Vec<WorkloadBlock> {
        let Self { follower, now, names, shows_pods } = self;
        let block = |target| WorkloadBlock::of(target, now, names, shows_pods, usable_width(size));
        follower.targets().iter().map(block).collect()
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

/// A block is unfolded only if at least this many of its lines fit.
const MIN_UNFOLDED_HEIGHT: usize = 3;

/// Fits the blocks into `height` lines. If they do not fit completely, each is folded into one line, and the most
/// severe ones are unfolded as far as lines are left. The order never changes, so that no block moves around.
fn into_height(blocks: &[WorkloadBlock], height: usize) -> Vec<Line> {
    match blocks {
        blocks if total_height(blocks) <= height => all(blocks),
        [only] if height >= MIN_UNFOLDED_HEIGHT => only.lines_within(height),
        blocks if blocks.len() <= height => partly_folded(blocks, &heights(blocks, height)),
        blocks => most_severe(blocks, height),
    }
}

/// Returns the lines of the last frame. If they do not fit completely, only complete workloads are folded.
fn final_lines(blocks: &[WorkloadBlock], height: usize) -> Vec<Line> {
    if total_height(blocks) <= height || blocks.len() == 1 {
        return all(blocks);
    }
    let room = |workload_block: &WorkloadBlock| {
        if workload_block.severity == Severity::Complete { 1 } else { workload_block.height() }
    };
    partly_folded(blocks, &blocks.iter().map(room).collect::<Vec<_>>())
}

fn total_height(blocks: &[WorkloadBlock]) -> usize {
    blocks.iter().map(WorkloadBlock::height).sum()
}

fn all(blocks: &[WorkloadBlock]) -> Vec<Line> {
    blocks.iter().flat_map(WorkloadBlock::lines).collect()
}

/// Returns the number of lines for each block: one, and more for the most severe blocks as long as lines are left.
fn heights(blocks: &[WorkloadBlock], height: usize) -> Vec<usize> {
    let mut spare = height - blocks.len();
    let mut room = vec![1; blocks.len()];
    let mut by_urgency: Vec<_> = blocks.iter().zip(&mut room).collect();
    by_urgency.sort_by_key(|(workload_block, _)| workload_block.severity);
    for (workload_block, room) in by_urgency {
        let wanted = workload_block.height().min(1 + spare);
        if wanted >= MIN_UNFOLDED_HEIGHT.min(workload_block.height())
            && workload_block.severity != Severity::Complete
        {
            spare -= wanted - 1;
            *room = wanted;
        }
    }
    room
}

/// Returns the lines of blocks with the given heights. Blocks of height 1 are folded into aligned rows.
fn partly_folded(blocks: &[WorkloadBlock], room: &[usize]) -> Vec<Line> {
    let is_folded = |workload_block: &WorkloadBlock, room: usize| room == 1 && workload_block.height() > 1;
    let rows = blocks.iter().zip(room).filter(|(workload_block, room)| is_folded(workload_block, **room));
    let mut folded =
        aligned(rows.map(|(workload_block, _)| workload_block.folded.clone()).collect()).into_iter();
    let lines = blocks.iter().zip(room).flat_map(|(workload_block, room)| {
        if is_folded(workload_block, *room) {
            folded.next().into_iter().collect()
        } else {
            workload_block.lines_within(*room)
        }
    });
    lines.collect()
}

/// Returns the most severe blocks, folded, and a last line that counts the others.
fn most_severe(blocks: &[WorkloadBlock], height: usize) -> Vec<Line> {
    let mut by_urgency: Vec<_> = blocks.iter().enumerate().collect();
    by_urgency.sort_by_key(|(_, workload_block)| workload_block.severity);
    let (shown, rest) = by_urgency.split_at(height.saturating_sub(1).min(blocks.len()));
    let mut shown: Vec<_> = shown.to_vec();
    shown.sort_by_key(|(index, _)| *index);
    let mut lines =
        aligned(shown.into_iter().map(|(_, workload_block)| workload_block.folded.clone()).collect());
    let mut counts: BTreeMap<Severity, usize> = BTreeMap::new();
    for (_, workload_block) in rest {
        *counts.entry(workload_block.severity).or_default() += 1;
    }
    let counts: Vec<_> =
        counts.iter().map(|(severity, count)| format!("{count} {}", severity.words())).collect();
    lines.push(Line::of(format!("and {} more: {}", rest.len(), counts.join(", "))));
    lines
}
