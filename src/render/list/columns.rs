//! The columns of `list`: one cell for each fact of a rollout, and how the rows fit into the width of a terminal.

use k8s_openapi::jiff::Timestamp;

use crate::model::hold::brief_hold;
use crate::model::kind::verdict::RolloutState;
use crate::model::view::RolloutView;
use crate::render::age::{age, start_age};
use crate::render::columns::{aligned, fit, or_dash};
use crate::render::line::{Line, Style};
use crate::render::state_words::state_style;
use crate::render::status::cause_style;

/// The options of the table.
#[derive(Clone, Copy, Debug)]
pub struct TableOptions {
    /// Whether to show images and the last change of the template too.
    pub wide: bool,
    /// Whether to show the namespaces.
    pub namespaces: bool,
    /// Whether to print the header and the last line.
    pub headers: bool,
    /// The time since which the templates of all rollouts changed, if that was asked for.
    pub changed_since: Option<Timestamp>,
    /// The time that ages are relative to.
    pub now: Timestamp,
}

/// One row of the table.
#[derive(Clone, Debug, Default)]
pub(super) struct ListRow {
    /// The cells before the cause.
    pub(super) cells: Vec<Line>,
    /// Why the rollout does not progress; empty if nothing is wrong.
    pub(super) cause: Line,
    /// The command that continues or ends a hold of this program; empty for other rows.
    pub(super) command: Line,
}

/// Returns the names of the columns.
pub(super) fn header(options: TableOptions) -> ListRow {
    let mut names = vec!["WORKLOAD", "REVISION", "STATE", "UPDATED", "AVAILABLE", "SINCE"];
    if options.namespaces {
        names.insert(0, "NAMESPACE");
    }
    if options.wide {
        names.extend(["IMAGES", "CHANGED", "BY"]);
    }
    let cells = names.into_iter().map(Line::of).collect();
    ListRow { cells, cause: Line::of("CAUSE"), command: Line::default() }
}

/// Returns the place of the names of workloads. Their states are two columns after them.
pub(super) fn name_column(options: TableOptions) -> usize {
    usize::from(options.namespaces)
}

/// Returns the row of a rollout.
pub(super) fn row(rollout: &RolloutView, options: TableOptions) -> ListRow {
    let has_held_pods = rollout.held_pods() > 0;
    let style = if has_held_pods { Style::Warning } else { state_style(rollout.state()) };
    let state = Line::styled(style, rollout.state().word());
    row_with(rollout, options, state)
}

/// Returns the row of a rollout with a word for its state.
pub(super) fn row_with(rollout: &RolloutView, options: TableOptions, state: Line) -> ListRow {
    let workload = &rollout.workload;
    let mut cells = vec![
        Line::of(workload.target()),
        Line::of(revision(rollout)),
        state,
        updated(rollout),
        available(rollout),
        or_dash(rollout.since.map(|since| age(since, options.now))),
    ];
    if options.namespaces {
        cells.insert(0, Line::of(workload.object().namespace()));
    }
    if options.wide {
        let change = rollout.change.as_ref();
        cells.extend([
            Line::of(workload.template().images().join(",")),
            or_dash(change.map(|change| start_age(change.start, options.now))),
            or_dash(change.and_then(|change| change.by.as_ref())),
        ]);
    }
    let (cause, command) = cause(rollout);
    ListRow { cells, cause, command }
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
/// rollout has the hold of its next change. A hold of this program is short, and has its command.
fn cause(rollout: &RolloutView) -> (Line, Line) {
    let [first, others @ ..] = rollout.causes.as_slice() else {
        let cause = match rollout.state() {
            RolloutState::Failed => Line::styled(Style::Bad, &rollout.verdict.line),
            RolloutState::Unobserved | RolloutState::Held => Line::of(&rollout.verdict.line),
            _ => Line::styled(Style::Warning, rollout.next_change_hold.as_deref().unwrap_or_default()),
        };
        return (cause, Line::default());
    };
    let more = if others.is_empty() { String::new() } else { format!(" (and {} more)", others.len()) };
    let held = first.id.is_hold().then(|| brief_hold(&rollout.workload)).flatten();
    let (words, command) = match held {
        Some((words, command)) => (words, Line::of(command.to_string())),
        None => (first.words(), Line::default()),
    };
    (Line::styled(cause_style(first), words + &more), command)
}

/// Returns the cause of a rollout in words, as the column CAUSE has it; empty without one.
pub(in crate::render) fn cause_text(rollout: &RolloutView) -> String {
    cause(rollout).0.text()
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
    /// The column whose cells may lose their middle, if everything else does not suffice.
    pub(super) shortened_column: usize,
}

/// Returns the lines of each row: one line if all rows fit. Otherwise each cause goes below its row, wrapped between
/// words, so that a command in it can be copied. The command of a hold goes below its row where it fits into one line.
pub(super) fn fitted(mut rows: Vec<ListRow>, room: Room) -> Vec<Vec<Line>> {
    let commands: Vec<_> = rows.iter_mut().map(|row| std::mem::take(&mut row.command)).collect();
    let lines = unfitted(rows.clone());
    let mut blocks: Vec<Vec<Line>> = if lines.iter().all(|line| line.cells() <= room.width) {
        lines.into_iter().map(|line| vec![line]).collect()
    } else {
        with_causes_below(rows, room)
    };
    for (block, command) in blocks.iter_mut().zip(commands).filter(|(_, command)| command.cells() > 0) {
        let command = Line::of(format!("{INDENT}{}", command.text()));
        block.extend(
            Some(command).filter(|line| line.cells() <= room.width && room.cause_lines == usize::MAX),
        );
    }
    blocks
}

/// Returns the aligned cells of each row, and its cause in the lines below.
fn with_causes_below(rows: Vec<ListRow>, room: Room) -> Vec<Vec<Line>> {
    let (mut cells, mut causes): (Vec<_>, Vec<_>) =
        rows.into_iter().map(|row| (row.cells, row.cause.indented(INDENT))).unzip();
    if let Some(header) = causes.first_mut().filter(|_| room.has_header) {
        *header = Line::default();
    }
    fit(&mut cells, room.width, &[(room.shortened_column, MIN_NAME_WIDTH)], Line::shortened_to);
    let blocks = aligned(cells).into_iter().zip(causes).map(|(line, cause)| {
        let cause = Some(cause).filter(|cause| cause.cells() > 0);
        let below = cause.map(|cause| cause.wrapped(INDENT, room.width, room.cause_lines));
        std::iter::once(line.cut_to(room.width)).chain(below.unwrap_or_default()).collect()
    });
    blocks.collect()
}

/// Returns one line for each row, of any width.
pub(super) fn unfitted(rows: Vec<ListRow>) -> Vec<Line> {
    aligned(rows.into_iter().map(ListRow::into_cells).collect())
}

impl ListRow {
    /// Returns all cells, the cause last.
    pub(super) fn into_cells(mut self) -> Vec<Line> {
        self.cells.push(self.cause);
        self.cells
    }
}
