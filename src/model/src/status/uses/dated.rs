//! The uses of the revisions of a workload, by their numbers and the stamps of their objects: in which order, when each one
//! began, and what was in use before.

use std::collections::HashMap;

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use crate::api::pod::Pod;
use crate::kind::verdict::RolloutState;
use crate::observation::Observation;
use crate::revision::Revision;
use crate::status::verdict;

/// One use of a revision: from the moment when the template of the workload became that of the revision.
#[derive(Clone, Debug)]
pub struct RevisionUse<'a> {
    /// The revision.
    pub revision: &'a Revision,
    /// The number that the revision had in this use; none if no object stores it.
    pub number: Option<i64>,
    /// The number that the revision had before a return to it, if it is known.
    pub was: Option<i64>,
    /// Whether the revision was in use before.
    pub is_return: bool,
    /// The revision in use before; none if it is not known, because the controller has deleted it and its number is missing,
    /// or if there was none.
    pub before: Option<&'a Revision>,
    /// When it began.
    pub start: UseStart,
    /// What ended it; none for the last use.
    pub end: Option<UseEnd>,
    /// The field manager that began it; none if no stamp fits or several do.
    pub by: Option<String>,
}

/// When a use of a revision began, by the timestamps of its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UseStart {
    /// At this time: the creation of the revision, the controller's write of its number, or the write of the client.
    At(Timestamp),
    /// No stamp shows a return to a ReplicaSet.
    Between {
        /// Not before the creation of the revision that it replaced.
        earliest: Timestamp,
        /// Not after this time, if an object shows it.
        latest: Option<Timestamp>,
    },
}

impl UseStart {
    /// Returns the earliest time at which it can have begun.
    #[must_use]
    pub fn earliest(self) -> Timestamp {
        match self {
            Self::At(time) => time,
            Self::Between { earliest, .. } => earliest,
        }
    }

    /// Returns the latest time at which it can have begun, or the earliest if no object shows it.
    #[must_use]
    pub fn latest(self) -> Timestamp {
        match self {
            Self::At(time) => time,
            Self::Between { earliest, latest } => latest.unwrap_or(earliest),
        }
    }

    /// Whether it can have begun at or after a time.
    #[must_use]
    pub fn may_be_since(self, since: Timestamp) -> bool {
        match self {
            Self::At(time) => time >= since,
            Self::Between { latest, .. } => latest.is_none_or(|latest| latest >= since),
        }
    }
}

/// What ended the use of a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UseEnd {
    /// The workload returned to an earlier revision.
    Undone,
    /// A new revision replaced it.
    Replaced,
}

/// Returns the uses of the kept revisions without their authors, oldest first. Revisions without a time of creation are left out.
///
/// A new template has a new revision. A return to an earlier template gives its revision a new number. A ReplicaSet stores the
/// numbers that it had before (`deployment.kubernetes.io/revision-history`). A ControllerRevision does not, but its managed
/// fields have the time when the controller wrote the number. Without them it is a return if a revision with a lower number is
/// newer.
pub(super) fn dated_uses(observed: &Observation) -> Vec<RevisionUse<'_>> {
    let (mut uses, mut first_uses): (Vec<RevisionUse<'_>>, Vec<_>) = (Vec::new(), Vec::new());
    let mut newest: Option<Timestamp> = None; // no later use began before
    for (number, was, revision) in numbered(observed) {
        let Some(created) = revision.created else { continue };
        let renumbered = renumbered(revision, observed).filter(|_| number == revision.number.known());
        let is_return =
            was.is_some() || renumbered.is_some() || newest.is_some_and(|newest| created < newest);
        if is_return && was.is_none() {
            first_uses.push(new_use(revision, None, None, UseStart::At(created)));
        }
        let start = match renumbered {
            Some(time) => UseStart::At(time),
            None if is_return => UseStart::Between { earliest: newest.unwrap_or(created), latest: None },
            None => UseStart::At(created),
        };
        uses.push(RevisionUse { is_return, ..new_use(revision, number, was, start) });
        newest = newest.max(Some(start.earliest()));
    }
    limit(&mut uses, observed);
    let mut all = first_uses;
    all.append(&mut uses);
    all.sort_by_key(|one| one.start.earliest());
    number_first_uses(&mut all);
    link(&mut all);
    all
}

/// Returns when the controller gave a ControllerRevision its present number at a return to it.
///
/// Its stamp is that of any write of the controller. An adoption, after `kubectl delete --cascade=orphan`, writes to all
/// revisions within a moment and leaves their numbers. The lowest number of a return is 3.
fn renumbered(revision: &Revision, observed: &Observation) -> Option<Timestamp> {
    let later = |one: &Revision| {
        let is_later = |time: &Timestamp| {
            one.created.is_some_and(|created| time.duration_since(created) > CONTROLLER_DELAY)
        };
        one.numbered.filter(is_later)
    };
    let time = later(revision).filter(|_| revision.number.known().is_some_and(|number| number > 2))?;
    let is_written_too = |other: &Revision| {
        other.name != revision.name
            && later(other).is_some_and(|other| other.duration_since(time).abs() <= CONTROLLER_DELAY)
    };
    (!observed.revisions.iter().any(is_written_too)).then_some(time)
}

