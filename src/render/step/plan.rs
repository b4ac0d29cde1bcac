//! The preview of a plan: its batches with their pods or nodes, and the total soak time.

use super::lines::{heading, outcome};
use super::words::{reach, safeguards, skipped, time};
use super::{Closing, Printed};
use crate::model::change::least_time::LeastTime;
use crate::model::engine::Now;
use crate::model::hold::plan::original_min_ready_seconds;
use crate::model::kind::Workload;
use crate::model::step::{BatchStage, PlanView, StepOutcome};
use crate::render::fit_width::LongWord;
use crate::render::frame::batch_rows;
use crate::render::line::Line;
use crate::render::pod_update;
use crate::render::style::Style;
use crate::world::Terminal;

/// Returns the whole plan, wrapped between words on a terminal.
#[must_use]
pub fn lines(workload: &Workload, view: &PlanView, terminal: Option<Terminal>) -> Vec<Line> {
    let width = terminal.map_or(usize::MAX, |terminal| terminal.width.into());
    let line = |style: Style, text: &str| {
        Line::styled(style, text).wrapped("    ", width, usize::MAX, LongWord::KeepCommand)
    };
    let mut lines = line(Style::Heading, &heading(workload, view));
    lines.extend(batch_rows(&view.batches));
    if view.has_more_batches {
        lines.push(Line::styled(Style::Dim, "  and more, which are not listed"));
    }
    if !view.skipped.is_empty() {
        lines.extend(line(Style::Warning, &format!("  {}", skipped(&view.skipped))));
    }
    lines.extend(line(Style::Plain, &format!("  {}", safeguards(view).join("; "))));
    let soaks = if view.soaks.is_zero() {
        "no soak".to_owned()
    } else {
        let more = if view.has_more_batches { "more than " } else { "" };
        format!("the soaks add up to {more}{}", time(view.soaks))
    };
    lines.extend(line(Style::Plain, &format!("  {soaks}; this command {}", reach(view.reach))));
    lines.extend(
        least_time(workload, view).into_iter().flat_map(|least| line(Style::Plain, &format!("  {least}"))),
    );
    let may_stay = workload.has_pod_update_policy();
    for (number, update) in &view.batch_updates {
        let update = pod_update::of_plan(update, may_stay);
        lines.extend(line(Style::Plain, &format!("  batch {number}: {update}")));
    }
    let update = view.update.as_ref().filter(|_| view.batch_updates.is_empty());
    let how = update.map(|update| pod_update::of_plan(update, may_stay));
    let by = view.holds_by.iter().map(|(field, value)| match value {
        Some(value) => format!("held by {field}: {value}"),
        None => format!("held by {field}"),
    });
    let end = "at the end it is neither held nor paused".to_owned();
    let facts: Vec<String> = how.into_iter().chain(by).chain([end]).collect();
    lines.extend(line(Style::Plain, &format!("  {}", facts.join("; "))));
    if let Some(command) = &view.end_by_hand {
        lines.extend(line(Style::Plain, &format!("  to end the hold without this program: {command}")));
    }
    lines
}

/// Returns the least time of the listed batches that are not done.
pub(super) fn least_time(workload: &Workload, view: &PlanView) -> Option<LeastTime> {
    let left = view.batches.iter().filter(|batch| batch.stage == BatchStage::Waiting).map(|batch| batch.size);
    let at_a_time = view.max_unavailable.saturating_add(view.surge);
    LeastTime::of_plan(left, at_a_time, original_min_ready_seconds(workload), [view.pace.soak, view.soaks])
}

/// Returns the reason why the plan cannot run now, if there is one.
#[must_use]
pub fn obstacles(workload: &Workload, view: &PlanView, now: Now) -> Printed {
    let Some(reason) = &view.stops else { return Printed::default() };
    let closing = Closing { view: Some(view.clone()), ..Closing::before(workload, now) };
    let stopped = outcome(&closing, &StepOutcome::Stopped(reason.clone()));
    let printed = Printed::note("note: at the moment no pod would be released:");
    stopped.notes.into_iter().fold(printed, Printed::and_note)
}
