//! The block of one workload in a frame: its lines, with the causes, and which of them are shown when they do not all fit.

use std::borrow::Cow;

use super::header::{BlockHeader, bars};
use super::revisions::{self, TreeLine};
use crate::model::cause::Cause;
use crate::model::cause::container_logs::LogLines;
use crate::model::engine::Now;
use crate::model::follow::{FollowedTarget, Outcome};
use crate::model::kind::Workload;
use crate::model::kind::verdict::RolloutState;
use crate::model::text::plural::plural;
use crate::render::fit_width::LongWord;
use crate::render::line::{Line, Style};
use crate::render::status::{NameContext, cause_style, cause_words, new_evidence};

/// The lines of one workload.
#[derive(Debug)]
pub(super) struct WorkloadBlock {
    /// How much attention the workload needs.
    pub(super) severity: Severity,
    /// The workload folded into one line, as the cells of a row.
    pub(super) folded: Vec<Line>,
    header: Vec<Line>,
    body: Vec<(LinePriority, Line)>,
    /// The first cause in one line, without the pods it affects.
    first_cause: Option<Line>,
}

/// How much attention a workload needs, most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Severity {
    Broken,
    Progressing,
    Held,
    Complete,
}

/// The priority of a line when the block does not fit, highest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LinePriority {
    FirstCause,
    Bar,
    FirstEvidence,
    NewRevision,
    Cause,
    OldRevision,
    Evidence,
    Pod,
}

impl WorkloadBlock {
    /// Builds the block of a target at a moment, for lines of the given width.
    pub(super) fn of(
        target: &FollowedTarget,
        now: Now,
        names: NameContext,
        shows_pods: bool,
        width: usize,
    ) -> Self {
        let causes = causes(target);
        let header = BlockHeader::of(target, now, names);
        let first_cause = causes.first().map(in_short);
        let severity = Severity::of(target, &causes);
        let lines = header.lines(width);
        let folded = header.row(first_cause.clone(), progress(target), width);
        Self {
            severity,
            folded,
            header: lines,
            body: body(target, &causes, now, names, shows_pods, width),
            first_cause,
        }
    }

    /// Returns the number of lines.
    pub(super) fn height(&self) -> usize {
        self.header.len() + self.body.len()
    }

    /// Returns all lines.
    pub(super) fn lines(&self) -> impl Iterator<Item = Line> {
        self.header.iter().chain(self.body.iter().map(|(_, line)| line)).cloned()
    }

    /// Returns the lines with the highest priority that fit into `height`, in their usual order. The last line
    /// counts those that do not fit, if there is room for more than the first cause.
    pub(super) fn lines_within(&self, height: usize) -> Vec<Line> {
        let whole = height.saturating_sub(self.header.len());
        let room = if self.body.len() > whole && whole > 2 { whole - 1 } else { whole };
        let body = self.body_for(room);
        let mut ranks: Vec<(LinePriority, usize)> =
            body.iter().enumerate().map(|(index, (rank, _))| (*rank, index)).collect();
        ranks.sort_unstable();
        ranks.truncate(room);
        let is_kept = |index: usize| ranks.iter().any(|(_, kept)| *kept == index);
        let hidden = body.len().saturating_sub(room);
        let more = (room < whole).then(|| format!("  and {}", plural(hidden, "more line")));
        let more = more.map(|more| Line::styled(Style::Dim, more));
        let body = body.iter().enumerate().filter(|(index, _)| is_kept(*index));
        let body = body.map(|(_, (_, line))| line.clone()).chain(more);
        self.header.iter().take(height).cloned().chain(body).collect()
    }

    /// Returns the lines below the header. If the first cause does not fit, it is shortened to one line without
    /// the pods it affects.
    fn body_for(&self, room: usize) -> Cow<'_, [(LinePriority, Line)]> {
        let is_first_cause = |(rank, _): &&(LinePriority, Line)| *rank == LinePriority::FirstCause;
        let Some(first_cause) =
            self.first_cause.as_ref().filter(|_| self.body.iter().filter(is_first_cause).count() > room)
        else {
            return Cow::Borrowed(&self.body);
        };
        let first = (LinePriority::FirstCause, Line::of("  ").joined_with(first_cause.clone()));
        let others = self.body.iter().filter(|line| !is_first_cause(line)).cloned();
        Cow::Owned(std::iter::once(first).chain(others).collect())
    }
}

