//! Many blocks into the height of one terminal.

use std::collections::BTreeMap;

use super::block::{Block, Urgency};
use super::columns::aligned;
use super::line::Line;

/// A block that is not folded is worth it from so many lines on.
const WORTH_UNFOLDING: usize = 3;

/// The blocks in no more than `height` lines: all of them in full if they fit, and else a line each, the
/// most urgent ones unfolded as far as there is room. Their order never changes: what one looks at must
/// not jump.
pub(super) fn into_height(blocks: &[Block], height: usize) -> Vec<Line> {
    match blocks {
        blocks if total_height(blocks) <= height => all(blocks),
        [only] if height >= WORTH_UNFOLDING => only.lines_within(height),
        blocks if blocks.len() <= height => unfolded_in_part(blocks, &room_for_each(blocks, height)),
        blocks => the_most_urgent(blocks, height),
    }
}

/// The blocks as they ended: all in full if that fits, and else all but those that are complete.
pub(super) fn at_the_end(blocks: &[Block], height: usize) -> Vec<Line> {
    if total_height(blocks) <= height || blocks.len() == 1 {
        return all(blocks);
    }
    let room = |block: &Block| if block.urgency == Urgency::Complete { 1 } else { block.height() };
    unfolded_in_part(blocks, &blocks.iter().map(room).collect::<Vec<_>>())
}

fn total_height(blocks: &[Block]) -> usize {
    blocks.iter().map(Block::height).sum()
}

fn all(blocks: &[Block]) -> Vec<Line> {
    blocks.iter().flat_map(Block::lines).collect()
}

/// How many lines each block gets: one, and what it needs of those that are left, the most urgent first.
fn room_for_each(blocks: &[Block], height: usize) -> Vec<usize> {
    let mut spare = height - blocks.len();
    let mut room = vec![1; blocks.len()];
    let mut by_urgency: Vec<_> = blocks.iter().zip(&mut room).collect();
    by_urgency.sort_by_key(|(block, _)| block.urgency);
    for (block, room) in by_urgency {
        let wanted = block.height().min(1 + spare);
        if wanted >= WORTH_UNFOLDING.min(block.height()) && block.urgency != Urgency::Complete {
            spare -= wanted - 1;
            *room = wanted;
        }
    }
    room
}

/// Blocks that have room for one line are folded into it, and these lines have columns.
fn unfolded_in_part(blocks: &[Block], room: &[usize]) -> Vec<Line> {
    let is_folded = |block: &Block, room: usize| room == 1 && block.height() > 1;
    let rows = blocks.iter().zip(room).filter(|(block, room)| is_folded(block, **room));
    let mut folded = aligned(rows.map(|(block, _)| block.folded.clone()).collect()).into_iter();
    let lines = blocks.iter().zip(room).flat_map(|(block, room)| {
        if is_folded(block, *room) { folded.next().into_iter().collect() } else { block.lines_within(*room) }
    });
    lines.collect()
}

/// More blocks than lines: those that somebody must look at, and how many more there are.
fn the_most_urgent(blocks: &[Block], height: usize) -> Vec<Line> {
    let mut by_urgency: Vec<_> = blocks.iter().enumerate().collect();
    by_urgency.sort_by_key(|(_, block)| block.urgency);
    let (shown, rest) = by_urgency.split_at(height.saturating_sub(1).min(blocks.len()));
    let mut shown: Vec<_> = shown.to_vec();
    shown.sort_by_key(|(index, _)| *index);
    let mut lines = aligned(shown.into_iter().map(|(_, block)| block.folded.clone()).collect());
    let mut counts: BTreeMap<Urgency, usize> = BTreeMap::new();
    for (_, block) in rest {
        *counts.entry(block.urgency).or_default() += 1;
    }
    let counts: Vec<_> =
        counts.iter().map(|(urgency, count)| format!("{count} {}", urgency.words())).collect();
    lines.push(Line::of(format!("and {} more: {}", rest.len(), counts.join(", "))));
    lines
}
