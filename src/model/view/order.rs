//! The order of rollouts, trouble first, and how many are in each state.

use std::cmp::Ordering;

use super::RolloutView;
use crate::model::kind::verdict::RolloutState;
use crate::model::text::plural::plural;

/// The states in the order of a list: trouble first.
const ORDER: [RolloutState; 7] = [
    RolloutState::Failed,
    RolloutState::Stuck,
    RolloutState::Progressing,
    RolloutState::Paused,
    RolloutState::Held,
    RolloutState::Unobserved,
    RolloutState::Complete,
];

impl RolloutView {
    /// Whether it has a cause other than a hold.
    fn has_problem(&self) -> bool {
        self.causes.iter().any(|cause| !cause.id.is_hold())
    }

    /// Returns its place in the list: failed, stuck, progressing with a cause, progressing, held, unobserved, complete with held
    /// pods, complete.
    fn rank(&self) -> u8 {
        match self.state() {
            RolloutState::Failed => 0,
            RolloutState::Stuck => 1,
            RolloutState::Progressing if self.has_problem() => 2,
            RolloutState::Progressing => 3,
            RolloutState::Paused | RolloutState::Held => 4,
            RolloutState::Unobserved => 5,
            RolloutState::Complete if self.held_pods() > 0 => 6,
            RolloutState::Complete => 7,
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
pub fn sort(rollouts: &mut [RolloutView]) {
    rollouts.sort_by(RolloutView::order);
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
    pub fn of(rollouts: &[RolloutView]) -> Self {
        Self::of_each(rollouts)
    }

    /// Counts rollouts one by one.
    pub fn of_each<'a>(rollouts: impl IntoIterator<Item = &'a RolloutView>) -> Self {
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
    use crate::model::cause::CauseId;

    #[test]
    fn trouble_comes_first_and_then_the_longest() {
        use RolloutState::{Complete, Failed, Held, Paused, Progressing, Stuck, Unobserved};
        let rollout = RolloutView::sample;
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
            rollout("stuck", Stuck, Some(10), Some(CauseId::CrashLoop)),
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
                "stuck",
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
            "12 workloads: 2 failed, 1 stuck, 3 progressing, 1 paused, 1 held, 1 unobserved, 3 complete (1 with held pods)"
        );
        assert_eq!(StateCounts::of(&[]).words(), "0 workloads");
        let shown_as_held = rollouts.iter().filter(|one| one.is_in(&[Held, Paused]));
        let names: Vec<_> = shown_as_held.map(|rollout| rollout.workload.name()).collect();
        assert_eq!(names, ["paused", "held", "complete-with-held-pods"]);
        assert_eq!(StateCounts::of(&rollouts[..1]).words(), "1 workload: 1 failed");
    }
}
