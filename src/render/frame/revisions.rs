//! A line for each revision that has pods, and what its pods are doing in words.

use k8s_openapi::jiff::Timestamp;

use super::columns::aligned;
use super::line::Line;
use crate::model::follow::{Outcome, Track, Undone};
use crate::model::observed::{Observed, PodCount};
use crate::model::pod::Pod;
use crate::model::revision::Revision;
use crate::model::stage::{Stage, tally};
use crate::model::verdict::Counts;
use crate::render::style::Style;

/// More revisions than these are one line together: each is a release that was not finished.
const SHOWN: usize = 4;

/// One revision: its number, what keeps it, how many pods it has, and what they are doing.
type Row = [Line; 4];

/// The revisions that have pods, the one being rolled out first, whether it has any or not, and the
/// others from the newest on.
pub(super) fn lines(track: &Track, observed: &Observed, now: Timestamp, width: usize) -> Vec<Line> {
    if let Some(row) = at_the_end(track, observed) {
        return in_columns(vec![row], width);
    }
    let (pods_by_name, strangers) = observed.pods_by_revision();
    let pods_of =
        |revision: &Revision| pods_by_name.get(revision.name.as_str()).map_or(&[][..], Vec::as_slice);
    let has_pods = |revision: &Revision| match &observed.pods {
        Some(_) => pods_of(revision).iter().any(|pod| !pod.has_ended()),
        None => PodCount::recorded(revision).total > 0,
    };
    let new = observed.revisions.running();
    let is_new = |revision: &Revision| new.is_some_and(|new| new.name == revision.name);
    let old = observed.revisions.iter().rev().filter(|&revision| !is_new(revision) && has_pods(revision));
    let shown: Vec<_> = new.into_iter().chain(old).collect();
    let (named, rest) = shown.split_at(shown.len().min(SHOWN));
    let rows = named.iter().map(|revision| row(revision, pods_of(revision), observed, now));
    let mut lines = in_columns(rows.chain(unknown(&strangers, observed, now)).collect(), width);
    if !rest.is_empty() {
        let count = rest.iter().map(|revision| pods_of(revision).len()).sum();
        lines.push(Line::of(format!("  and {} on {} other revisions", pods(count), rest.len())));
    }
    lines
}

/// Once all is done, the controller's counters: they said so, and the pods that we have seen may be older.
fn at_the_end(track: &Track, observed: &Observed) -> Option<Row> {
    let is_complete = track.end().is_some_and(|end| match &end.undone {
        Some(Undone::To { outcome, .. }) => *outcome == Outcome::Reached,
        _ => end.outcome == Outcome::Reached,
    });
    let counts = Counts::of(&observed.workload);
    let new = observed.revisions.running().filter(|_| is_complete && counts.outdated() == 0)?;
    let (total, ready) = (usize::try_from(counts.total).ok()?, format!("{} ready", counts.ready));
    let words = Line::default().with(style(Stage::Ready), ready);
    Some([number(new), Line::of(&new.name), Line::of(pods(total)), words])
}

fn row(revision: &Revision, some: &[&Pod], observed: &Observed, now: Timestamp) -> Row {
    let (count, words) = match &observed.pods {
        Some(_) => in_words(some, observed, now),
        None => as_recorded(revision),
    };
    [number(revision), Line::of(&revision.name), Line::of(count), words]
}

fn number(revision: &Revision) -> Line {
    let number = revision.number.known().map_or_else(|| "new".to_owned(), |number| number.to_string());
    Line::of(format!("  {number}"))
}

/// Pods of a revision that is not kept any more, or may not be read. They are somebody's service all
/// the same.
fn unknown(strangers: &[&Pod], observed: &Observed, now: Timestamp) -> Option<Row> {
    strangers.iter().any(|pod| !pod.has_ended()).then(|| {
        let (count, words) = in_words(strangers, observed, now);
        [Line::of("  ?"), Line::of("an unknown revision"), Line::of(count), words]
    })
}

/// Where there is no room, the name of what keeps a revision goes first: its number says the same.
fn in_columns(rows: Vec<Row>, width: usize) -> Vec<Line> {
    let lines = aligned(rows.iter().map(|row| row.to_vec()).collect());
    if lines.iter().all(|line| line.cells() <= width) {
        return lines;
    }
    aligned(rows.into_iter().map(|[number, _, count, words]| vec![number, count, words]).collect())
}

/// `6 pods` and `5 ready, 1 starting`. Those on their way out are not counted, as in the history.
fn in_words(some: &[&Pod], observed: &Observed, now: Timestamp) -> (String, Line) {
    let tally = tally(some.iter().copied(), observed.workload.min_ready_seconds(), now);
    let count = tally.iter().filter(|(stage, _)| stage.counts()).map(|(_, count)| count).sum();
    let words = tally.iter().enumerate().fold(Line::default(), |line, (index, (stage, count))| {
        let comma = if index == 0 { "" } else { ", " };
        line.with(Style::Plain, comma).with(style(*stage), format!("{count} {}", stage.word()))
    });
    (pods(count), words)
}

/// What a ReplicaSet says of its own pods, when nobody may look at them.
fn as_recorded(revision: &Revision) -> (String, Line) {
    let PodCount { ready, total } = PodCount::recorded(revision);
    if total == 0 {
        return (String::new(), Line::default());
    }
    (pods(total), Line::of(format!("{ready} ready")))
}

fn style(stage: Stage) -> Style {
    match stage {
        Stage::Ready => Style::Good,
        Stage::Settling | Stage::Starting => Style::Plain,
        Stage::Unscheduled => Style::Warning,
        Stage::Failing => Style::Bad,
        Stage::Terminating | Stage::Ended => Style::Dim,
    }
}

fn pods(count: usize) -> String {
    if count == 1 { "1 pod".to_owned() } else { format!("{count} pods") }
}
