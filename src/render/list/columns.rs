//! The columns of `list`: one cell for each fact of a rollout, and how the rows fit into the width of a terminal.

use k8s_openapi::jiff::Timestamp;

use crate::model::cause::Severity;
use crate::model::diff::within_line;
use crate::model::hold::brief_hold;
use crate::model::kind::verdict::RolloutState;
use crate::model::text::shell_command::Word;
use crate::model::view::RolloutView;
use crate::render::age::{age, start_age};
use crate::render::cause::cause_style;
use crate::render::columns::{aligned, fit, or_dash};
use crate::render::line::{Line, Style};
use crate::render::state_words::state_style;

/// The options of the table.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent option")]
pub struct TableOptions {
    /// Whether to show images and the last change of the template too.
    pub wide: bool,
    /// Whether to show the namespaces.
    pub namespaces: bool,
    /// Whether to print the header and the last line.
    pub headers: bool,
    /// Whether the table is in Markdown, which always has a header.
    pub markdown: bool,
    /// The time since which the templates of all rollouts changed, if that was asked for.
    pub changed_since: Option<Timestamp>,
    /// The time that ages are relative to.
    pub now: Timestamp,
}

/// A column: its name, and the cell of a rollout at a moment.
type Column = (&'static str, fn(&RolloutView, Timestamp) -> Line);

/// Returns the columns. The last one is the cause.
fn columns(options: TableOptions) -> Vec<Column> {
    let always: [Column; 6] = [
        ("WORKLOAD", |one, _| Line::of(one.workload.target())),
        ("REVISION", |one, _| Line::of(revision(one))),
        (STATE, |one, _| state(one)),
        ("UPDATED", |one, _| updated(one)),
        ("AVAILABLE", |one, _| available(one)),
        ("SINCE", |one, now| or_dash(one.since.map(|since| age(since, now)))),
    ];
    let mut columns = always.to_vec();
    if options.namespaces {
        columns.insert(0, ("NAMESPACE", |one, _| Line::of(one.workload.object().namespace())));
    }
    if options.wide {
        columns.push(("IMAGES", |one, _| {
            let images: Vec<_> = one.workload.template().images().into_iter().map(within_line).collect();
            Line::of(images.join(","))
        }));
        columns.push(("CHANGED", |one, now| {
            or_dash(one.change.as_ref().map(|change| start_age(change.start, now)))
        }));
        columns.push(("BY", |one, _| or_dash(one.change.as_ref().and_then(|change| change.by.as_ref()))));
    }
    columns.push(("CAUSE", |one, _| cause(one)));
    columns
}

/// The name of the column of states.
pub(super) const STATE: &str = "STATE";

/// Returns the names of the columns.
pub(super) fn header(options: TableOptions) -> Vec<Line> {
    columns(options).into_iter().map(|(name, _)| Line::of(name)).collect()
}

/// Returns the index of the column with a name.
pub(super) fn index_of(name: &str, options: TableOptions) -> usize {
    columns(options).iter().position(|(column, _)| *column == name).unwrap_or_default()
}

/// Returns the row of a rollout.
pub(super) fn row(rollout: &RolloutView, options: TableOptions) -> Vec<Line> {
    columns(options).into_iter().map(|(_, cell)| cell(rollout, options.now)).collect()
}

fn state(rollout: &RolloutView) -> Line {
    let has_held_pods = rollout.held_pods() > 0;
    let style = if has_held_pods { Style::Warning } else { state_style(rollout.state()) };
    Line::styled(style, rollout.state().word())
}

/// Returns the number of the current revision: `new` while the live template has none, `-` if revisions are unknown.
fn revision(rollout: &RolloutView) -> String {
    match rollout.revision {
        Some(number) => number.to_string(),
        None if rollout.revision_name.is_none() && !rollout.unknown.contains(&"revisions") => {
            "new".to_owned()
        }
        None => "-".to_owned(),
    }
}

/// Returns the updated pods: `2/5`, or `2/5, 3 held` for a complete rollout whose partition keeps the others. Before the
/// controller has observed the live template, its counters are about another one.
fn updated(rollout: &RolloutView) -> Line {
    let (counts, held) = (rollout.counts, rollout.held_pods());
    match rollout.state() {
        RolloutState::Unobserved => Line::of(format!("-/{}", counts.wanted)),
        _ if held > 0 => Line::of(format!("{}/{}, {held} held", counts.updated, counts.wanted)),
        _ => Line::of(format!("{}/{}", counts.updated, counts.wanted)),
    }
}

/// Returns the available pods: `3/3`, or `0/3 outage` if none serves.
fn available(rollout: &RolloutView) -> Line {
    let wanted = rollout.counts.wanted;
    let style = if rollout.available == Some(0) && wanted > 0 { Style::Bad } else { Style::Plain };
    let available =
        rollout.available.map_or_else(|| "-".to_owned(), |available| format!("{available}/{wanted}"));
    Line::styled(style, if rollout.is_outage { available + " outage" } else { available })
}

/// Returns the first cause, and the number of the others: `app: CrashLoopBackOff, exit 1 (and 1 more)`. Without a cause,
/// a failure, a hold and a change that the controller has not observed have the line of their verdict, and a complete
/// rollout has the hold of its next change. A hold of this program is short.
pub(in crate::render) fn cause(rollout: &RolloutView) -> Line {
    let [first, others @ ..] = rollout.causes.as_slice() else {
        return match rollout.state() {
            RolloutState::Failed => Line::styled(Style::Bad, &rollout.verdict.line),
            RolloutState::Unobserved | RolloutState::Held => Line::of(&rollout.verdict.line),
            _ => Line::styled(Style::Warning, rollout.next_change_hold.as_deref().unwrap_or_default()),
        };
    };
    let more = if others.is_empty() { String::new() } else { format!(" (and {} more)", others.len()) };
    let words = hold(rollout).map_or_else(|| first.words(), |(words, _)| words);
    Line::styled(cause_style(first), words + &more)
}

/// Returns a hold of this program that is the first cause, and the command that continues or ends it.
fn hold(rollout: &RolloutView) -> Option<(String, Word)> {
    let is_hold = rollout.causes.first()?.severity == Severity::Hold;
    if is_hold { brief_hold(&rollout.workload) } else { None }
}

/// Returns the line below a row with the command that continues or ends a hold of this program.
pub(super) fn command_below(rollout: &RolloutView) -> Option<Line> {
    hold(rollout).map(|(_, command)| Line::of(format!("{INDENT}{command}")))
}

/// The indentation of a cause below its row.
const INDENT: &str = "    ";

/// The minimum width of a shortened name.
const MIN_NAME_WIDTH: usize = 12;

/// What rows have to fit into.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// The width of a line.
    pub(super) width: usize,
    /// Whether the first row is the header.
    pub(super) has_header: bool,
    /// The most lines of one cause.
    pub(super) cause_lines: usize,
    /// The columns that may be left out, because the others say more.
    pub(super) optional_columns: Option<[usize; 2]>,
    /// The column whose cells may lose their middle, if everything else does not suffice.
    pub(super) shortened_column: usize,
}

