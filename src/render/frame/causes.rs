//! The causes in a block, each with one line of evidence.

use super::line::FrameLine;
use crate::model::follow::LogLines;
use crate::model::status::cause::Cause;
use crate::model::text::plural::plural;
use crate::model::workload::Workload;
use crate::render::escape;
use crate::render::fit_width::{LongWord, wrapped};
use crate::render::status::{NameContext, cause_style, cause_words, new_evidence};
use crate::render::style::Style;

/// The most causes in a block. More causes are only counted.
const SHOWN: usize = 4;

/// The indentation of further lines of a cause.
const INDENT: &str = "      ";

/// The lines of a cause, and its evidence if that needs its own line.
pub(super) struct RenderedCause {
    pub(super) cause: Vec<FrameLine>,
    pub(super) evidence: Option<FrameLine>,
}

/// Returns the causes of a workload, and a line that counts those that are not shown.
pub(super) fn lines<'a>(
    causes: &[Cause],
    log_of: impl Fn(&Cause) -> Option<&'a LogLines>,
    workload: &Workload,
    names: NameContext,
    width: usize,
) -> (Vec<RenderedCause>, Option<FrameLine>) {
    let shown = causes.iter().take(SHOWN);
    let lines = shown.map(|cause| lines_of(cause, log_of(cause), workload, names, width)).collect();
    let more = causes.len().saturating_sub(SHOWN);
    (lines, (more > 0).then(|| FrameLine::of(format!("  and {}", plural(more, "more cause")))))
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
    let words = escape::line(&format!("  {}", cause_words(cause, workload, names))).into_owned();
    let words = wrapped(&words, INDENT, width, usize::MAX, LongWord::Keep);
    let cause_on = |line: &String| FrameLine::styled(style, line);
    let evidence = evidence(cause, log).map(|evidence| format!("\"{evidence}\""));
    if let ([only], Some(evidence)) = (words.as_slice(), &evidence) {
        let both = cause_on(only).with(Style::Plain, format!("   {evidence}"));
        if both.cells() <= width {
            return RenderedCause { cause: vec![both], evidence: None };
        }
    }
    RenderedCause {
        cause: words.iter().map(cause_on).collect(),
        evidence: evidence.map(|evidence| FrameLine::of(format!("{INDENT}{evidence}"))),
    }
}

/// Returns the evidence of a cause: the most important line of the container's log, or else the message of the
/// kubelet or controller.
fn evidence<'a>(cause: &'a Cause, log: Option<&'a LogLines>) -> Option<&'a str> {
    let said = log.and_then(LogLines::error_line);
    said.or_else(|| new_evidence(cause)).map(str::trim)
}
