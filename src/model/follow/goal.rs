//! What can be waited for.

use crate::model::observed::Observed;
use crate::model::pod::Pod;
use crate::model::strategy;
use crate::model::verdict::{Counts, State, Verdict};
use crate::model::workload::Workload;

/// What can be waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// What kubectl calls success: a partition that let pods update is one, whatever it holds back.
    #[default]
    Success,
    /// As many pods as wanted are of the new revision, ready or not.
    Updated,
    /// As many pods as wanted are of the new revision and available; old ones may still be there.
    Available,
    /// The same, and no pod of an old revision is counted any more.
    Complete,
    /// The same, and no pod of an old revision is there any more, not even on its way out.
    OldGone,
}

/// How far a goal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Distance {
    /// It is reached.
    Reached,
    /// It will not be reached before somebody ends a hold.
    Held,
    /// It is not reached yet.
    Ahead,
    /// Nobody can tell: pods would have to be seen.
    Unknown,
}

impl Goal {
    /// Its name on the command line and in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Updated => "updated",
            Self::Available => "available",
            Self::Complete => "complete",
            Self::OldGone => "old-gone",
        }
    }

    /// How a workload stands as far as this is concerned, by one look: where nobody follows it, what is
    /// not reached is not there yet.
    #[must_use]
    pub fn state(self, observed: &Observed, verdict: &Verdict) -> State {
        match self.distance(observed, verdict) {
            _ if self == Self::Success => verdict.state,
            Distance::Reached => State::Complete,
            Distance::Held if verdict.state == State::Complete => State::Held,
            Distance::Ahead | Distance::Unknown if verdict.state == State::Complete => State::Progressing,
            Distance::Held | Distance::Ahead | Distance::Unknown => verdict.state,
        }
    }

    /// How far a workload is from it.
    ///
    /// Where controllers count old and new pods together, no more is taken for granted than must be
    /// so: the workload is one fact, and its pods, which are another, may be older.
    pub(super) fn distance(self, observed: &Observed, verdict: &Verdict) -> Distance {
        if matches!(verdict.state, State::Unobserved | State::Failed) {
            return Distance::Ahead;
        }
        let is_success = verdict.state == State::Complete;
        let counts = Counts::of(&observed.workload);
        let reached = match self {
            Self::Success => is_success,
            Self::Updated => is_updated(&observed.workload, counts),
            Self::Available => is_updated(&observed.workload, counts) && is_available(counts),
            Self::Complete => is_success && is_all_new(&observed.workload, counts),
            Self::OldGone if is_success && is_all_new(&observed.workload, counts) => {
                match old_is_gone(observed) {
                    Some(gone) => gone,
                    None => return Distance::Unknown,
                }
            }
            Self::OldGone => false,
        };
        if reached {
            return Distance::Reached;
        }
        let held = matches!(verdict.state, State::Held | State::Paused);
        let held_back = is_success && strategy::partition(&observed.workload) > 0 && counts.outdated() > 0;
        if held || held_back { Distance::Held } else { Distance::Ahead }
    }
}

/// Whether every pod that may be updated is.
fn is_updated(workload: &Workload, counts: Counts) -> bool {
    let released = counts.wanted - strategy::partition(workload).min(counts.wanted);
    counts.updated >= released && (released > 0 || counts.outdated() == 0)
}

/// Whether the updated pods are available even if every outdated one is too: only then it is certain.
fn is_available(counts: Counts) -> bool {
    let available = counts.available.unwrap_or(counts.ready);
    available - counts.outdated() >= counts.updated.min(counts.wanted)
}

/// Whether all pods that the controller counts are of the new revision, and as many as wanted.
fn is_all_new(workload: &Workload, counts: Counts) -> bool {
    let surplus = matches!(workload, Workload::StatefulSet(_)) && counts.total > counts.wanted;
    counts.outdated() == 0 && counts.updated >= counts.wanted && !surplus
}

/// Whether no pod of an old revision is there any more; none when nobody can tell. Pods that were seen
/// too early only make it later: those are still of the old revision.
fn old_is_gone(observed: &Observed) -> Option<bool> {
    let running = observed.revisions.running();
    let is_new = |pod: &Pod| running.is_some_and(|running| observed.workload.runs(pod, running));
    let old = |pod: &&Pod| !pod.has_ended() && (pod.terminating || !is_new(pod));
    let terminating = observed.workload.object().int("/status/terminatingReplicas");
    let seen = observed.pods.as_ref().map(|_| observed.own_pods().filter(old).count() == 0);
    match (terminating, seen) {
        (Some(terminating), Some(seen)) => Some(terminating == 0 && seen),
        (Some(terminating), None) => Some(terminating == 0),
        (None, seen) => seen,
    }
}