impl Severity {
    fn of(target: &FollowedTarget, causes: &[Cause]) -> Self {
        let state = target.verdict().map(|verdict| verdict.state);
        let is_broken = causes.iter().any(Cause::needs_a_fix);
        match target.result().map(|result| &result.outcome) {
            Some(Outcome::Reached) => Self::Complete,
            Some(Outcome::Held) => Self::Held,
            Some(Outcome::Interrupted(_)) | None => match state {
                _ if is_broken => Self::Broken,
                Some(RolloutState::Stuck | RolloutState::Failed) => Self::Broken,
                Some(RolloutState::Complete) => Self::Complete,
                Some(RolloutState::Paused | RolloutState::Held) => Self::Held,
                Some(RolloutState::Progressing | RolloutState::Unobserved) | None => Self::Progressing,
            },
            Some(_) => Self::Broken,
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Broken => "with errors",
            Self::Progressing => "progressing",
            Self::Held => "held",
            Self::Complete => "complete",
        }
    }
}

/// Returns the causes to show. A cause that disappeared stays for a while, because it may return, but not after all of its
/// pods are gone.
fn causes(target: &FollowedTarget) -> Vec<Cause> {
    let pods = target.observation().and_then(|observed| observed.pods.as_ref());
    let is_there = |name: &String| pods.is_none_or(|pods| pods.iter().any(|pod| pod.name == *name));
    let has_pods = |cause: &&Cause| cause.pods.is_empty() || cause.pods.iter().any(is_there);
    target.causes().filter(has_pods).cloned().collect()
}

fn body(
    target: &FollowedTarget,
    causes: &[Cause],
    now: Now,
    names: NameContext,
    shows_pods: bool,
    width: usize,
) -> Vec<(LinePriority, Line)> {
    let (Some(observed), Some(verdict)) = (target.observation(), target.verdict()) else {
        return Vec::new();
    };
    let mut body: Vec<(LinePriority, Line)> =
        bars(observed, verdict.state, width).into_iter().map(|bar| (LinePriority::Bar, bar)).collect();
    let new = if observed.revisions.current().is_some() {
        LinePriority::NewRevision
    } else {
        LinePriority::OldRevision
    };
    let mut ranks = std::iter::once(new).chain(std::iter::repeat(LinePriority::OldRevision));
    for line in revisions::lines(target, observed, now.server_time, width, shows_pods) {
        body.extend(match line {
            TreeLine::Revision(line) => ranks.next().map(|rank| (rank, line)),
            TreeLine::Pod(line) => Some((LinePriority::Pod, line)),
        });
    }
    let (lines, more) = cause_lines(causes, |cause| target.log_for(cause), &observed.workload, names, width);
    for (index, RenderedCause { cause, evidence }) in lines.into_iter().enumerate() {
        let ranks = if index == 0 {
            (LinePriority::FirstCause, LinePriority::FirstEvidence)
        } else {
            (LinePriority::Cause, LinePriority::Evidence)
        };
        body.extend(cause.into_iter().map(|line| (ranks.0, line)));
        body.extend(evidence.map(|evidence| (ranks.1, evidence)));
    }
    body.extend(more.map(|more| (LinePriority::Cause, more)));
    body
}

/// Returns a cause without the pods it affects: `! app: CrashLoopBackOff, exit 1`.
fn in_short(cause: &Cause) -> Line {
    let mark = crate::render::status::mark(cause);
    let container = cause.container.as_ref().map(|container| format!("{container}: ")).unwrap_or_default();
    Line::styled(cause_style(cause), format!("{mark} {container}{}", cause.summary))
}

/// Returns the progress of a workload: `6/10 updated, 10 available`.
fn progress(target: &FollowedTarget) -> Line {
    if target.verdict().is_none() {
        return Line::default();
    }
    let counts = target.workload().counts();
    let available = match counts.available {
        Some(available) => format!("{available} available"),
        None => format!("{} ready", counts.ready),
    };
    Line::of(format!("{}/{} updated, {available}", counts.updated, counts.wanted))
}

/// The most causes in a block. More causes are only counted.
const MAX_CAUSES: usize = 4;

/// The indentation of further lines of a cause.
const INDENT: &str = "      ";

/// The lines of a cause, and its evidence if that needs its own line.
pub(super) struct RenderedCause {
    pub(super) cause: Vec<Line>,
    pub(super) evidence: Option<Line>,
}

/// Returns the causes of a workload, and a line that counts those that are not shown.
pub(super) fn cause_lines<'a>(
    causes: &[Cause],
    log_of: impl Fn(&Cause) -> Option<&'a LogLines>,
    workload: &Workload,
    names: NameContext,
    width: usize,
) -> (Vec<RenderedCause>, Option<Line>) {
    let shown = causes.iter().take(MAX_CAUSES);
    let lines = shown.map(|cause| rendered(cause, log_of(cause), workload, names, width)).collect();
    let more = causes.len().saturating_sub(MAX_CAUSES);
    (lines, (more > 0).then(|| Line::of(format!("  and {}", plural(more, "more cause")))))
}

/// Returns one cause. Its evidence follows on the same line if it fits completely, and else on the next line.
fn rendered(
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
