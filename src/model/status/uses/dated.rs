//! The uses of the revisions of a workload, by their numbers and stamps: in which order, when each one began, and what was in
//! use before.

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use crate::api::managed_fields::{Authorship, template_changers};
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
    /// At this time: the creation of the revision.
    At(Timestamp),
    /// A return to a revision leaves no stamp on it.
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
/// A new template has a new revision. A return to an earlier template gives its revision a new number: a ReplicaSet stores
/// the numbers that it had before (`deployment.kubernetes.io/revision-history`). A ControllerRevision does not, so it is a
/// return if a revision with a lower number is newer, and if an undo was [taken back](taken_back).
pub(super) fn dated_uses(observed: &Observation) -> Vec<RevisionUse<'_>> {
    let mut uses: Vec<RevisionUse<'_>> = Vec::new();
    let mut newest: Option<Timestamp> = None; // the creation of the newest revision used so far
    for (number, was, revision) in numbered(observed) {
        let Some(created) = revision.created else { continue };
        let is_first = was.is_none() && newest.is_none_or(|newest| created >= newest);
        if was.is_none() && !is_first {
            let index = index_of_first_use(&uses, created);
            uses.insert(index, new_use(revision, None, None, UseStart::At(created)));
        }
        let start = match newest {
            Some(earliest) if !is_first => UseStart::Between { earliest, latest: None },
            _ if is_first => UseStart::At(created),
            _ => UseStart::Between { earliest: created, latest: None },
        };
        uses.push(new_use(revision, number, was, start));
        newest = newest.max(Some(created));
    }
    if taken_back(observed, &uses) {
        insert_first_uses(&mut uses);
    }
    number_first_uses(&mut uses);
    link(&mut uses, observed.workload.kind().revisions().is_synced());
    if let Some(RevisionUse { start: UseStart::Between { earliest, latest }, revision, .. }) = uses.last_mut()
    {
        *latest = in_use_at(observed, revision, *earliest);
    }
    uses
}

fn new_use(revision: &Revision, number: Option<i64>, was: Option<i64>, start: UseStart) -> RevisionUse<'_> {
    let is_return = matches!(start, UseStart::Between { .. });
    RevisionUse { revision, number, was, is_return, before: None, start, end: None, by: None }
}

