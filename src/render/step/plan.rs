//! The preview of a plan: its batches with their pods or nodes, and the total soak time.

use super::lines::{heading, outcome, who_steps};
use super::words::{reach, safeguards, time};
use super::{Closing, Printed};
use crate::model::step::{PlanPreview, StepOutcome};
use crate::model::workload::Workload;
use crate::render::change::names;
use crate::render::frame::batch_rows;
use crate::render::pod_update;
use crate::render::style::{Span, Style};

/// Returns the whole plan.
#[must_use]
pub fn spans(workload: &Workload, preview: &PlanPreview) -> Vec<Span> {
    let view = &preview.plan;
    let mut spans = vec![Span::new(Style::Heading, heading(workload, view)), Span::plain("\n")];
    for row in batch_rows(&view.batches) {
        spans.extend(row.spans().iter().cloned());
        spans.push(Span::plain("\n"));
    }
    if view.has_more_batches {
        spans.push(Span::new(Style::Dim, "  and more, which are not listed\n"));
    }
    if !view.skipped.is_empty() {
        spans.push(Span::new(
            Style::Warning,
            format!("  skipped, because their nodes are NotReady: {}\n", names(&view.skipped)),
        ));
    }
    spans.push(Span::plain(format!("  {}\n", safeguards(view).join("; "))));
    let soaks = if view.soaks.is_zero() {
        "no soak".to_owned()
    } else {
        let more = if view.has_more_batches { "more than " } else { "" };
        format!("the soaks add up to {more}{}", time(view.soaks))
    };
    spans.push(Span::plain(format!("  {soaks}; this command {}\n", reach(view.reach))));
    let may_stay = workload.kind().pod_update_policy.is_some();
    for (number, update) in &preview.batch_updates {
        spans.push(Span::plain(format!("  batch {number}: {}\n", pod_update::of_plan(update, may_stay))));
    }
    let how = preview.batch_updates.is_empty().then(|| pod_update::of_plan(&preview.update, may_stay));
    let by = view.holds_by.iter().map(|(field, value)| match value {
        Some(value) => format!("held by {field}: {value}"),
        None => format!("held by {field}"),
    });
    let line: Vec<String> = how.into_iter().chain(by).collect();
    spans.push(Span::plain(format!("  {}\n", line.join("; "))));
    if let Some(command) = &view.end_by_hand {
        spans.push(Span::plain(format!("  to end the hold without this program: {command}\n")));
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
