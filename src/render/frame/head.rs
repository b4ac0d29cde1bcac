//! The first line of a block: what it is about, how it stands, since when, and for how long still.

use super::line::Line;
use super::words::{about, lasting, standing, standing_in_row};
use super::wrap::wrapped;
use crate::model::follow::{Moment, Track};
use crate::model::observed::Observed;
use crate::model::revision::Revision;
use crate::render::status::Company;
use crate::render::style::Style;

/// The parts of a block's first line.
pub(super) struct Head {
    name: Line,
    /// Which revisions it goes from and to; empty while that is not known.
    revisions: Line,
    state: Line,
    /// How long it was followed.
    elapsed: String,
    /// How long it may take still; empty while that is not known.
    left: String,
    row: Row,
}

/// What differs where a block is one row of many.
struct Row {
    /// The name in kubectl's short form.
    name: Line,
    state: Line,
    /// What the state is a word for, where it needs a sentence.
    why: Option<Line>,
}

/// No name of a row takes more than this many columns of a hundred: what is wrong must have room.
const MOST_FOR_A_NAME: usize = 40;

/// Nor is it cut to less than this.
const SHORTEST_NAME: usize = 12;

/// Fewer columns than these are too few for all that a row has to say.
const NARROW: usize = 60;

impl Head {
    pub(super) fn of(track: &Track, now: Moment, company: Company) -> Self {
        let (style, state) = standing(track);
        let left = track.time_left(now.elapsed).map(|left| format!("about {} left", about(left)));
        Self {
            name: heading(track.workload().reference(), track, company),
            revisions: Line::of(track.observed().map(|seen| revisions(track, seen)).unwrap_or_default()),
            state: Line::default().with(style, state),
            elapsed: lasting(track.end().map_or(now.elapsed, |end| end.after)),
            left: left.unwrap_or_default(),
            row: Row::of(track, company),
        }
    }

    /// As one row of many, with what is wrong, or else how far it is. Where rows are short, what is wrong
    /// takes the place of how it stands.
    pub(super) fn row(self, trouble: Option<Line>, how_far: Line, width: usize) -> Vec<Line> {
        let Row { name, state, why } = self.row;
        let name = name.shortened_to((width * MOST_FOR_A_NAME / 100).max(SHORTEST_NAME));
        match trouble.or(why) {
            Some(trouble) if width < NARROW => vec![name, trouble],
            trouble => {
                let words = trouble.unwrap_or(how_far);
                vec![name, state, Line::of(self.elapsed), words, self.revisions, Line::of(self.left)]
            }
        }
    }

    /// On one line where it fits, and else on more: a name that is cut tells less than a second line.
    pub(super) fn lines(&self, width: usize) -> Vec<Line> {
        let revisions = if self.revisions.cells() == 0 {
            Line::default()
        } else {
            Line::of("revision ").joined_with(self.revisions.clone())
        };
        let comma = if self.left.is_empty() { "" } else { ", " };
        let time = Line::of(format!("{}{comma}{}", self.elapsed, self.left));
        let mut lines: Vec<Line> = vec![self.name.clone()];
        for part in [revisions, self.state.clone(), time] {
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

impl Row {
    fn of(track: &Track, company: Company) -> Self {
        let (style, state, why) = standing_in_row(track);
        let workload = track.workload();
        let name = format!("{}/{}", workload.kind().type_().short(), workload.name());
        Self {
            name: heading(name, track, company),
            state: Line::default().with(style, state),
            why: why.map(|why| Line::default().with(style, why)),
        }
    }
}

/// A name, with its namespace where there may be several.
fn heading(name: String, track: &Track, company: Company) -> Line {
    let namespace = track.workload().object().namespace();
    let name = if company.namespaces { format!("{name} in {namespace}") } else { name };
    Line::default().with(Style::Heading, name)
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
