//! A plan that is stepped: a row for each batch, and below them why it does not go on.

use super::causes::{self, CauseLines};
use super::columns::aligned;
use super::line::Line;
use crate::model::follow::{Logs, Moment};
use crate::model::step::{Batch, End, Stage, Stepper, View};
use crate::model::verdict::verdict;
use crate::render::change::{names, pods};
use crate::render::status::{Company, Standing};
use crate::render::step::words::{detail, pace, released, revisions, stage, time};
use crate::render::style::Style;

/// What is drawn of a plan: who steps it, and when.
#[derive(Clone, Copy, Debug)]
pub struct Steps<'a> {
    /// Who steps it, and so what is known.
    pub stepper: &'a Stepper,
    /// The moment.
    pub now: Moment,
    /// What containers said of the causes.
    pub logs: &'a Logs,
}

/// Fewer rows than these say less than a count.
const FEWEST_ROWS: usize = 3;

/// What there is to show, in no more lines than there is room for.
pub(super) fn lines(steps: Steps<'_>, width: usize, height: usize) -> Vec<Line> {
    let Some(view) = steps.stepper.view(steps.now) else {
        return vec![
            Line::default()
                .with(Style::Heading, steps.stepper.workload().reference())
                .with(Style::Dim, "   looking"),
        ];
    };
    let mut head = head(steps, &view, width);
    let below = below(steps, &view, width);
    let room = height.saturating_sub(head.len() + below.len()).max(FEWEST_ROWS);
    head.extend(rows_within(&view.batches, view.has_more_batches, room));
    head.extend(below);
    head
}

/// `statefulset.apps/db   revision 3 -> 4   2 of 5 pods updated   2 per batch, soak 5m`, on as many
/// lines as it needs.
fn head(steps: Steps<'_>, view: &View, width: usize) -> Vec<Line> {
    let name = Line::default().with(Style::Heading, steps.stepper.workload().reference());
    let count = pods(i64::try_from(view.wanted).unwrap_or(i64::MAX));
    let updated = Line::of(format!("{} of {count} updated", view.updated));
    let (style, word) = standing(steps, view);
    let standing = Line::default().with(style, word);
    let mut lines = vec![name];
    for part in [Line::of(revisions(view)), updated, Line::of(pace(&view.pacing)), standing] {
        let gap = if part.cells() == 0 { "" } else { "   " };
        match lines.last_mut() {
            Some(line) if line.cells() + gap.len() + part.cells() <= width => {
                *line = std::mem::take(line).with(Style::Plain, gap).joined_with(part);
            }
            _ => lines.push(Line::of("  ").joined_with(part)),
        }
    }
    lines
}

/// What the rows do not say of it.
fn standing(steps: Steps<'_>, view: &View) -> (Style, String) {
    match steps.stepper.end() {
        Some(End::Complete) => (Style::Good, "complete".to_owned()),
        Some(End::Reached { .. }) => (Style::Good, "held, as far as asked".to_owned()),
        Some(End::NothingOutdated) => (Style::Good, "no pod is outdated".to_owned()),
        Some(End::Failed { .. }) => (Style::Bad, "failed".to_owned()),
        Some(End::Stopped(_)) => (Style::Warning, "held".to_owned()),
        Some(End::TimedOut(_)) => (Style::Bad, "the time is up".to_owned()),
        Some(_) => (Style::Warning, "stopped".to_owned()),
        None if view.is_paused => (Style::Warning, "paused".to_owned()),
        None => (Style::Plain, String::new()),
    }
}

/// A row for each batch, the names of its pods in their order of release.
#[must_use]
pub fn batch_rows(batches: &[Batch]) -> Vec<Line> {
    aligned(batches.iter().map(row).collect())
}

/// When there is no room for all, those around the batch under way; the others are counted.
fn rows_within(batches: &[Batch], has_more: bool, room: usize) -> Vec<Line> {
    if batches.len() <= room {
        return batch_rows(batches);
    }
    let is_done = |batch: &Batch| matches!(batch.stage, Stage::Done { .. });
    let under_way = batches.iter().position(|batch| !is_done(batch)).unwrap_or(batches.len());
    let shown = room.saturating_sub(2).max(1); // a line above and one below say how many more there are
    let first = under_way.saturating_sub(1).min(batches.len().saturating_sub(shown));
    let (before, rest) = batches.split_at(first.min(batches.len()));
    let (window, after) = rest.split_at(shown.min(rest.len()));
    let mut lines = Vec::new();
    lines.extend(counted(before, "before them"));
    lines.extend(batch_rows(window));
    lines.extend(counted(after, if has_more { "after them, and more" } else { "after them" }));
    lines
}

fn counted(batches: &[Batch], place: &str) -> Option<Line> {
    let plural = if batches.len() == 1 { "" } else { "es" };
    let count = (!batches.is_empty()).then(|| format!("  and {} batch{plural} {place}", batches.len()))?;
    Some(Line::default().with(Style::Dim, count))
}

fn row(batch: &Batch) -> Vec<Line> {
    let (style, word) = stage(&batch.stage);
    vec![
        Line::of(format!("  batch {}", batch.number)),
        Line::of(if batch.is_canary { "canary" } else { "" }),
        Line::of(released(batch)),
        Line::default().with(style, word),
        Line::of(detail(batch)),
    ]
}

/// The final soak, what is left out, who else steps it, and the causes.
fn below(steps: Steps<'_>, view: &View, width: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    if let Some(soak) = view.final_soak {
        let healthy = crate::model::age::lasting(soak.healthy);
        lines.push(Line::of(format!("  all done, final soak: healthy {healthy} of {}", time(soak.of))));
    }
    if !view.left_out.is_empty() {
        let left_out = format!("  left out, because their nodes are not ready: {}", names(&view.left_out));
        lines.push(Line::default().with(Style::Warning, left_out));
    }
    lines.extend(causes(steps, view, width));
    lines
}

fn causes(steps: Steps<'_>, view: &View, width: usize) -> Vec<Line> {
    let Some(observed) = steps.stepper.observed() else { return Vec::new() };
    let standing = Standing { observed, verdict: &verdict(observed), causes: &view.causes };
    let (lines, more) = causes::lines(|cause| steps.logs.of(cause), &standing, Company::default(), width);
    let lines =
        lines.into_iter().flat_map(|CauseLines { cause, evidence }| cause.into_iter().chain(evidence));
    lines.chain(more).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_no_room_for_is_counted_and_what_nobody_counted_is_said() {
        let batch = |number| {
            let stage = Stage::Waiting;
            Batch { number, is_canary: false, size: 1, places: Vec::new(), stage }
        };
        let batches: Vec<Batch> = (1..=9).map(batch).collect();
        for (has_more, last) in
            [(false, "  and 7 batches after them"), (true, "  and 7 batches after them, and more")]
        {
            let lines = rows_within(&batches, has_more, 4);
            assert_eq!((lines.len(), lines.last()), (3, Some(&Line::default().with(Style::Dim, last))));
        }
    }
}
