//! The block of one workload in a frame. Its head has the name, the revisions, the state, the elapsed time and the time left.
//! Below are the bars of its updated and available pods, its revisions and its causes, as far as they fit.

use crate::model::api::pod::Pod;
use crate::model::cause::{Cause, CauseId};
use crate::model::engine::Now;
use crate::model::follow::{Followed, FollowedTarget, Outcome};
use crate::model::kind::strategy::min_available;
use crate::model::kind::verdict::RolloutState;
use crate::model::text::plural::plural;
use crate::model::view::RolloutView;
use crate::render::age::{age, duration_text, estimate_text};
use crate::render::cause::{cause_lines, in_short, in_short_with_evidence};
use crate::render::columns::aligned;
use crate::render::line::{Line, Style};
use crate::render::message_writer::with_context_flag;
use crate::render::revisions::{self, short_label};
use crate::render::state_words::{NameContext, progress, state_text};

/// The lines of one workload.
#[derive(Debug)]
pub(super) struct WorkloadBlock {
    /// The state by which blocks compete for room.
    pub(super) state: RolloutState,
    /// Whether no pod serves.
    is_outage: bool,
    /// The workload folded into one line, as the cells of a row.
    pub(super) folded: Vec<Line>,
    header: Vec<Line>,
    /// The bars, and the revisions with their pods.
    rest: Vec<Line>,
    causes: Vec<Line>,
    /// The causes without the pods they affect, each with its evidence.
    short_causes: Vec<Line>,
    /// The command that rolls the workload back, while it needs a fix.
    remedy: Option<Line>,
}

impl WorkloadBlock {
    /// Builds the block of a target at a moment, for lines of the given width.
    pub(super) fn of(
        followed: Followed<'_>,
        now: Now,
        names: NameContext<'_>,
        shows_pods: bool,
        width: usize,
    ) -> Self {
        let target = followed.target;
        let names = names.of_target(target);
        let causes = causes(target);
        let log_of = |cause: &_| target.log_for(cause);
        let view = target.view(now.server_time);
        let state = state(followed, &causes);
        let observed = target.observation().zip(target.verdict());
        let rest = observed.zip(view.as_ref()).map(|((observed, verdict), view)| {
            let revisions = revisions::lines(target, observed, now.server_time, width, shows_pods);
            bars(view, verdict.state, width).into_iter().chain(revisions).collect()
        });
        Self {
            state,
            remedy: remedy(followed, view.as_ref(), state, width),
            is_outage: view.as_ref().is_some_and(|view| view.is_outage),
            folded: folded_row(followed, view.as_ref(), now, names, causes.first().map(in_short)),
            header: header_lines(followed, view.as_ref(), now, names, width),
            rest: rest.unwrap_or_default(),
            causes: cause_lines(
                &causes,
                log_of,
                target.workload(),
                NameContext { context: None, ..names },
                width,
            ),
            short_causes: causes
                .iter()
                .flat_map(|cause| in_short_with_evidence(cause, log_of(cause), width))
                .collect(),
        }
    }

    /// Returns by what blocks are sorted, most trouble first: outages, then the state.
    pub(super) fn trouble(&self) -> (bool, RolloutState) {
        (!self.is_outage, self.state)
    }

    /// Returns the number of lines.
    pub(super) fn height(&self) -> usize {
        self.header.len() + self.rest.len() + self.causes.len() + usize::from(self.remedy.is_some())
    }

    /// Returns all lines.
    pub(super) fn lines(&self) -> impl Iterator<Item = Line> {
        self.header.iter().chain(&self.rest).chain(&self.causes).chain(&self.remedy).cloned()
    }

