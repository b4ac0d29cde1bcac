//! The preview of a plan: its batches with their pods or nodes, and the total soak time.

use super::lines::{heading, outcome, who_steps};
use super::words::{reach, safeguards, time};
use super::{Closing, Printed};
use crate::model::step::{PlanPreview, StepOutcome};
use crate::model::workload::Workload;
use crate::render::escape;
use crate::render::fit_width::{LongWord, wrapped};
use crate::render::frame::batch_rows;
use crate::render::pod_names::names;
use crate::render::pod_update;
use crate::render::style::{Span, Style};
use crate::world::Terminal;

/// Returns the whole plan, wrapped between words on a terminal.
#[must_use]
pub fn spans(workload: &Workload, preview: &PlanPreview, terminal: Option<Terminal>) -> Vec<Span> {
    let view = &preview.plan;
    let width = terminal.map_or(usize::MAX, |terminal| terminal.width.into());
    let line = |style: Style, text: &str| {
        let lines = wrapped(&escape::line(text), "    ", width, usize::MAX, LongWord::KeepCommand);
        Span::new(style, lines.join("\n") + "\n")
    };
    let mut spans = vec![line(Style::Heading, &heading(workload, view))];
    for row in batch_rows(&view.batches) {
        spans.extend(row.spans().iter().cloned());
        spans.push(Span::plain("\n"));
    }
    if view.has_more_batches {
        spans.push(Span::new(Style::Dim, "  and more, which are not listed\n"));
    }
    if !view.skipped.is_empty() {
        let skipped = format!("  skipped, because their nodes are NotReady: {}", names(&view.skipped));
        spans.push(line(Style::Warning, &skipped));
    }
    spans.push(line(Style::Plain, &format!("  {}", safeguards(view).join("; "))));
    let soaks = if view.soaks.is_zero() {
        "no soak".to_owned()
    } else {
        let more = if view.has_more_batches { "more than " } else { "" };
        format!("the soaks add up to {more}{}", time(view.soaks))
    };
    spans.push(line(Style::Plain, &format!("  {soaks}; this command {}", reach(view.reach))));
    let may_stay = workload.kind().pod_update_policy.is_some();
    for (number, update) in &preview.batch_updates {
        let update = pod_update::of_plan(update, may_stay);
        spans.push(line(Style::Plain, &format!("  batch {number}: {update}")));
    }
    let how = preview.batch_updates.is_empty().then(|| pod_update::of_plan(&preview.update, may_stay));
    let by = view.holds_by.iter().map(|(field, value)| match value {
        Some(value) => format!("held by {field}: {value}"),
        None => format!("held by {field}"),
    });
    let facts: Vec<String> = how.into_iter().chain(by).collect();
    spans.push(line(Style::Plain, &format!("  {}", facts.join("; "))));
    if let Some(command) = &view.end_by_hand {
        spans.push(line(Style::Plain, &format!("  to end the hold without this program: {command}")));
    }
    spans
}

/// Returns the reasons why the plan cannot run now: the lease of another process, and why the next batch cannot begin.
#[must_use]
pub fn obstacles(workload: &Workload, preview: &PlanPreview) -> Printed {
    let view = &preview.plan;
    let printed = view.lease.iter().fold(Printed::default(), |printed, lease| {
        printed
            .and_note(format!("note: {}, and the next step waits for its lease", who_steps(workload, lease)))
    });
    let Some(reason) = &preview.stops else { return printed };
    let closing = Closing { workload, view: Some(view), rollback: None, holder: None };
    let now = outcome(closing, &StepOutcome::Stopped(reason.clone()));
    let printed = printed.and_note("note: at the moment no pod would be released:");
    now.notes.into_iter().fold(printed, Printed::and_note)
}
