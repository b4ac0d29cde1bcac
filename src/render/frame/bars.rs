//! Two bars: the updated pods and the available pods.

use crate::model::kind::strategy::min_available;
use crate::model::kind::verdict::{Counts, RolloutState};
use crate::model::observation::Observation;
use crate::model::observation::serving::is_outage;
use crate::render::columns::aligned;
use crate::render::line::Line;
use crate::render::style::Style;

/// The minimum length of a bar, in cells. A shorter one is left out.
const SHORTEST: usize = 5;
/// The maximum length of a bar, in cells.
const LONGEST: usize = 40;

/// Returns the bars of a workload. The second one has a note of an outage, or of the minimum of available pods
/// while the rollout progresses.
pub(super) fn bars(observed: &Observation, state: RolloutState, width: usize) -> Vec<Line> {
    let workload = &observed.workload;
    let counts = Counts::of(workload);
    let length = Some((width / 4).min(LONGEST)).filter(|length| *length >= SHORTEST);
    let (label, available) = match counts.available {
        Some(available) => ("available", available),
        None => ("ready", counts.ready), // an old API server without `availableReplicas`
    };
    let floor =
        min_available(workload).filter(|_| matches!(state, RolloutState::Progressing | RolloutState::Stuck));
    let bars = aligned(vec![
        row("updated", counts.updated, counts.wanted, length),
        row(label, available, counts.wanted, length),
    ]);
    let note = match floor {
        _ if is_outage(observed, state) => Some((Style::Bad, "outage".to_owned())),
        floor => floor.map(|floor| (Style::Dim, format!("minimum {floor}"))),
    };
    with_note(bars, note, width)
}

/// Appends a note to the last bar if the whole note fits. A cut number would be a wrong number.
fn with_note(mut bars: Vec<Line>, note: Option<(Style, String)>, width: usize) -> Vec<Line> {
    let noted =
        bars.last().zip(note).map(|(bar, (style, note))| bar.clone().with(style, format!("   {note}")));
    if let (Some(bar), Some(noted)) = (bars.last_mut(), noted.filter(|noted| noted.cells() <= width)) {
        *bar = noted;
    }
    bars
}

fn row(label: &str, have: i64, wanted: i64, length: Option<usize>) -> Vec<Line> {
    let bar = length.map(|length| bar(have, wanted, length)).unwrap_or_default();
    // Pad the number, so that another digit does not move the text after it.
    let digits = wanted.to_string().len();
    let numbers = Line::of(format!("{have:>digits$}/{wanted}"));
    vec![Line::of(format!("  {label}")), bar, numbers]
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