/// Returns the index of the first use of a revision, whose number then is not stored: where a number is missing, between the
/// revisions that are older and those that are newer.
fn index_of_first_use(uses: &[RevisionUse<'_>], created: Timestamp) -> usize {
    let is_older = |one: &RevisionUse<'_>| matches!(one.start, UseStart::At(time) if time <= created);
    let start = uses.iter().rposition(is_older).map_or(0, |last| last + 1);
    let is_next = |index: &usize| {
        let [before, one] = [index.saturating_sub(1), *index].map(|index| &uses[index]);
        matches!(one.start, UseStart::At(_)) || skips_numbers(before.number, one.number)
    };
    (start..uses.len()).find(is_next).unwrap_or(uses.len())
}

/// Whether the last use is a return to the newest revision, as after an undo that was taken back. Then the last two numbers are in
/// the order of creation, as if there had been no return, but the numbers of their first uses before them are missing: a limit
/// of the history removes older ones. The client that changed what the last two differ in wrote after the controller had created the
/// revision, and before every pod of it.
fn taken_back(observed: &Observation, uses: &[RevisionUse<'_>]) -> bool {
    let [.., before, last] = uses else { return false };
    let (UseStart::At(created), Some(number)) = (last.start, last.number) else { return false };
    let is_number_missing =
        usize::try_from(number).is_ok_and(|number| number >= observed.revisions.len() + 2);
    let stores_numbers = observed.workload.kind().revisions().is_synced();
    let is_last = observed.revisions.is_current(last.revision) && follows(before.number, last.number);
    let third = uses.iter().rev().nth(2).and_then(|one| one.number);
    // Of a revision that is a return already, the first use was elsewhere.
    let least_gap = if before.is_return { 2 } else { 3 };
    let is_gap = third.zip(before.number).is_none_or(|(third, one)| one.saturating_sub(third) >= least_gap);
    if stores_numbers || !is_number_missing || !is_last || !is_gap {
        return false;
    }
    let changers = changers_in(observed, &RevisionUse { before: Some(before.revision), ..last.clone() });
    let Some(written) = changers.into_iter().map(|author| author.time).max() else { return false };
    let mut updated = observed.pods_of(last.revision).map(Pod::updated_at).peekable();
    written.duration_since(created) > CONTROLLER_DELAY
        && updated.peek().is_some()
        && updated.all(|updated| updated.is_some_and(|updated| updated >= written))
}

/// Inserts the first uses of the last two revisions, and makes their last uses returns.
fn insert_first_uses(uses: &mut Vec<RevisionUse<'_>>) {
    let at = uses.len().saturating_sub(2);
    let Some(earliest) = uses.last().map(|last| last.start.earliest()) else { return };
    let mut first = Vec::new();
    for one in uses.iter_mut().skip(at) {
        first.extend((!one.is_return).then(|| new_use(one.revision, None, None, one.start)));
        (one.start, one.is_return) = (UseStart::Between { earliest, latest: None }, true);
    }
    uses.splice(at..at, first);
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

/// Sets what was in use before each use, what ended it, and the latest time of its start.
fn link(uses: &mut [RevisionUse<'_>], stores_numbers: bool) {
    let mut next: Option<(bool, Option<Timestamp>)> = None; // of the use after it
    for one in uses.iter_mut().rev() {
        one.end = next.map(|(is_return, _)| if is_return { UseEnd::Undone } else { UseEnd::Replaced });
        let after = next.and_then(|(_, latest)| latest);
        let known = match &mut one.start {
            UseStart::At(time) => Some(*time),
            UseStart::Between { latest, .. } => {
                *latest = after;
                after
            }
        };
        next = Some((one.is_return, known));
    }
    let stored: Vec<_> = uses.iter().filter_map(|one| Some((one.number?, one.revision))).collect();
    let mut before: Option<(&Revision, Option<i64>)> = None; // with its number, or the one that it must have had
    for one in uses {
        let known = before.filter(|(_, number)| follows(*number, one.number)).map(|(before, _)| before);
        let known = known.or_else(|| renumbered(one, &stored).filter(|_| !stores_numbers));
        one.before = known.filter(|before| before.name != one.revision.name);
        let next = before.and_then(|(_, number)| number?.checked_add(1));
        before = Some((one.revision, one.number.or(next)));
    }
}

/// Returns the revision before a use, where its controller has given that another number: by a return that has the number
/// before, or by a later return, if only one revision can have had the missing number. A limit of the history removes the
/// revisions with the lowest numbers, so that a number above a stored one is missing only because of a return.
fn renumbered<'a>(one: &RevisionUse<'_>, stored: &[(i64, &'a Revision)]) -> Option<&'a Revision> {
    let number = one.number?;
    let missing = number.checked_sub(1)?;
    if let Some((_, before)) = stored.iter().find(|(number, _)| *number == missing) {
        return Some(before);
    }
    let existed = |revision: &Revision| one.is_return || revision.created <= one.revision.created;
    let mut later = stored.iter().filter(|(later, revision)| *later > number && existed(revision));
    let (_, only) = later.next().filter(|_| later.next().is_none())?;
    stored.iter().any(|(number, _)| *number < missing).then_some(*only)
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

/// Returns the clients that own what a use changed.
pub(super) fn changers_in(observed: &Observation, one: &RevisionUse<'_>) -> Vec<Authorship> {
    let Some(before) = one.before else { return Vec::new() };
    let [before, after] = [before, one.revision].map(|revision| revision.template().without_hash_labels());
    template_changers(observed.workload.object(), &before, &after)
}

/// How long a controller may take to create the revision of a changed template. The stamps have whole seconds, so that a
/// controller that needs less than a second can be two seconds later.
pub(super) const CONTROLLER_DELAY: SignedDuration = SignedDuration::from_secs(2);