    /// Returns the lines that fit into `height`. If not all do, the causes are shortened and come first, then the command that
    /// helps. The last line counts those that do not fit, if there is room for more than the first cause.
    pub(super) fn lines_within(&self, height: usize) -> Vec<Line> {
        if self.height() <= height {
            return self.lines().collect();
        }
        let mut lines: Vec<_> = self
            .header
            .iter()
            .chain(&self.short_causes)
            .chain(&self.remedy)
            .chain(&self.rest)
            .cloned()
            .collect();
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
fn state(followed: Followed<'_>, causes: &[Cause]) -> RolloutState {
    let state = followed.target.verdict().map_or(RolloutState::Unobserved, |verdict| verdict.state);
    match followed.result().and(followed.outcome()) {
        Some(Outcome::Reached) => RolloutState::Complete,
        Some(Outcome::Held) => RolloutState::Held,
        None | Some(Outcome::Interrupted(_)) if causes.iter().any(Cause::needs_a_fix) => {
            state.min(RolloutState::Stuck)
        }
        None | Some(Outcome::Interrupted(_)) => state,
        Some(_) => RolloutState::Failed,
    }
}

/// Returns the command that rolls a target back, while it is stuck or failed and nothing else rolls it back. At its end the
/// command is below the frame. One that is cut cannot be copied, and is left out.
fn remedy(
    followed: Followed<'_>,
    view: Option<&RolloutView>,
    state: RolloutState,
    width: usize,
) -> Option<Line> {
    let is_in_trouble = matches!(state, RolloutState::Stuck | RolloutState::Failed);
    let is_automatic = followed.target.options().undo_on_failure.is_some() || followed.rollback.is_some();
    if !is_in_trouble || is_automatic || followed.outcome().is_some() {
        return None;
    }
    let command = with_context_flag(view?.rollback.as_deref()?, followed.target.context());
    Some(Line::of(format!("  hint: {command}"))).filter(|line| line.cells() <= width)
}

/// Returns the causes to show. A cause that disappeared stays for a while, because it may return, but not after all of its
/// pods are gone. The pod that takes the name of one that blocked its StatefulSet is updated.
fn causes(target: &FollowedTarget) -> Vec<Cause> {
    let observed = target.observation().filter(|observed| observed.pods.is_some());
    let is_there = |cause: &Cause, name: &String| {
        observed.is_none_or(|observed| {
            let blocks = |pod: &Pod| cause.id != CauseId::BlockedByPod || !observed.is_updated(pod);
            observed.pods.iter().flatten().any(|pod| pod.name == *name && blocks(pod))
        })
    };
    let has_pods =
        |cause: &&Cause| cause.pods.is_empty() || cause.pods.iter().any(|name| is_there(cause, name));
    target.causes().filter(has_pods).cloned().collect()
}

/// What separates the parts of a line.
const GAP: &str = "   ";

/// Returns the name of a target, its revisions, its state, the age of the state and the time left. Parts that do not fit into
/// one line begin another one.
fn header_lines(
    followed: Followed<'_>,
    view: Option<&RolloutView>,
    now: Now,
    names: NameContext<'_>,
    width: usize,
) -> Vec<Line> {
    let (target, revisions) = (followed.target, revisions(followed));
    let revisions = if revisions.is_empty() { revisions } else { format!("revision {revisions}") };
    let (style, state) = state_text(followed);
    let time = match followed.result().and(followed.outcome()) {
        // The state has the duration that matters.
        Some(Outcome::Failed(_) | Outcome::OtherTargetFailed(_) | Outcome::TimedOut(_)) => String::new(),
        _ => time(followed, view, now) + &left(target, now),
    };
    let parts = [Line::of(revisions), Line::styled(style, state), Line::of(time)];
    heading(Line::styled(Style::Heading, names.name(target.workload())), parts, width)
}

/// Returns the cells of a row for a target: its name, the age of a state that may still change, and its state with its first
/// cause or else its progress. The longest cell is the last one, so that it moves no column and is cut first. An outage is
/// named.
fn folded_row(
    followed: Followed<'_>,
    view: Option<&RolloutView>,
    now: Now,
    names: NameContext<'_>,
    first_cause: Option<Line>,
) -> Vec<Line> {
    let target = followed.target;
    let name = Line::styled(Style::Heading, names.name(target.workload()));
    let (style, state) = state_text(followed);
    let outage = if view.is_some_and(|view| view.is_outage) { ", outage" } else { "" };
    let words =
        first_cause.or_else(|| Some(Line::of(progress(view?.counts, view?.available) + &left(target, now))));
    let state = Line::styled(style, state).with(Style::Bad, outage).with(Style::Plain, "  ");
    let state = state.joined_with(words.unwrap_or_default());
    // Beside `complete` the duration of the wait would read as the age of the state.
    let age = if followed.result().is_none() { time(followed, view, now) } else { String::new() };
    vec![name, Line::of(age), state]
}

/// Returns the estimate of the time left, to append to what comes before it: `, about 20s left`. Empty if there is none.
fn left(target: &FollowedTarget, now: Now) -> String {
    target
        .time_left(now.elapsed)
        .map(|left| format!(", about {} left", estimate_text(left)))
        .unwrap_or_default()
}

/// Returns a name and what is known of it as lines. Parts that do not fit into one line begin another one.
pub(super) fn heading(name: Line, parts: impl IntoIterator<Item = Line>, width: usize) -> Vec<Line> {
    let mut lines = vec![name];
    for part in parts.into_iter().filter(|part| part.cells() > 0) {
        match lines.last_mut() {
            Some(line) if line.cells() + GAP.len() + part.cells() <= width => {
                *line = std::mem::take(line).with(Style::Plain, GAP).joined_with(part);
            }
            _ => lines.extend(part.indented("  ").wrapped("    ", width, usize::MAX)),
        }
    }
    lines
}

/// Returns the age of the state, as in the column SINCE of `list`; if no stamp shows it, how long the target was followed. Of a
/// result it is how long that was, if it was a second or more: `after 42s`.
fn time(followed: Followed<'_>, view: Option<&RolloutView>, now: Now) -> String {
    match followed.result() {
        Some(result) if result.elapsed.as_secs() == 0 => String::new(),
        Some(result) => format!("after {}", duration_text(result.elapsed)),
        None => match view.and_then(|view| view.since) {
            Some(since) => age(since, now.server_time),
            None => duration_text(now.elapsed),
        },
    }
}

/// Returns the old and the new revision: `4 -> 5`. Only `5` if no other revision ran at the start or runs now. Empty
/// while it is not known, for a kind without revisions, and during a rollback, because the state names its revision.
fn revisions(followed: Followed<'_>) -> String {
    let target = followed.target;
    let has_revisions = target.workload().kind().read_only().is_none();
    let Some(observed) = target.observation().filter(|_| has_revisions && !followed.is_rollback_written())
    else {
        return String::new();
    };
    let running = observed.revisions.current();
    let to = running.map_or_else(|| "new".to_owned(), short_label);
    let began_on = target.start_state().and_then(|origin| origin.stable_revision(observed).ok());
    let from = began_on
        .or_else(|| observed.stable().ok())
        .filter(|from| running.is_none_or(|to| to.name != from.name));
    match from.or_else(|| observed.revisions.current_or_newest().filter(|_| running.is_none())) {
        Some(from) => format!("{} -> {to}", short_label(from)),
        None => to,
    }
}

/// The minimum and the maximum length of a bar, in cells.
const BAR_LENGTHS: [usize; 2] = [5, 40];

/// Returns the bars of a workload in this state. The second one has a note of an outage, or of the minimum of available pods
/// while the rollout progresses.
fn bars(view: &RolloutView, state: RolloutState, width: usize) -> Vec<Line> {
    let counts = view.counts;
    let [shortest, longest] = BAR_LENGTHS;
    let length = (width / 4).clamp(shortest, longest);
    let runs_to_completion = view.workload.kind().runs_to_completion();
    let (label, available) = match view.available {
        Some(succeeded) if runs_to_completion => ("succeeded", succeeded),
        Some(available) => ("available", available),
        None => ("ready", counts.ready), // an old API server without `availableReplicas`
    };
    let first = if runs_to_completion { "started" } else { "updated" };
    let is_progressing = matches!(state, RolloutState::Progressing | RolloutState::Stuck);
    let note = match min_available(&view.workload).filter(|_| is_progressing) {
        _ if view.is_outage => Line::styled(Style::Bad, " outage"),
        Some(floor) => Line::styled(Style::Dim, format!(" minimum {floor}")),
        None => Line::default(),
    };
    aligned(vec![
        row(first, counts.updated, counts.wanted, length, Line::default()),
        row(label, available, counts.wanted, length, note),
    ])
}

fn row(label: &str, have: i64, wanted: i64, length: usize, note: Line) -> Vec<Line> {
    // Pad the number, so that another digit does not move the text after it.
    let digits = wanted.to_string().len();
    let numbers = Line::of(format!("{have:>digits$}/{wanted}"));
    vec![Line::of(format!("  {label}")), bar(have, wanted, length), numbers, note]
}

/// Returns a bar: `####----`. It is full only if nothing is missing, and empty only for 0.
fn bar(have: i64, wanted: i64, length: usize) -> Line {
    let filled = filled(have, wanted, length);
    let style = if filled == length { Style::Good } else { Style::Plain };
    Line::styled(style, "#".repeat(filled)).with(Style::Dim, "-".repeat(length - filled))
}

fn filled(have: i64, wanted: i64, length: usize) -> usize {
    let (Ok(have), Ok(wanted)) = (usize::try_from(have), usize::try_from(wanted)) else {
        return 0;
    };
    match (have, wanted) {
        (have, wanted) if have >= wanted => length,
        (0, _) => 0,
        (have, wanted) => (have.saturating_mul(length) / wanted).clamp(1, length - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_full_only_when_nothing_is_missing() {
        for (have, wanted, expected) in
            [(0, 10, 0), (1, 1000, 1), (6, 10, 12), (999, 1000, 19), (10, 10, 20), (12, 10, 20), (0, 0, 20)]
        {
            assert_eq!(filled(have, wanted, 20), expected, "{have}/{wanted}");
        }
    }
}
