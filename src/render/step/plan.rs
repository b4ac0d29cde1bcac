//! A plan before anything is written: the batches, the very pods or nodes, and how long it takes at least.

use super::lines::{ended, heading, who_steps};
use super::words::{care, reach, time};
use super::{Scene, Told};
use crate::model::step::{End, View};
use crate::model::workload::Workload;
use crate::render::change::names;
use crate::render::escape;
use crate::render::frame::batch_rows;
use crate::render::style::{Span, Style};

/// The whole plan.
#[must_use]
pub fn spans(workload: &Workload, view: &View) -> Vec<Span> {
    let mut spans = vec![Span::new(Style::Heading, heading(workload, view)), Span::plain("\n")];
    for row in batch_rows(&view.batches) {
        spans.extend(row.spans().iter().cloned());
        spans.push(Span::plain("\n"));
    }
    if view.has_more_batches {
        spans.push(Span::new(Style::Dim, "  and more, which are not listed\n"));
    }
    if !view.left_out.is_empty() {
        spans.push(Span::new(
            Style::Warning,
            format!("  left out, because their nodes are not ready: {}\n", names(&view.left_out)),
        ));
    }
    spans.push(Span::plain(format!("  {}\n", care(view).join("; "))));
    let soaks = if view.soaks.is_zero() {
        "no soak".to_owned()
    } else {
        let more = if view.has_more_batches { "more than " } else { "" };
        format!("the soaks add up to {more}{}", time(view.soaks))
    };
    spans.push(Span::plain(format!("  {soaks}; this command {}\n", reach(view.reach))));
    spans
}

/// What keeps a plan that is only shown from going like that: who steps it already, and why its next batch
/// would not begin.
#[must_use]
pub fn hindrances(workload: &Workload, view: &View) -> Told {
    let told = view.lease.iter().fold(Told::default(), |told, lease| {
        let line = format!("note: {}, and a step waits for them", who_steps(workload, lease));
        told.and_note(escape::line(&line))
    });
    let Some(why) = &view.stops else { return told };
    let end = End::Stopped(why.clone());
    let scene = Scene { workload, view: Some(view), way_back: None, holder: None };
    let now = ended(scene, &end);
    let told = told.and_note("note: as it is now, nothing would be released:");
    now.notes.into_iter().fold(told, Told::and_note)
}
