//! Why it does not go on: each cause with one line of evidence.

use super::line::Line;
use super::wrap::wrapped;
use crate::model::cause::Cause;
use crate::model::follow::LogLines;
use crate::render::status::{Company, Standing, cause_style, cause_words};
use crate::render::style::Style;

/// More causes than these are counted: who reads the fifth has mended the first.
const SHOWN: usize = 4;

/// Where the lines go on that follow the first one of a cause.
const INDENT: &str = "      ";

/// A cause, and the evidence for it when that needs a line of its own.
pub(super) struct CauseLines {
    pub(super) cause: Vec<Line>,
    pub(super) evidence: Option<Line>,
}

/// The causes of a workload, and how many more there are.
pub(super) fn lines<'a>(
    log_of: impl Fn(&Cause) -> Option<&'a LogLines>,
    standing: &Standing<'_>,
    company: Company,
    width: usize,
) -> (Vec<CauseLines>, Option<Line>) {
    let shown = standing.causes.iter().take(SHOWN);
    let lines = shown.map(|cause| lines_of(cause, log_of(cause), standing, company, width)).collect();
    let more = standing.causes.len().saturating_sub(SHOWN);
    let plural = if more == 1 { "" } else { "s" };
    (lines, (more > 0).then(|| Line::of(format!("  and {more} more cause{plural}"))))
}

/// The evidence stands behind the cause where it fits, and else below it: half a sentence is none.
fn lines_of(
    cause: &Cause,
    log: Option<&LogLines>,
    standing: &Standing<'_>,
    company: Company,
    width: usize,
) -> CauseLines {
    let style = cause_style(cause);
    let words = wrapped(&format!("  {}", cause_words(cause, standing, company)), INDENT, width);
    let cause_on = |line: &String| Line::default().with(style, line);
    let evidence = evidence(cause, log).map(|evidence| format!("\"{evidence}\""));
    if let ([only], Some(evidence)) = (words.as_slice(), &evidence) {
        let both = cause_on(only).with(Style::Plain, format!("   {evidence}"));
        if both.cells() <= width {
            return CauseLines { cause: vec![both], evidence: None };
        }
    }
    CauseLines {
        cause: words.iter().map(cause_on).collect(),
        evidence: evidence.map(|evidence| Line::of(format!("{INDENT}{evidence}"))),
    }
}

/// The most telling line there is: what the container itself said, or the component that knows.
fn evidence<'a>(cause: &'a Cause, log: Option<&'a LogLines>) -> Option<&'a str> {
    let said = log.and_then(LogLines::telling);
    said.or(cause.evidence.as_deref()).map(str::trim)
}
