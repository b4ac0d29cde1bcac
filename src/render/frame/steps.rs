//! The frame of a plan: a row for each batch, and the causes below.

use super::workload_block::heading;
use crate::exit::Exit;
use crate::model::cause::container_logs::ContainerLogs;
use crate::model::engine::Now;
use crate::model::step::{
    BatchStage, BatchView, FurtherBatches, PlanView, RollbackOutcome, StepOutcome, Stepper, StopReason,
};
use crate::model::text::plural::plural;
use crate::render::cause::cause_lines;
use crate::render::columns::{aligned, fit};
use crate::render::line::{Line, Style};
use crate::render::pods::pods;
use crate::render::state_words::NameContext;
use crate::render::step::words::{detail, pace, revisions, skipped, slots, style};

/// The cell of a row with the pods of the batch.
const PODS: usize = 3;

/// The least width of shortened pods.
const FEWEST_CELLS: usize = 8;

/// The minimum number of batch rows; with less room, batches are only counted.
const FEWEST_ROWS: usize = 3;

/// Returns the lines of the frame, at most `height` of them.
pub(super) fn lines(
    stepper: &Stepper,
    now: Now,
    logs: &ContainerLogs,
    width: usize,
    height: usize,
) -> Vec<Line> {
    let workload = stepper.workload();
    let name = Line::styled(Style::Heading, workload.target());
    let Some(view) = stepper.view(now) else {
        return vec![name.with(Style::Dim, "   looking")];
    };
    let mut head = heading(name, parts(stepper, &view), width);
    let skipped = (!view.skipped.is_empty()).then(|| format!("  {}", skipped(&view.skipped)));
    let mut below: Vec<_> = skipped.map(|words| Line::styled(Style::Warning, words)).into_iter().collect();
    let log_of = |cause: &_| logs.of(cause);
    below.extend(cause_lines(&view.causes, log_of, workload, NameContext::default(), width));
    let room = height.saturating_sub(head.len() + below.len()).max(FEWEST_ROWS);
    if !is_rolled_back(stepper) {
        head.extend(rows_within(&view.batches, view.further, width, room));
    }
    head.extend(below);
    head
}

/// Returns what the heading has after the name:
/// `statefulset/db   revision 3 -> 4   2 of 5 pods updated   2 per batch, soak 5m`.
fn parts(stepper: &Stepper, view: &PlanView) -> Vec<Line> {
    let updated = format!("{} of {} updated", view.updated, pods(view.wanted));
    let (style, word) = plan_state(stepper, view);
    let state = Line::styled(style, word);
    if is_rolled_back(stepper) {
        let back = PlanView { from: view.to.clone(), to: view.from.clone(), ..view.clone() };
        vec![Line::of(revisions(&back)), state]
    } else if view.is_rolling_back {
        vec![state]
    } else {
        vec![Line::of(revisions(view)), Line::of(updated), Line::of(pace(&view.pace)), state]
    }
}

/// Returns the state of the plan, for the heading. Its outcome is below the last frame in a sentence.
fn plan_state(stepper: &Stepper, view: &PlanView) -> (Style, String) {
    match stepper.outcome() {
        Some(StepOutcome::Failed { rollback: Some(RollbackOutcome::Done { revision }), .. }) => {
            (Style::Bad, format!("failed, rolled back to revision {revision}"))
        }
        Some(_) if is_rolled_back(stepper) => (Style::Warning, "rolled back by another client".to_owned()),
        Some(StepOutcome::Stopped(_)) if stepper.workload().held().in_force().is_some() => {
            (Style::Warning, "held".to_owned())
        }
        Some(outcome) => {
            let style = match outcome.exit() {
                Exit::Done => Style::Good,
                Exit::Failed | Exit::Unfinished => Style::Bad,
                _ => Style::Warning,
            };
            (style, outcome.word().replace('-', " "))
        }
        None if view.is_rolling_back => {
            let (updated, wanted) = (view.updated, pods(view.wanted));
            let to = view.to.as_deref().unwrap_or("new");
            (Style::Bad, format!("failed, rolling back to revision {to}: {updated} of {wanted}"))
        }
        None if view.is_paused => (Style::Warning, "paused".to_owned()),
        None => (Style::Plain, String::new()),
    }
}

/// Whether another client rolled the workload back, so that no batch is left.
fn is_rolled_back(stepper: &Stepper) -> bool {
    let outcome = stepper.outcome();
    matches!(outcome, Some(StepOutcome::Stopped(StopReason::Changed { rolled_back_to: Some(_), .. })))
}

