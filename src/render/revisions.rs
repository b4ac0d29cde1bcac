//! One line for each revision with pods: its number, object, pod count and the stages of its pods.

use k8s_openapi::jiff::Timestamp;

use super::columns::{aligned, fit};
use super::line::{Line, Style};
use super::pods::pods;
use crate::model::api::pod::Pod;
use crate::model::follow::{FollowedTarget, Outcome};
use crate::model::hold::plan::original_min_ready_seconds;
use crate::model::observation::Observation;
use crate::model::observation::pod_stage::{PodStage, tally};
use crate::model::revision::{PodCount, Revision};
use crate::model::text::plural::plural;

/// The most revisions with their own line. Further ones share one line.
const SHOWN: usize = 4;

/// The cell of a row with the name of the object. A name loses its middle first, because the number identifies the revision.
const NAME: usize = 1;

/// The minimum width of a shortened name.
const MIN_NAME_WIDTH: usize = 5;

/// The most pods with their own line. Further ones are counted.
const SHOWN_PODS: usize = 100;

/// Returns the revisions: the current one first, with or without pods, then the others with pods, newest first. With
/// `shows_pods` each one is followed by its pods.
pub(super) fn lines(
    target: &FollowedTarget,
    observed: &Observation,
    now: Timestamp,
    width: usize,
    shows_pods: bool,
) -> Vec<Line> {
    let Some((current, row)) = at_the_end(target, observed) else {
        return tree(observed, now, width, shows_pods);
    };
    let (pods_by_name, _) = observed.pods_by_revision();
    let pods = pods_by_name.get(current.name.as_str()).map_or(&[][..], Vec::as_slice);
    let pods = if shows_pods { pod_lines(&[pods], observed, now) } else { Vec::new() };
    aligned(vec![row]).into_iter().chain(pods.into_iter().flatten()).collect()
}

/// Returns the revisions of an observation, with `shows_pods` each followed by its pods.
pub(super) fn tree(observed: &Observation, now: Timestamp, width: usize, shows_pods: bool) -> Vec<Line> {
    let (pods_by_name, unattributed) = observed.pods_by_revision();
    let pods_of =
        |revision: &Revision| pods_by_name.get(revision.name.as_str()).map_or(&[][..], Vec::as_slice);
    let has_pods = |revision: &Revision| match &observed.pods {
        Some(_) => pods_of(revision).iter().any(|pod| !pod.has_ended()),
        None => revision.replica_set_counts.pods.total > 0,
    };
    let new = observed.revisions.current();
    let is_new = |revision: &Revision| new.is_some_and(|new| new.name == revision.name);
    let old = observed.revisions.iter().rev().filter(|&revision| !is_new(revision) && has_pods(revision));
    let shown: Vec<_> = new.into_iter().chain(old).collect();
    let (named, rest) = shown.split_at(shown.len().min(SHOWN));
    let rows = named.iter().map(|revision| row(revision, pods_of(revision), observed, now));
    let mut rows: Vec<_> = rows.chain(unknown(&unattributed, observed, now)).collect();
    fit(&mut rows, width, &[(NAME, MIN_NAME_WIDTH)], Line::shortened_to);
    let rows = aligned(rows);
    let groups = named.iter().map(|revision| pods_of(revision)).chain([unattributed.as_slice()]);
    let groups: Vec<_> = if shows_pods { groups.collect() } else { Vec::new() };
    let mut pod_lines = pod_lines(&groups, observed, now).into_iter().chain(std::iter::repeat_with(Vec::new));
    let mut lines = Vec::new();
    for row in rows {
        lines.push(row);
        lines.extend(pod_lines.next().unwrap_or_default());
    }
    if !rest.is_empty() {
        let count: usize = rest.iter().map(|revision| pods_of(revision).len()).sum();
        let others = format!("  and {} on {} other revisions", pods(count), rest.len());
        lines.push(Line::of(others));
    }
    lines
}

