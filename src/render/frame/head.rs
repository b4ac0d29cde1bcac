//! The first line of a block: what it is about, how it stands, since when, and for how long still.

use super::line::Line;
use super::words::{about, lasting, standing};
use super::wrap::wrapped;
use crate::model::follow::{Moment, Track};
use crate::model::observed::Observed;
use crate::model::revision::Revision;
use crate::render::status::Company;
use crate::render::style::Style;

/// The parts of a block's first line.
pub(super) struct Head {
    pub(super) name: Line,
    /// The name in kubectl's short form, for where there is no room.
    pub(super) short_name: Line,
    /// Which revisions it goes from and to; empty while that is not known.
    pub(super) revisions: Line,
    pub(super) state: Line,
    pub(super) time: Line,
}

impl Head {
    pub(super) fn of(track: &Track, now: Moment, company: Company) -> Self {
        let (style, state) = standing(track);
        let workload = track.workload();
        let short_name = format!("{}/{}", workload.kind().type_().short(), workload.name());
        Self {
            name: Line::default().with(Style::Heading, in_place(workload.reference(), track, company)),
            short_name: Line::default().with(Style::Heading, in_place(short_name, track, company)),
            revisions: Line::of(track.observed().map(|seen| revisions(track, seen)).unwrap_or_default()),
            state: Line::default().with(style, state),
            time: Line::of(time(track, now)),
        }
    }

    /// On one line where it fits, and else on more: a name that is cut tells less than a second line.
    pub(super) fn lines(&self, width: usize) -> Vec<Line> {
        let revisions = if self.revisions.cells() == 0 {
            Line::default()
        } else {
            Line::of("revision ").joined_with(self.revisions.clone())
        };
        let mut lines: Vec<Line> = vec![self.name.clone()];
        for part in [revisions, self.state.clone(), self.time.clone()] {
            let gap = if part.cells() == 0 { "" } else { "   " };
            match lines.last_mut() {
                Some(line) if line.cells() + gap.len() + part.cells() <= width => {
                    *line = std::mem::take(line).with(Style::Plain, gap).joined_with(part);
                }
                _ => lines.extend(on_its_own(&part, width)),
            }
        }
        lines
    }
}

/// A part on a line of its own, or on more where it is longer than that: what a rollout goes back to is
/// the end of a long sentence.
fn on_its_own(part: &Line, width: usize) -> impl Iterator<Item = Line> {
    let style = part.spans().first().map_or(Style::Plain, |span| span.style);
    let lines = wrapped(&format!("  {}", part.text()), "    ", width);
    lines.into_iter().map(move |line| Line::default().with(style, line))
}

/// A name, with its namespace where there may be several.
fn in_place(name: String, track: &Track, company: Company) -> String {
    if company.namespaces { format!("{name} in {}", track.workload().object().namespace()) } else { name }
}

/// `4 -> 5`, or `5` where nothing else ran when we began and nothing else runs now.
fn revisions(track: &Track, observed: &Observed) -> String {
    let running = observed.revisions.running();
    let to = running.map_or_else(|| "new".to_owned(), short_label);
    let began_on = track.origin().and_then(|origin| origin.service(observed));
    let from =
        began_on.or_else(|| observed.stable()).filter(|from| running.is_none_or(|to| to.name != from.name));
    match from.or_else(|| observed.revisions.current().filter(|_| running.is_none())) {
        Some(from) => format!("{} -> {to}", short_label(from)),
        None => to,
    }
}

/// Its number; until it has one, there is nothing shorter to call it than what it is.
fn short_label(revision: &Revision) -> String {
    revision.number.known().map_or_else(|| "new".to_owned(), |number| number.to_string())
}

/// How long it was followed, and how long it may take still.
fn time(track: &Track, now: Moment) -> String {
    let elapsed = lasting(track.end().map_or(now.elapsed, |end| end.after));
    match track.time_left(now.elapsed) {
        Some(left) => format!("{elapsed}, about {} left", about(left)),
        None => elapsed,
    }
}
