//! Fits the blocks of many workloads into the height of a terminal.

use std::collections::BTreeMap;

use super::workload_block::{Severity, WorkloadBlock};
use crate::render::columns::aligned;
use crate::render::line::Line;

/// A block is unfolded only if at least this many of its lines fit.
const MIN_UNFOLDED_HEIGHT: usize = 3;

/// Fits the blocks into `height` lines. If they do not fit completely, each is folded into one line, and the most
/// severe ones are unfolded as far as lines are left. The order never changes, so that no block moves around.
pub(super) fn into_height(blocks: &[WorkloadBlock], height: usize) -> Vec<Line> {
    match blocks {
        blocks if total_height(blocks) <= height => all(blocks),
        [only] if height >= MIN_UNFOLDED_HEIGHT => only.lines_within(height),
        blocks if blocks.len() <= height => partly_folded(blocks, &heights(blocks, height)),
        blocks => most_severe(blocks, height),
    }
}

/// Returns the lines of the last frame. If they do not fit completely, only complete workloads are folded.
pub(super) fn final_lines(blocks: &[WorkloadBlock], height: usize) -> Vec<Line> {
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
