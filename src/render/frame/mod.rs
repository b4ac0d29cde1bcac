//! The content of frames: what a terminal shows about followed rollouts, or about a plan, at one moment.
//!
//! It depends only on the follower or the stepper, a moment and the size of the terminal.

mod steps;
mod workload_block;

pub(super) use steps::rows_within;

use std::collections::BTreeMap;

use self::workload_block::WorkloadBlock;
use super::columns::{aligned, fit, widths};
use super::line::Line;
use super::message_writer::{Frame, usable_height, usable_width};
use super::state_words::NameContext;
use crate::model::cause::container_logs::ContainerLogs;
use crate::model::engine::Now;
use crate::model::follow::{Followed, Follower, Rollbacks};
use crate::model::kind::verdict::RolloutState;
use crate::model::step::Stepper;
use crate::world::Terminal;

impl Frame {
    /// Renders followed rollouts: one block each, folded as far as the height requires. The frame is lower than the
    /// terminal, because the cursor needs the line below it. The last frame with the results is never replaced, so it may be
    /// higher: only complete workloads are folded. `shows_pods` adds a line for each pod.
    #[must_use]
    pub fn of(
        follower: &Follower,
        rollbacks: &Rollbacks,
        now: Now,
        names: NameContext<'_>,
        shows_pods: bool,
        is_last: bool,
        size: Terminal,
    ) -> Self {
        let block = |followed: Followed<'_>| {
            let now = followed.target.at(now);
            WorkloadBlock::of(followed, now, names, shows_pods, usable_width(size))
        };
        let blocks: Vec<_> = follower.followed(rollbacks).map(block).collect();
        Self::new(into_height(&blocks, usable_width(size), usable_height(size), is_last), size)
    }

    /// Renders a plan with the logs of its causes. Of many batches, it shows those around the current one.
    #[must_use]
    pub fn of_steps(stepper: &Stepper, now: Now, logs: &ContainerLogs, size: Terminal) -> Self {
        Self::new(steps::lines(stepper, now, logs, usable_width(size), usable_height(size)), size)
    }
}

/// A block is unfolded only if at least this many of its lines fit.
const MIN_UNFOLDED_HEIGHT: usize = 3;

/// Fits the blocks into `height` lines. If they do not fit completely, each is folded into one line, and those with the
/// most trouble are unfolded as far as lines are left. The last frame has room for all. The order never changes, so that no
/// block moves around.
fn into_height(blocks: &[WorkloadBlock], width: usize, height: usize, is_last: bool) -> Vec<Line> {
    let room = if is_last { usize::MAX } else { height };
    match blocks {
        _ if blocks.iter().map(WorkloadBlock::height).sum::<usize>() <= height => {
            blocks.iter().flat_map(WorkloadBlock::lines).collect()
        }
        [only] => only.lines_within(room),
        blocks if blocks.len() <= room => partly_folded(blocks, width, room),
        blocks => most_trouble(blocks, width, room),
    }
}

/// Returns the blocks by trouble, most first, each with its place among them.
fn by_trouble(blocks: &[WorkloadBlock]) -> Vec<(usize, &WorkloadBlock)> {
    let mut sorted: Vec<_> = blocks.iter().enumerate().collect();
    sorted.sort_by_key(|(_, block)| block.trouble());
    sorted
}

/// Returns the number of lines for each block: one, and more for those with the most trouble as long as lines are left.
fn heights(blocks: &[WorkloadBlock], height: usize) -> Vec<usize> {
    let mut spare = height - blocks.len();
    let mut room = vec![1; blocks.len()];
    for (index, block) in by_trouble(blocks) {
        let wanted = block.height().min(spare.saturating_add(1));
        let is_enough = wanted >= MIN_UNFOLDED_HEIGHT.min(block.height());
        if is_enough && block.state != RolloutState::Complete {
            spare -= wanted - 1;
            room[index] = wanted;
        }
    }
    room
}

/// The cells that a folded block keeps for its state and its first cause: `progressing  ! app: ImagePullBackOff`.
const STATE_WIDTH: usize = 37;

/// The minimum width of a shortened name. In a wide terminal it is two fifths of the width.
const MIN_NAME_WIDTH: usize = 12;

/// Returns folded blocks as aligned rows. Names lose their middle only where the states need the room.
fn folded_lines<'a>(blocks: impl Iterator<Item = &'a WorkloadBlock>, width: usize) -> Vec<Line> {
    let mut rows: Vec<_> = blocks.map(|block| block.folded.clone()).collect();
    let widest_state = widths(&rows).last().copied().unwrap_or_default();
    let excess = widest_state.saturating_sub(STATE_WIDTH.min(width / 2)); // is cut at the end of the line
    fit(
        &mut rows,
        width.saturating_add(excess),
        &[(0, MIN_NAME_WIDTH.max(width * 2 / 5))],
        Line::shortened_to,
    );
    aligned(rows)
}

/// Returns the lines of blocks in `height` lines. Blocks with room for one line are folded into aligned rows.
fn partly_folded(blocks: &[WorkloadBlock], width: usize, height: usize) -> Vec<Line> {
    let room = heights(blocks, height);
    let is_folded = |block: &WorkloadBlock, room: usize| room == 1 && block.height() > 1;
    let rows = blocks.iter().zip(&room).filter(|(block, room)| is_folded(block, **room));
    let mut folded = folded_lines(rows.map(|(block, _)| block), width).into_iter();
    let lines = blocks.iter().zip(&room).flat_map(|(block, room)| {
        if is_folded(block, *room) { folded.next().into_iter().collect() } else { block.lines_within(*room) }
    });
    lines.collect()
}

/// Returns the blocks with the most trouble, folded, and a last line that counts the others.
fn most_trouble(blocks: &[WorkloadBlock], width: usize, height: usize) -> Vec<Line> {
    let mut shown = by_trouble(blocks);
    let rest = shown.split_off(height.saturating_sub(1).min(shown.len()));
    shown.sort_by_key(|(index, _)| *index);
    let mut lines = folded_lines(shown.into_iter().map(|(_, block)| block), width);
    let mut counts: BTreeMap<RolloutState, usize> = BTreeMap::new();
    for (_, block) in &rest {
        *counts.entry(block.state).or_default() += 1;
    }
    let counts: Vec<_> = counts.iter().map(|(state, count)| format!("{count} {}", state.word())).collect();
    lines.push(Line::of(format!("and {} more: {}", rest.len(), counts.join(", "))));
    lines
}