/// Returns the columns that a narrow terminal may leave out.
pub(super) fn optional_columns(options: TableOptions) -> [usize; 2] {
    ["REVISION", "UPDATED"].map(|name| index_of(name, options))
}

/// Returns the lines of each row: one line if all rows fit. Otherwise each cause goes below its row, wrapped between
/// words, so that a command in it can be copied; then optional columns are left out.
pub(super) fn fitted(rows: Vec<Vec<Line>>, room: Room) -> Vec<Vec<Line>> {
    let lines = aligned(rows.clone());
    if lines.iter().all(|line| line.cells() <= room.width) {
        return lines.into_iter().map(|line| vec![line]).collect();
    }
    let with_cause = |mut row: Vec<Line>| (row.pop().unwrap_or_default().indented(INDENT), row);
    let (mut causes, mut cells): (Vec<_>, Vec<_>) = rows.into_iter().map(with_cause).unzip();
    if let Some(header) = causes.first_mut().filter(|_| room.has_header) {
        *header = Line::default();
    }
    for column in room.optional_columns.into_iter().flatten() {
        if aligned(cells.clone()).iter().any(|line| line.cells() > room.width) {
            cells.iter_mut().filter_map(|row| row.get_mut(column)).for_each(|cell| *cell = Line::default());
        }
    }
    fit(&mut cells, room.width, &[(room.shortened_column, MIN_NAME_WIDTH)], Line::shortened_to);
    let blocks = aligned(cells).into_iter().zip(causes).map(|(line, cause)| {
        let cause = Some(cause).filter(|cause| cause.cells() > 0);
        let below = cause.map(|cause| cause.wrapped(INDENT, room.width, room.cause_lines));
        std::iter::once(line.cut_to(room.width)).chain(below.unwrap_or_default()).collect()
    });
    blocks.collect()
}
