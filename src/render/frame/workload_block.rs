//! The block of one workload in a frame: its lines, with the causes, and which of them are shown when they do not all fit.

use super::header::{bars, folded_row, header_lines};
use crate::model::cause::Cause;
use crate::model::cause::container_logs::LogLines;
use crate::model::engine::Now;
use crate::model::follow::{FollowedTarget, Outcome};
use crate::model::kind::Workload;
use crate::model::kind::verdict::RolloutState;
use crate::model::text::plural::plural;
use crate::render::line::{Line, Style};
use crate::render::revisions;
use crate::render::state_words::NameContext;
use crate::render::status::{INDENT, cause_in_width, cause_style, mark, new_evidence};

/// The lines of one workload.
#[derive(Debug)]
pub(super) struct WorkloadBlock {
    /// The state by which blocks compete for room.
    pub(super) state: RolloutState,
    /// The workload folded into one line, as the cells of a row.
    pub(super) folded: Vec<Line>,
    header: Vec<Line>,
    /// The bars, and the revisions with their pods.
    rest: Vec<Line>,
    causes: Vec<Line>,
    /// The causes without the pods they affect, each with its evidence.
    short_causes: Vec<Line>,
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
        let log_of = |cause: &_| target.log_for(cause);
        let view = target.view(now.server_time);
        let observed = target.observation().zip(target.verdict());
        let rest = observed.zip(view.as_ref()).map(|((observed, verdict), view)| {
            let revisions = revisions::lines(target, observed, now.server_time, width, shows_pods);
            bars(view, verdict.state, width).into_iter().chain(revisions).collect()
        });
        Self {
            state: state(target, &causes),
            folded: folded_row(target, view.as_ref(), now, names, causes.first().map(in_short), width),
            header: header_lines(target, now, names, width),
            rest: rest.unwrap_or_default(),
            causes: cause_lines(&causes, log_of, target.workload(), names, width),
            short_causes: causes
                .iter()
                .flat_map(|cause| in_short_with_evidence(cause, log_of(cause), width))
                .collect(),
        }
    }

    /// Returns the number of lines.
    pub(super) fn height(&self) -> usize {
        self.header.len() + self.rest.len() + self.causes.len()
    }

    /// Returns all lines.
    pub(super) fn lines(&self) -> impl Iterator<Item = Line> {
        self.header.iter().chain(&self.rest).chain(&self.causes).cloned()
    }

    /// Returns the lines that fit into `height`. If not all do, the causes are shortened and come first. The last line
    /// counts those that do not fit, if there is room for more than the first cause.
    pub(super) fn lines_within(&self, height: usize) -> Vec<Line> {
        if self.height() <= height {
            return self.lines().collect();
        }
        let mut lines: Vec<_> =
            self.header.iter().chain(&self.short_causes).chain(&self.rest).cloned().collect();
        if lines.len() > height && height > self.header.len() + 2 {
            let hidden = lines.len() - (height - 1);
            lines.truncate(height - 1);
            lines.push(Line::styled(Style::Dim, format!("  and {}", plural(hidden, "more line"))));
        }
        lines.truncate(height);
        lines
    }
}

/// Returns the state of a target, or that of its result. A rollout is stuck here as soon as a cause needs a fix.
fn state(target: &FollowedTarget, causes: &[Cause]) -> RolloutState {
    let state = target.verdict().map_or(RolloutState::Unobserved, |verdict| verdict.state);
    match target.result().map(|result| &result.outcome) {
        Some(Outcome::Reached) => RolloutState::Complete,
        Some(Outcome::Held) => RolloutState::Held,
        None | Some(Outcome::Interrupted(_)) if causes.iter().any(Cause::needs_a_fix) => {
            state.min(RolloutState::Stuck)
        }
        None | Some(Outcome::Interrupted(_)) => state,
        Some(_) => RolloutState::Failed,
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

/// Returns a cause without the pods it affects: `! app: CrashLoopBackOff, exit 1`.
fn in_short(cause: &Cause) -> Line {
    Line::styled(cause_style(cause), format!("{} {}", mark(cause), cause.words()))
}

/// Returns a cause without the pods it affects, and its evidence on a line of its own, which is cut.
fn in_short_with_evidence(cause: &Cause, log: Option<&LogLines>, width: usize) -> Vec<Line> {
    let words = in_short(cause).indented("  ").wrapped(INDENT, width, usize::MAX);
    let evidence = evidence(cause, log).map(|evidence| format!("{INDENT}\"{evidence}\""));
    let evidence = evidence.map(|evidence| Line::styled(cause_style(cause), evidence));
    words.into_iter().chain(evidence).collect()
}

/// The most causes in a block. More causes are only counted.
const MAX_CAUSES: usize = 4;

/// Returns the causes of a workload, and a line that counts those that are not shown.
pub(super) fn cause_lines<'a>(
    causes: &[Cause],
    log_of: impl Fn(&Cause) -> Option<&'a LogLines>,
    workload: &Workload,
    names: NameContext,
    width: usize,
) -> Vec<Line> {
    let shown = causes.iter().take(MAX_CAUSES);
    let lines = shown.flat_map(|cause| {
        let evidence = evidence(cause, log_of(cause));
        cause_in_width(cause, evidence, workload, names, width)
    });
    let more = causes.len().saturating_sub(MAX_CAUSES);
    let more = (more > 0).then(|| Line::of(format!("  and {}", plural(more, "more cause"))));
    lines.chain(more).collect()
}

/// Returns the evidence of a cause: the most important line of the container's log, or else the message of the
/// kubelet or controller.
fn evidence<'a>(cause: &'a Cause, log: Option<&'a LogLines>) -> Option<&'a str> {
    let said = log.and_then(LogLines::error_line);
    said.or_else(|| new_evidence(cause)).map(str::trim)
}
