//! The rollouts of a namespace or a cluster, trouble first.

mod available;
mod since;

use std::cmp::Ordering;

use k8s_openapi::jiff::Timestamp;

use self::available::available;
use self::since::since;
use crate::model::change::hold::next_change_hold;
use crate::model::status::cause::{Cause, causes};
use crate::model::status::observation::Observation;
use crate::model::status::serving::is_outage;
use crate::model::status::verdict::verdict;
use crate::model::text::plural::plural;
use crate::model::workload::Workload;
use crate::model::workload::counts::Counts;
use crate::model::workload::verdict::{RolloutState, Verdict};

/// One rollout of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedRollout {
    /// The workload.
    pub workload: Workload,
    /// The number of the current revision; none while the live template has no revision, or no number.
    pub revision: Option<i64>,
    /// The name of the current revision.
    pub revision_name: Option<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// The counters of its controller.
    pub counts: Counts,
    /// The available pods, by its own `minReadySeconds`; none if nothing counts them.
    pub available: Option<i64>,
    /// Whether pods are wanted and none serves.
    pub is_outage: bool,
    /// Why it does not progress, most important first.
    pub causes: Vec<Cause>,
    /// Why the next change will be held although the rollout is complete, with the command that ends the hold.
    pub next_change_hold: Option<String>,
    /// When this state began; none if no timestamp shows it.
    pub since: Option<Timestamp>,
    /// The types that could not be read.
    pub unknown: Vec<&'static str>,
}

/// The states in the order of a list: trouble first.
const ORDER: [RolloutState; 6] = [
    RolloutState::Failed,
    RolloutState::Progressing,
    RolloutState::Paused,
    RolloutState::Held,
    RolloutState::Unobserved,
    RolloutState::Complete,
];

impl ListedRollout {
    /// Evaluates an observation. `now` is the server's time.
    #[must_use]
    pub fn of(observed: &Observation, now: Timestamp) -> Self {
        let verdict = verdict(observed);
        let current = observed.revisions.current();
        let is_complete = verdict.state == RolloutState::Complete;
        Self {
            revision: current.and_then(|current| current.number.known()),
            revision_name: current.map(|current| current.name.clone()),
            counts: Counts::of(&observed.workload),
            available: available(observed, now),
            is_outage: is_outage(observed, verdict.state),
            causes: causes(observed, now),
            next_change_hold: next_change_hold(&observed.workload).filter(|_| is_complete),
            since: since(observed, verdict.state),
            unknown: observed.unread_types(verdict.state),
            workload: observed.workload.clone(),
            verdict,
        }
    }

    /// Whether another evaluation of the same rollout has the same row, apart from the time.
    #[must_use]
    pub fn has_same_row(&self, other: &Self) -> bool {
        let facts =
            |one: &Self| (one.revision, one.revision_name.clone(), one.state(), one.counts, one.available);
        let causes = |one: &Self| {
            one.causes.iter().map(|cause| (cause.id, cause.container.clone())).collect::<Vec<_>>()
        };
        self.next_change_hold == other.next_change_hold
            && facts(self) == facts(other)
            && causes(self) == causes(other)
    }

    /// Returns the state.
    #[must_use]
    pub fn state(&self) -> RolloutState {
        self.verdict.state
    }

    /// Returns how many outdated pods a partition keeps although the rollout is complete.
    #[must_use]
    pub fn held_pods(&self) -> i64 {
        let is_held =
            self.state() == RolloutState::Complete && self.causes.iter().any(|one| one.id.is_hold());
        if is_held { self.counts.outdated() } else { 0 }
    }

    /// Whether it is in one of these states. [`RolloutState::Held`] includes complete rollouts with held pods.
    #[must_use]
    pub fn is_in(&self, states: &[RolloutState]) -> bool {
        states.contains(&self.state()) || (self.held_pods() > 0 && states.contains(&RolloutState::Held))
    }

    /// Whether it has a cause other than a hold.
    fn has_problem(&self) -> bool {
        self.causes.iter().any(|cause| !cause.id.is_hold())
    }

    /// Returns its place in the list: failed, progressing with a cause, progressing, held, unobserved, complete with held
    /// pods, complete.
    fn rank(&self) -> u8 {
        match self.state() {
            RolloutState::Failed => 0,
            RolloutState::Progressing if self.has_problem() => 1,
            RolloutState::Progressing => 2,
            RolloutState::Paused | RolloutState::Held => 3,
            RolloutState::Unobserved => 4,
            RolloutState::Complete if self.held_pods() > 0 => 5,
            RolloutState::Complete => 6,
        }
    }

    /// Compares two rollouts by their rank, then by how long they are in their state, then by their names.
    fn order(&self, other: &Self) -> Ordering {
        // An unknown time comes last.
        let time = |one: &Self| (one.since.is_none(), one.since);
        let name = |one: &Self| (one.workload.object().namespace().to_owned(), one.workload.target());
        let by_time = (self.rank(), time(self)).cmp(&(other.rank(), time(other)));
        by_time.then_with(|| name(self).cmp(&name(other)))
    }
}

/// Sorts rollouts: trouble first, and within that the longest first.
pub fn sort(rollouts: &mut [ListedRollout]) {
    rollouts.sort_by(ListedRollout::order);
}

/// The number of rollouts in each state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateCounts {
    states: Vec<(RolloutState, usize)>,
    /// How many of the complete ones have held pods.
    with_held_pods: usize,
}

impl StateCounts {
    /// Counts rollouts.
    #[must_use]
    pub fn of(rollouts: &[ListedRollout]) -> Self {
        Self::of_each(rollouts)
    }