/// Returns a row for each batch, with its pods in the order of release. They are shortened to the width, so that the stage and
/// the time stay visible.
fn batch_rows(batches: &[BatchView], width: usize) -> Vec<Line> {
    let mut rows: Vec<Vec<Line>> = batches.iter().map(row).collect();
    fit(&mut rows, width, &[(PODS, FEWEST_CELLS)], Line::shortened_to);
    aligned(rows)
}

/// Returns the line of the batches that a view only counts: `  then 12 more of 2`; `None` without such batches.
fn further(batches: FurtherBatches) -> Option<Line> {
    let size = batches.size.map(|size| format!(" of {size}")).unwrap_or_default();
    let words = format!("  then {} more{size}", batches.count);
    (batches.count > 0).then(|| Line::styled(Style::Dim, words))
}

/// Returns the rows around the present batch if not all fit. The others are counted.
pub(in crate::render) fn rows_within(
    batches: &[BatchView],
    more: FurtherBatches,
    width: usize,
    room: usize,
) -> Vec<Line> {
    if batches.len() + usize::from(more.count > 0) <= room {
        return batch_rows(batches, width).into_iter().chain(further(more)).collect();
    }
    let is_done = |batch: &BatchView| matches!(batch.stage, BatchStage::Done { .. });
    let under_way = batches.iter().position(|batch| !is_done(batch)).unwrap_or(batches.len());
    let shown = room.saturating_sub(2).max(1); // one line above and one below count the hidden batches
    let first = under_way.saturating_sub(1).min(batches.len().saturating_sub(shown));
    let (before, rest) = batches.split_at(first.min(batches.len()));
    let (window, after) = rest.split_at(shown.min(rest.len()));
    let mut lines = Vec::new();
    lines.extend(counted(before.len(), "before them"));
    lines.extend(batch_rows(window, width));
    lines.extend(counted(after.len() + more.count, "after them"));
    lines
}

fn counted(batches: usize, place: &str) -> Option<Line> {
    let count = format!("  and {} {place}", plural(batches, "batch"));
    (batches > 0).then(|| Line::styled(Style::Dim, count))
}

fn row(batch: &BatchView) -> Vec<Line> {
    vec![
        Line::of(format!("  batch {}", batch.number)),
        Line::of(if batch.is_canary { "canary" } else { "" }),
        Line::of(batch.group.as_deref().unwrap_or_default()),
        Line::of(slots(&batch.slots)),
        Line::styled(style(&batch.stage), batch.stage.word()),
        Line::of(detail(batch)),
    ]
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::model::step::{SlotState, SlotView};

    #[test]
    fn pods_are_shortened_before_the_time_is_cut() {
        let slots = vec![SlotView {
            label: "web-5b5c799b79-7b45d".to_owned(),
            state: SlotState::Healthy { since: None },
        }];
        let (healthy, of) = (Duration::from_secs(72), Duration::from_secs(300));
        let stage = BatchStage::Soaking { healthy, of };
        let batches = [BatchView { number: 1, is_canary: true, group: None, slots, stage }];
        for (width, row) in [
            (79, "  batch 1  canary  web-5b5c799b79-7b45d  soaking  healthy 72s of 5m"),
            (59, "  batch 1  canary  web-5b…7b45d  soaking  healthy 72s of 5m"),
            (20, "  batch 1  canary  web-…45d  soaking  healthy 72s of 5m"),
        ] {
            let rows = batch_rows(&batches, width);
            assert_eq!(rows.iter().map(Line::text).collect::<Vec<_>>(), [row], "{width}");
        }
    }

    #[test]
    fn hidden_rows_are_counted() {
        let batch = |number| {
            let stage = BatchStage::Waiting;
            BatchView { number, is_canary: false, group: None, slots: Vec::new(), stage }
        };
        let batches: Vec<BatchView> = (1..=9).map(batch).collect();
        for (count, size, room, rows, last) in [
            (0, None, 4, 3, "  and 7 batches after them"),
            (5, None, 4, 3, "  and 12 batches after them"),
            (5, Some(2), 9, 8, "  and 7 batches after them"),
            (5, Some(2), 10, 10, "  then 5 more of 2"),
            (5, None, 10, 10, "  then 5 more"),
        ] {
            let lines = rows_within(&batches, FurtherBatches { count, size }, 80, room);
            assert_eq!((lines.len(), lines.last()), (rows, Some(&Line::styled(Style::Dim, last))));
        }
    }
}
