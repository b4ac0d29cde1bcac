//! Two bars: how many pods are updated, and how many are available.

use super::columns::aligned;
use super::line::Line;
use crate::model::rounding::floor;
use crate::model::verdict::{Counts, State};
use crate::model::workload::Workload;
use crate::render::style::Style;

/// A bar of fewer cells says less than its numbers.
const SHORTEST: usize = 5;
/// A bar of more cells says no more.
const LONGEST: usize = 40;

/// The bars of a workload. What an update never goes below is only worth a word while one is under way.
pub(super) fn bars(workload: &Workload, state: State, width: usize) -> Vec<Line> {
    let counts = Counts::of(workload);
    let length = Some((width / 4).min(LONGEST)).filter(|length| *length >= SHORTEST);
    let (label, available) = match counts.available {
        Some(available) => ("available", available),
        None => ("ready", counts.ready), // a server that does not count what is available
    };
    let floor = floor(workload).filter(|_| state == State::Progressing);
    let bars = aligned(vec![
        row("updated", counts.updated, counts.wanted, length),
        row(label, available, counts.wanted, length),
    ]);
    with_note(bars, floor.map(|floor| format!("never below {floor}")), width)
}

/// A note behind the last bar, where there is room for all of it: the beginning of a number is another
/// number.
fn with_note(mut bars: Vec<Line>, note: Option<String>, width: usize) -> Vec<Line> {
    let noted = bars.last().zip(note).map(|(bar, note)| bar.clone().with(Style::Dim, format!("   {note}")));
    if let (Some(bar), Some(noted)) = (bars.last_mut(), noted.filter(|noted| noted.cells() <= width)) {
        *bar = noted;
    }
    bars
}

fn row(label: &str, have: i64, wanted: i64, length: Option<usize>) -> Vec<Line> {
    let bar = length.map(|length| bar(have, wanted, length)).unwrap_or_default();
    // Numbers that grow by a digit do not move what follows them.
    let digits = wanted.to_string().len();
    let numbers = Line::of(format!("{have:>digits$}/{wanted}"));
    vec![Line::of(format!("  {label}")), bar, numbers]
}

/// `####----`. It is full only when nothing is missing, and empty only when there is nothing.
fn bar(have: i64, wanted: i64, length: usize) -> Line {
    let filled = filled(have, wanted, length);
    let style = if filled == length { Style::Good } else { Style::Plain };
    Line::default().with(style, "#".repeat(filled)).with(Style::Dim, "-".repeat(length - filled))
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