    /// Counts rollouts one by one.
    pub fn of_each<'a>(rollouts: impl IntoIterator<Item = &'a ListedRollout>) -> Self {
        let mut counts = ORDER.map(|state| (state, 0));
        let mut with_held_pods = 0;
        for rollout in rollouts {
            with_held_pods += usize::from(rollout.held_pods() > 0);
            for (state, count) in &mut counts {
                *count += usize::from(*state == rollout.state());
            }
        }
        Self { states: counts.into(), with_held_pods }
    }

    /// Iterates over the states that occur, trouble first.
    pub fn iter(&self) -> impl Iterator<Item = (RolloutState, usize)> {
        self.states.iter().copied().filter(|(_, count)| *count > 0)
    }

    /// Returns `12 workloads: 1 failed, 11 complete`.
    #[must_use]
    pub fn words(&self) -> String {
        let all: usize = self.iter().map(|(_, count)| count).sum();
        let (states, workloads) = (self.states(), plural(all, "workload"));
        if states.is_empty() { workloads } else { format!("{workloads}: {states}") }
    }

    /// Returns `1 failed, 11 complete`, or `1 failed, 11 complete (2 with held pods)`.
    #[must_use]
    pub fn states(&self) -> String {
        let states: Vec<_> = self.iter().map(|(state, count)| format!("{count} {}", state.word())).collect();
        match self.with_held_pods {
            0 => states.join(", "),
            held => format!("{} ({held} with held pods)", states.join(", ")), // complete is the last state
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api::object::Object;
    use crate::model::revision::Revisions;
    use crate::model::status::cause::CauseId;
    use serde_json::json;

    fn rollout(name: &str, state: RolloutState, since: Option<i64>, cause: Option<CauseId>) -> ListedRollout {
        let object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "n"}});
        let workload = Workload::of(Object::read(object).unwrap()).unwrap();
        ListedRollout {
            revision: None,
            revision_name: None,
            verdict: Verdict { state, line: String::new() },
            counts: Counts { total: 2, ..Counts::of(&workload) },
            available: None,
            is_outage: false,
            causes: cause.map(Cause::sample).into_iter().collect(),
            next_change_hold: None,
            since: since.map(|seconds| Timestamp::from_second(seconds).unwrap()),
            unknown: Vec::new(),
            workload,
        }
    }

    #[test]
    fn trouble_comes_first_and_then_the_longest() {
        use RolloutState::{Complete, Failed, Held, Paused, Progressing, Unobserved};
        let mut rollouts = [
            rollout("complete-new", Complete, Some(9), None),
            rollout("unobserved", Unobserved, None, None),
            rollout("complete-old", Complete, Some(1), None),
            rollout("held", Held, Some(3), Some(CauseId::Partition)),
            rollout("progressing-held-back", Progressing, Some(8), Some(CauseId::Partition)),
            rollout("progressing-unknown", Progressing, None, None),
            rollout("paused", Paused, Some(2), Some(CauseId::Paused)),
            rollout("crashing", Progressing, Some(9), Some(CauseId::CrashLoop)),
            rollout("complete-with-held-pods", Complete, Some(9), Some(CauseId::Partition)),
            rollout("failed-b", Failed, Some(9), None),
            rollout("failed-a", Failed, Some(9), None),
        ];
        sort(&mut rollouts);
        let names: Vec<_> = rollouts.iter().map(|rollout| rollout.workload.name()).collect();
        assert_eq!(
            names,
            [
                "failed-a",
                "failed-b",
                "crashing",
                "progressing-held-back",
                "progressing-unknown",
                "paused",
                "held",
                "unobserved",
                "complete-with-held-pods",
                "complete-old",
                "complete-new"
            ]
        );
        assert_eq!(
            StateCounts::of(&rollouts).words(),
            "11 workloads: 2 failed, 3 progressing, 1 paused, 1 held, 1 unobserved, 3 complete (1 with held pods)"
        );
        assert_eq!(StateCounts::of(&[]).words(), "0 workloads");
        let shown_as_held = rollouts.iter().filter(|one| one.is_in(&[Held, Paused]));
        let names: Vec<_> = shown_as_held.map(|rollout| rollout.workload.name()).collect();
        assert_eq!(names, ["paused", "held", "complete-with-held-pods"]);
        assert_eq!(StateCounts::of(&rollouts[..1]).words(), "1 workload: 1 failed");
    }

    #[test]
    fn a_rollout_with_another_cause_looks_different() {
        let with = |cause| rollout("w", RolloutState::Progressing, None, Some(cause));
        assert!(with(CauseId::CrashLoop).has_same_row(&with(CauseId::CrashLoop)));
        assert!(!with(CauseId::CrashLoop).has_same_row(&with(CauseId::ImageNotFound)));
        let complete = || rollout("w", RolloutState::Complete, None, None);
        let paused = ListedRollout { next_change_hold: Some("paused".to_owned()), ..complete() };
        assert!(!complete().has_same_row(&paused));
    }

    #[test]
    fn only_a_complete_rollout_has_a_hold_of_the_next_change() {
        for (updated, is_held) in [(1, true), (0, false)] {
            let deployment = json!({"kind": "Deployment", "metadata": {"name": "w"},
                "spec": {"paused": true, "replicas": 1, "template": {}},
                "status": {"replicas": 1, "updatedReplicas": updated, "availableReplicas": 1}});
            let workload = Workload::of_json(&deployment).unwrap();
            let revisions = Revisions::of(&workload, []);
            let observed = Observation { workload, revisions, pods: None, events: None };
            let listed = ListedRollout::of(&observed, Timestamp::UNIX_EPOCH);
            assert_eq!(listed.next_change_hold.is_some(), is_held, "{:?}", listed.state());
        }
    }
}