fn new_use(revision: &Revision, number: Option<i64>, was: Option<i64>, start: UseStart) -> RevisionUse<'_> {
    RevisionUse { revision, number, was, is_return: false, before: None, start, end: None, by: None }
}

/// Sets the latest time at which each return can have begun.
fn limit(uses: &mut [RevisionUse<'_>], observed: &Observation) {
    let mut next: Option<Timestamp> = None; // the latest start of the use after it
    for one in uses.iter_mut().rev() {
        match &mut one.start {
            UseStart::At(time) => next = Some(*time),
            UseStart::Between { latest, .. } => *latest = next,
        }
    }
    if let Some(RevisionUse { start: UseStart::Between { earliest, latest }, revision, .. }) = uses.last_mut()
    {
        *latest = in_use_at(observed, revision, *earliest);
    }
}

/// Numbers the oldest uses, whose revisions have later numbers, if as many numbers are missing there.
fn number_first_uses(uses: &mut [RevisionUse<'_>]) {
    let is_first = |one: &RevisionUse<'_>| one.number.is_none() && one.revision.number.known().is_some();
    let count = uses.iter().take_while(|one| is_first(one)).count();
    if uses.get(count).and_then(|next| next.number) == i64::try_from(count + 1).ok() {
        (1..).zip(uses.iter_mut().take(count)).for_each(|(number, one)| one.number = Some(number));
    }
}

/// Whether a number is the one after another, so that no revision was in use between them. A use without a number is in its
/// place.
fn follows(before: Option<i64>, after: Option<i64>) -> bool {
    after.is_none_or(|after| before.is_some_and(|before| before.checked_add(1) == Some(after)))
}

/// Whether a number between two is missing, so that a revision was in use between them.
pub(crate) fn skips_numbers(before: Option<i64>, after: Option<i64>) -> bool {
    before.zip(after).is_some_and(|(before, after)| before < after.saturating_sub(1))
}

/// Returns each number of each revision, ascending, with the number of that revision before it.
fn numbered(observed: &Observation) -> Vec<(Option<i64>, Option<i64>, &Revision)> {
    let mut numbered = Vec::new();
    for revision in observed.revisions.iter() {
        let mut was = None;
        for number in &revision.past_numbers {
            numbered.push((Some(*number), was, revision));
            was = Some(*number);
        }
        numbered.push((revision.number.known(), was, revision));
    }
    let current = observed.revisions.current();
    let is_current = |revision: &Revision| current.is_some_and(|current| current.name == revision.name);
    numbered.sort_by_key(|(number, _, revision)| (number.is_none() && is_current(revision), *number));
    // The controller has not renumbered the revision yet.
    if let (Some(current), Some((.., last))) = (current, numbered.last())
        && last.name != current.name
    {
        numbered.push((None, current.number.known(), current));
    }
    numbered
}

/// Sets what was in use before each use, and what ended it.
fn link(uses: &mut [RevisionUse<'_>]) {
    let mut next: Option<bool> = None; // whether the use after it is a return
    for one in uses.iter_mut().rev() {
        one.end = next.map(|is_return| if is_return { UseEnd::Undone } else { UseEnd::Replaced });
        next = Some(one.is_return);
    }
    let stored: HashMap<_, _> = uses.iter().filter_map(|one| Some((one.number?, one.revision))).collect();
    let mut before: Option<(&Revision, Option<i64>)> = None; // with its number, or the one that it must have had
    for one in uses {
        let known = before.filter(|(_, number)| follows(*number, one.number)).map(|(before, _)| before);
        let known = known.or_else(|| stored.get(&one.number?.checked_sub(1)?).copied());
        one.before = known.filter(|before| before.name != one.revision.name);
        let next = before.and_then(|(_, number)| number?.checked_add(1));
        before = Some((one.revision, one.number.or(next)));
    }
}

/// Returns a time at which the current revision was in use again, after a return to it that was not before `earliest`.
///
/// The controller of a Deployment updates `lastUpdateTime` of `Progressing` when the rollout is complete, and not when it
/// scales. A pod of the revision that was created or updated since then shows it for the other kinds.
fn in_use_at(observed: &Observation, revision: &Revision, earliest: Timestamp) -> Option<Timestamp> {
    if let Some(condition) = observed.workload.condition("Progressing") {
        let is_complete = condition.reason == "NewReplicaSetAvailable"
            && verdict(observed).state == RolloutState::Complete
            && observed.revisions.is_current(revision);
        return condition.updated.filter(|updated| is_complete && *updated >= earliest);
    }
    let updated = observed.pods_of(revision).filter_map(Pod::updated_at);
    updated.filter(|updated| *updated >= earliest).min()
}

/// How long a controller may take to create the revision of a changed template. The stamps have whole seconds, so that a
/// controller that needs less than a second can be two seconds later.
pub(super) const CONTROLLER_DELAY: SignedDuration = SignedDuration::from_secs(2);
