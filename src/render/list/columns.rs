//! The columns of `list`: one cell for each fact of a rollout, and how the rows fit into the width of a terminal.

use k8s_openapi::jiff::Timestamp;

use crate::model::hold::brief_hold;
use crate::model::kind::verdict::RolloutState;
use crate::model::view::RolloutView;
use crate::render::age::{age, start_age};
use crate::render::columns::{aligned, fit};
use crate::render::fit_width::LongWord;
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

/// How wide the cells are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellWidth {
    /// Full names: `deployment/web`, REVISION, AVAILABLE.
    Full,
    /// Short names, for a narrow terminal: `deploy/web`, REV, AVAIL.
    Short,
}

/// Returns the names of the columns.
pub(super) fn header(options: TableOptions, width: CellWidth) -> ListRow {
    let mut names = match width {
        CellWidth::Full => vec!["WORKLOAD", "REVISION", "STATE", "UPDATED", "AVAILABLE", "SINCE"],
        CellWidth::Short => vec!["WORKLOAD", "REV", "STATE", "UPDATED", "AVAIL", "SINCE"],
    };
    if options.namespaces {
        names.insert(0, "NAMESPACE");
    }
    if options.wide {
        names.extend(["IMAGES", "CHANGED", "BY"]);
    }
    let cells = names.into_iter().map(Line::of).collect();
    ListRow { cells, cause: Line::of("CAUSE"), command: Line::default() }
}

/// Returns the row of a rollout.
pub(super) fn row(rollout: &RolloutView, options: TableOptions, width: CellWidth) -> ListRow {
    let has_held_pods = rollout.held_pods() > 0;
    let style = if has_held_pods { Style::Warning } else { state_style(rollout.state()) };
    let state = Line::styled(style, rollout.state().word());
    row_with(rollout, options, width, state)
}

/// Returns the row of a rollout with a word for its state.
pub(super) fn row_with(
    rollout: &RolloutView,
    options: TableOptions,
    width: CellWidth,
    state: Line,
) -> ListRow {
    let workload = &rollout.workload;
    let mut cells = vec![
        Line::of(match width {
            CellWidth::Full => workload.target(),
            CellWidth::Short => format!("{}/{}", workload.kind().type_().short(), workload.name()),
        }),
        Line::of(revision(rollout)),
        state,
        updated(rollout),
        available(rollout),
        Line::of(rollout.since.map_or_else(|| "-".to_owned(), |since| age(since, options.now))),
    ];
    if options.namespaces {
        cells.insert(0, Line::of(workload.object().namespace()));
    }
    if options.wide {
        let dash = || "-".to_owned();
        cells.extend([
            Line::of(workload.template().images().join(",")),
            Line::of(
                rollout.change.as_ref().map_or_else(dash, |change| start_age(change.start, options.now)),
            ),
            Line::of(rollout.change.as_ref().and_then(|change| change.by.clone()).unwrap_or_else(dash)),
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
    let cause = match (rollout.causes.as_slice(), rollout.state()) {
        ([], RolloutState::Failed) => Line::styled(Style::Bad, &rollout.verdict.line),
        ([], RolloutState::Unobserved | RolloutState::Held) => Line::of(&rollout.verdict.line),
        ([], _) => match &rollout.next_change_hold {
            Some(hold) => Line::default().with(Style::Warning, hold),
            None => Line::default(),
        },
        ([first, others @ ..], _) => {
            let container = first.container.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
            let more =
                if others.is_empty() { String::new() } else { format!(" (and {} more)", others.len()) };
            let held = first.id.is_hold().then(|| brief_hold(&rollout.workload)).flatten();
            let (summary, command) = match held {
                Some((words, command)) => (words, Line::of(command.to_string())),
                None => (first.summary.clone(), Line::default()),
            };
            let cause = Line::styled(cause_style(first), format!("{container}{summary}{more}"));
            return (cause, command);
        }
    };
    (cause, Line::default())
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
    /// What to do with long words and commands of a cause.
    pub(super) long: LongWord,
    /// The column whose cells may lose their middle, if everything else does not suffice.
    pub(super) shortened_column: Option<usize>,
}

/// Returns the lines of each row: one line if all rows fit. Otherwise each cause goes below its row, wrapped between
/// words, so that a command in it can be copied. If the other columns do not fit either, they get short names. The
/// command of a hold goes below its row where it fits into one line.
pub(super) fn fitted(rows: impl Fn(CellWidth) -> Vec<ListRow>, room: Room) -> Vec<Vec<Line>> {
    let full = rows(CellWidth::Full);
    let commands: Vec<_> = full.iter().map(|row| command_line(&row.command, room)).collect();
    let mut blocks = blocks(full, rows, room);
    for (block, command) in blocks.iter_mut().zip(commands) {
        block.extend(command);
    }
    blocks
}

/// Returns the line of a command, where each row may have any number of lines and it fits.
fn command_line(command: &Line, room: Room) -> Option<Line> {
    let fits = command.cells() > 0 && INDENT.len() + command.cells() <= room.width;
    (fits && room.cause_lines == usize::MAX).then(|| Line::of(format!("{INDENT}{}", command.text())))
}

fn blocks(full: Vec<ListRow>, rows: impl Fn(CellWidth) -> Vec<ListRow>, room: Room) -> Vec<Vec<Line>> {
    let fits = |lines: &[Line]| lines.iter().all(|line| line.cells() <= room.width);
    let lines = unfitted(full.clone());
    if fits(&lines) {
        return lines.into_iter().map(|line| vec![line]).collect();
    }
    let (mut lines, mut causes) = split(full, None);
    if !fits(&lines) {
        (lines, causes) = split(rows(CellWidth::Short), Some(room));
    }
    let blocks = lines.into_iter().zip(causes).enumerate().map(|(index, (line, cause))| {
        let has_cause = !(room.has_header && index == 0);
        let cause = if has_cause { lines_of(cause, room) } else { Vec::new() };
        std::iter::once(line).chain(cause).collect()
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

/// Returns the aligned cells before the cause of each row, and the causes. With a room, names lose their middle if the
/// cells do not fit.
fn split(mut rows: Vec<ListRow>, room: Option<Room>) -> (Vec<Line>, Vec<Line>) {
    let causes = rows.iter_mut().map(|row| std::mem::take(&mut row.cause)).collect();
    let mut cells: Vec<_> = rows.into_iter().map(|row| row.cells).collect();
    if let Some((room, column)) = room.and_then(|room| Some((room, room.shortened_column?))) {
        fit(&mut cells, room.width, &[(column, MIN_NAME_WIDTH)], Line::shortened_to);
    }
    (aligned(cells), causes)
}

/// Wraps a cause between words.
fn lines_of(cause: Line, room: Room) -> Vec<Line> {
    if cause.cells() == 0 {
        return Vec::new();
    }
    cause.indented(INDENT).wrapped(INDENT, room.width, room.cause_lines, room.long)
}
