//! The causes in a block, each with one line of evidence.

use crate::model::cause::Cause;
use crate::model::follow::LogLines;
use crate::model::kind::Workload;
use crate::model::text::plural::plural;
use crate::render::fit_width::LongWord;
use crate::render::line::Line;
use crate::render::status::{NameContext, cause_style, cause_words, new_evidence};
use crate::render::style::Style;

/// The most causes in a block. More causes are only counted.
const SHOWN: usize = 4;

/// The indentation of further lines of a cause.
const INDENT: &str = "      ";

/// The lines of a cause, and its evidence if that needs its own line.
pub(super) struct RenderedCause {
    pub(super) cause: Vec<Line>,
    pub(super) evidence: Option<Line>,
}

/// Returns the causes of a workload, and a line that counts those that are not shown.
pub(super) fn lines<'a>(
    causes: &[Cause],
    log_of: impl Fn(&Cause) -> Option<&'a LogLines>,
    workload: &Workload,
    names: NameContext,
    width: usize,
) -> (Vec<RenderedCause>, Option<Line>) {
    let shown = causes.iter().take(SHOWN);
    let lines = shown.map(|cause| lines_of(cause, log_of(cause), workload, names, width)).collect();
    let more = causes.len().saturating_sub(SHOWN);
    (lines, (more > 0).then(|| Line::of(format!("  and {}", plural(more, "more cause")))))
}

/// Returns one cause. Its evidence follows on the same line if it fits completely, and else on the next line.
fn lines_of(
    cause: &Cause,
    log: Option<&LogLines>,
    workload: &Workload,
    names: NameContext,
    width: usize,
) -> RenderedCause {
    let style = cause_style(cause);
    let words = Line::styled(style, format!("  {}", cause_words(cause, workload, names)));
    let evidence = evidence(cause, log).map(|evidence| format!("\"{evidence}\""));
    if let Some(evidence) = &evidence {
        let both = words.clone().with(Style::Plain, format!("   {evidence}"));
        if both.cells() <= width {
            return RenderedCause { cause: vec![both], evidence: None };
        }
    }
    RenderedCause {
        cause: words.wrapped(INDENT, width, usize::MAX, LongWord::Keep),
        evidence: evidence.map(|evidence| Line::of(format!("{INDENT}{evidence}"))),
    }
}

/// Returns the evidence of a cause: the most important line of the container's log, or else the message of the
/// kubelet or controller.
fn evidence<'a>(cause: &'a Cause, log: Option<&'a LogLines>) -> Option<&'a str> {
    let said = log.and_then(LogLines::error_line);
    said.or_else(|| new_evidence(cause)).map(str::trim)
}
