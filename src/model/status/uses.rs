//! The times at which a workload began to use each of its revisions, oldest first.

use k8s_openapi::jiff::Timestamp;

use crate::model::api::pod::Pod;
use crate::model::kind::verdict::RolloutState;
use crate::model::observation::Observation;
use crate::model::revision::Revision;
use crate::model::status::verdict;

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
    /// The revision in use before; none if it is not known, because the controller has deleted it, or if there was none.
    pub before: Option<&'a Revision>,
    /// When it began.
    pub start: UseStart,
    /// What ended it; none for the last use.
    pub end: Option<UseEnd>,
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

/// Returns the uses of the kept revisions, oldest first. Revisions without a time of creation are left out.
///
/// A new template has a new revision. A return to an earlier template gives its revision a new number: a ReplicaSet stores
/// the numbers that it had before (`deployment.kubernetes.io/revision-history`). A ControllerRevision does not, so it is a
/// return if a revision with a lower number is newer.
#[must_use]
pub fn uses(observed: &Observation) -> Vec<RevisionUse<'_>> {
    let mut uses: Vec<RevisionUse<'_>> = Vec::new();
    let mut newest: Option<Timestamp> = None; // the creation of the newest revision used so far
    for (number, was, revision) in numbered(observed) {
        let Some(created) = revision.created else { continue };
        let is_first = was.is_none() && newest.is_none_or(|newest| created >= newest);
        if was.is_none() && !is_first {
            // Its number in its first use is not stored.
            let later = |one: &RevisionUse<'_>| matches!(one.start, UseStart::At(time) if time > created);
            let index = uses.iter().position(later).unwrap_or(uses.len());
            uses.insert(index, a_use(revision, None, None, UseStart::At(created)));
        }
        let start = match newest {
            Some(earliest) if !is_first => UseStart::Between { earliest, latest: None },
            _ if is_first => UseStart::At(created),
            _ => UseStart::Between { earliest: created, latest: None },
        };
        uses.push(a_use(revision, number, was, start));
        newest = newest.max(Some(created));
    }
    link(&mut uses);
    if let Some(RevisionUse { start: UseStart::Between { earliest, latest }, revision, .. }) = uses.last_mut()
    {
        *latest = in_use_at(observed, revision, *earliest);
    }
    uses
}

fn a_use(revision: &Revision, number: Option<i64>, was: Option<i64>, start: UseStart) -> RevisionUse<'_> {
    let is_return = matches!(start, UseStart::Between { .. });
    RevisionUse { revision, number, was, is_return, before: None, start, end: None }
}

/// Returns each number of each revision, ascending, with the number of that revision before it.
fn numbered(observed: &Observation) -> Vec<(Option<i64>, Option<i64>, &Revision)> {
    let mut numbered = Vec::new();
    for revision in &observed.revisions {
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
fn link(uses: &mut [RevisionUse<'_>]) {
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
    for index in 1..uses.len() {
        let before = uses.get(index - 1).map(|before| before.revision);
        if let Some(one) = uses.get_mut(index) {
            one.before = before.filter(|before| before.name != one.revision.name);
        }
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