/// Returns the lines of the pods of each group: name, node, stage and restarts, in columns across all groups.
fn pod_lines(groups: &[&[&Pod]], observed: &Observation, now: Timestamp) -> Vec<Vec<Line>> {
    let min_ready_seconds = original_min_ready_seconds(&observed.workload);
    let row = |pod: &&Pod| {
        let stage = PodStage::of(pod, min_ready_seconds, now);
        let restarts: i64 = pod.containers.iter().map(|container| container.restarts).sum();
        let restarts = if restarts > 0 { plural(restarts, "restart") } else { String::new() };
        vec![
            Line::of(format!("    {}", pod.name)),
            Line::of(&pod.node),
            Line::styled(style(stage), stage.word()),
            Line::of(restarts),
        ]
    };
    let mut shown: Vec<Vec<&Pod>> = groups.iter().map(|pods| pods.to_vec()).collect();
    for group in &mut shown {
        group.sort_by(|one, other| one.name.cmp(&other.name));
        group.truncate(SHOWN_PODS);
    }
    let mut rows = aligned(shown.iter().flatten().map(row).collect()).into_iter();
    let lines = shown.iter().zip(groups).map(|(shown, all)| {
        let more = all.len() - shown.len();
        let more = (more > 0).then(|| Line::of(format!("    and {more} more pods")));
        rows.by_ref().take(shown.len()).chain(more).collect()
    });
    lines.collect()
}

/// Returns the revision of a complete rollout, and its row from the controller's counters. The observed pods may be older. None for
/// a Job, whose pods have ended.
fn at_the_end<'o>(target: &FollowedTarget, observed: &'o Observation) -> Option<(&'o Revision, Vec<Line>)> {
    let is_complete = target.result().is_some_and(|result| result.outcome == Outcome::Reached);
    let counts = observed.workload.counts();
    let has_ended = observed.workload.kind().runs_to_completion();
    let new = observed.revisions.current().filter(|_| is_complete && !has_ended && counts.outdated() == 0)?;
    let (total, ready) = (usize::try_from(counts.total).ok()?, format!("{} ready", counts.ready));
    let words = Line::styled(style(PodStage::Ready), ready);
    Some((new, vec![number(new, true), Line::of(&new.name), Line::of(pods(total)), words]))
}

/// Returns the cells of a revision: its number, the object that stores it, its pod count, and the stages of its pods.
fn row(revision: &Revision, some: &[&Pod], observed: &Observation, now: Timestamp) -> Vec<Line> {
    let (count, words) = match &observed.pods {
        Some(_) => in_words(some, observed, now),
        // Listing pods is forbidden.
        None => match revision.replica_set_counts.pods {
            PodCount { total: 0, .. } => (String::new(), Line::default()),
            PodCount { ready, total } => (pods(total), Line::of(format!("{ready} ready"))),
        },
    };
    let is_current = observed.revisions.is_current(revision);
    let has_number = observed.workload.kind().read_only().is_none();
    let number = if has_number { number(revision, is_current) } else { Line::of("  ") };
    vec![number, Line::of(&revision.name), Line::of(count), words]
}

/// Returns the cell of a revision's number; `-` for another revision than the current one that never gets a number, such as a
/// ReplicaSet that a user created.
fn number(revision: &Revision, is_current: bool) -> Line {
    let is_numbered = is_current || revision.number.known().is_some();
    Line::of(if is_numbered { format!("  {}", short_label(revision)) } else { "  -".to_owned() })
}

/// Returns the number of a current revision, or `new` before it has one.
pub(super) fn short_label(revision: &Revision) -> String {
    revision.number.known().map_or_else(|| "new".to_owned(), |number| number.to_string())
}

/// Returns the row for pods whose revision was deleted or cannot be read.
fn unknown(unattributed: &[&Pod], observed: &Observation, now: Timestamp) -> Option<Vec<Line>> {
    unattributed.iter().any(|pod| !pod.has_ended()).then(|| {
        let (count, words) = in_words(unattributed, observed, now);
        vec![Line::of("  ?"), Line::of("an unknown revision"), Line::of(count), words]
    })
}

/// Returns `6 pods` and `5 ready, 1 starting`. Terminating and finished pods are not counted, as in `history`.
fn in_words(some: &[&Pod], observed: &Observation, now: Timestamp) -> (String, Line) {
    let tally = tally(some.iter().copied(), original_min_ready_seconds(&observed.workload), now);
    let count: usize = tally.iter().filter(|(stage, _)| stage.counts()).map(|(_, count)| count).sum();
    let words = tally.iter().enumerate().fold(Line::default(), |line, (index, (stage, count))| {
        let comma = if index == 0 { "" } else { ", " };
        line.with(Style::Plain, comma).with(style(*stage), format!("{count} {}", stage.word()))
    });
    (pods(count), words)
}

fn style(stage: PodStage) -> Style {
    match stage {
        PodStage::Ready => Style::Good,
        PodStage::Settling | PodStage::UpdatingInPlace | PodStage::Starting => Style::Plain,
        PodStage::Unscheduled => Style::Warning,
        PodStage::Failing => Style::Bad,
        PodStage::Terminating | PodStage::Ended => Style::Dim,
    }
}
