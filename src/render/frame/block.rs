//! All there is to show of one workload, and what of it is shown first when there is not room for all.

use std::borrow::Cow;

use super::bars::bars;
use super::causes::{self, CauseLines};
use super::head::Head;
use super::line::Line;
use super::revisions;
use crate::model::cause::Cause;
use crate::model::follow::{Moment, Outcome, Track};
use crate::model::verdict::{Counts, State};
use crate::render::status::{Company, Standing, cause_style};

/// All there is to show of one workload.
#[derive(Debug)]
pub(super) struct Block {
    /// How much it needs somebody to look at it.
    pub(super) urgency: Urgency,
    /// Everything on one line, as cells of columns.
    pub(super) folded: Vec<Line>,
    head: Vec<Line>,
    body: Vec<(Rank, Line)>,
    /// The first cause on one line, without who has it.
    trouble: Option<Line>,
}

/// How much a workload needs somebody to look at it, the most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Urgency {
    Trouble,
    UnderWay,
    Held,
    Complete,
}

/// What is left out last when there is no room: the one cause, then how far it is, then the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    FirstCause,
    Bar,
    FirstEvidence,
    NewRevision,
    Cause,
    OldRevision,
    Evidence,
}

impl Block {
    /// The block of a target at a moment, made for lines of some width.
    pub(super) fn of(track: &Track, now: Moment, company: Company, width: usize) -> Self {
        let causes = causes(track);
        let head = Head::of(track, now, company);
        let trouble = causes.first().map(in_short);
        let urgency = Urgency::of(track, &causes);
        let lines = head.lines(width);
        let folded = head.row(trouble.clone(), in_numbers(track), width);
        Self { urgency, folded, head: lines, body: body(track, &causes, now, company, width), trouble }
    }

    /// How many lines it has.
    pub(super) fn height(&self) -> usize {
        self.head.len() + self.body.len()
    }

    /// All of its lines.
    pub(super) fn lines(&self) -> impl Iterator<Item = Line> {
        self.head.iter().chain(self.body.iter().map(|(_, line)| line)).cloned()
    }

    /// As many of its lines as there is room for, those that matter most, in their order.
    pub(super) fn lines_within(&self, height: usize) -> Vec<Line> {
        let room = height.saturating_sub(self.head.len());
        let body = self.body_for(room);
        let mut ranks: Vec<(Rank, usize)> =
            body.iter().enumerate().map(|(index, (rank, _))| (*rank, index)).collect();
        ranks.sort_unstable();
        ranks.truncate(room);
        let is_kept = |index: usize| ranks.iter().any(|(_, kept)| *kept == index);
        let body = body.iter().enumerate().filter(|(index, _)| is_kept(*index));
        self.head.iter().take(height).cloned().chain(body.map(|(_, (_, line))| line.clone())).collect()
    }

    /// The lines below the first ones. Where the first cause has not room for all of its lines, it is cut
    /// to what is wrong: its beginning only tells who has it.
    fn body_for(&self, room: usize) -> Cow<'_, [(Rank, Line)]> {
        let is_first_cause = |(rank, _): &&(Rank, Line)| *rank == Rank::FirstCause;
        let Some(trouble) =
            self.trouble.as_ref().filter(|_| self.body.iter().filter(is_first_cause).count() > room)
        else {
            return Cow::Borrowed(&self.body);
        };
        let first = (Rank::FirstCause, Line::of("  ").joined_with(trouble.clone()));
        let others = self.body.iter().filter(|line| !is_first_cause(line)).cloned();
        Cow::Owned(std::iter::once(first).chain(others).collect())
    }
}

impl Urgency {
    fn of(track: &Track, causes: &[Cause]) -> Self {
        let state = track.verdict().map(|verdict| verdict.state);
        let is_broken = causes.iter().any(|cause| !cause.heals && !cause.id.is_hold());
        match track.end().map(|end| &end.outcome) {
            Some(Outcome::Reached) => Self::Complete,
            Some(Outcome::Held) => Self::Held,
            Some(Outcome::Interrupted | Outcome::Terminated) | None => match state {
                _ if is_broken => Self::Trouble,
                Some(State::Failed) => Self::Trouble,
                Some(State::Complete) => Self::Complete,
                Some(State::Paused | State::Held) => Self::Held,
                Some(State::Progressing | State::Unobserved) | None => Self::UnderWay,
            },
            Some(_) => Self::Trouble,
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Trouble => "in trouble",
            Self::UnderWay => "under way",
            Self::Held => "held",
            Self::Complete => "complete",
        }
    }
}

/// The causes that were told and stand, those that nobody will mend but somebody first. One that went
/// stands for a while, because it may come back; where all of its pods went with it, it will not.
fn causes(track: &Track) -> Vec<Cause> {
    let pods = track.observed().and_then(|observed| observed.pods.as_ref());
    let is_there = |name: &String| pods.is_none_or(|pods| pods.iter().any(|pod| pod.name == *name));
    let has_pods = |cause: &&Cause| cause.pods.is_empty() || cause.pods.iter().any(is_there);
    let mut causes: Vec<_> = track.causes().filter(has_pods).cloned().collect();
    causes.sort_by_key(|cause| (cause.heals, cause.id.is_hold()));
    causes
}

fn body(track: &Track, causes: &[Cause], now: Moment, company: Company, width: usize) -> Vec<(Rank, Line)> {
    let (Some(observed), Some(verdict)) = (track.observed(), track.verdict()) else {
        return Vec::new();
    };
    let mut body: Vec<(Rank, Line)> =
        bars(&observed.workload, verdict.state, width).into_iter().map(|bar| (Rank::Bar, bar)).collect();
    let new = if observed.revisions.running().is_some() { Rank::NewRevision } else { Rank::OldRevision };
    let ranks = std::iter::once(new).chain(std::iter::repeat(Rank::OldRevision));
    body.extend(ranks.zip(revisions::lines(track, observed, now.wall, width)));
    let (lines, more) =
        causes::lines(|cause| track.log_of(cause), &Standing { observed, verdict, causes }, company, width);
    for (index, CauseLines { cause, evidence }) in lines.into_iter().enumerate() {
        let ranks =
            if index == 0 { (Rank::FirstCause, Rank::FirstEvidence) } else { (Rank::Cause, Rank::Evidence) };
        body.extend(cause.into_iter().map(|line| (ranks.0, line)));
        body.extend(evidence.map(|evidence| (ranks.1, evidence)));
    }
    body.extend(more.map(|more| (Rank::Cause, more)));
    body
}

/// A cause without who has it: `! app: CrashLoopBackOff, exit 1`.
fn in_short(cause: &Cause) -> Line {
    let mark = crate::render::status::mark(cause);
    let container = cause.container.as_ref().map(|container| format!("{container}: ")).unwrap_or_default();
    Line::default().with(cause_style(cause), format!("{mark} {container}{}", cause.summary))
}

fn in_numbers(track: &Track) -> Line {
    if track.verdict().is_none() {
        return Line::default();
    }
    let counts = Counts::of(track.workload());
    let available = match counts.available {
        Some(available) => format!("{available} available"),
        None => format!("{} ready", counts.ready),
    };
    Line::of(format!("{}/{} updated, {available}", counts.updated, counts.wanted))
}
