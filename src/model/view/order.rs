//! The order of rollouts, trouble first, and how many are in each state.

use std::collections::BTreeMap;

use super::RolloutView;
use crate::model::kind::verdict::RolloutState;
use crate::model::text::plural::plural;

/// Sorts rollouts: trouble first, and within that the longest first. In each state those with a cause other than a hold come
/// first, then those with held pods. An unknown time comes last.
pub fn sort(rollouts: &mut [RolloutView]) {
    rollouts.sort_by_cached_key(|one| {
        let has_cause = one.causes.iter().any(|cause| !cause.id.is_hold());
        let state = match one.state() {
            RolloutState::Paused => RolloutState::Held, // a pause is a hold
            state => state,
        };
        let trouble = (state, !has_cause, one.held_pods() == 0);
        let name = (one.workload.object().namespace().to_owned(), one.workload.target());
        (trouble, one.since.is_none(), one.since, name)
    });
}

/// The number of rollouts in each state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateCounts {
    states: BTreeMap<RolloutState, usize>,
    /// How many of the complete ones have held pods.
    with_held_pods: usize,
}

impl StateCounts {
    /// Counts rollouts.
    pub fn of<'a>(rollouts: impl IntoIterator<Item = &'a RolloutView>) -> Self {
        let mut counts = Self::default();
        for rollout in rollouts {
            counts.with_held_pods += usize::from(rollout.held_pods() > 0);
            *counts.states.entry(rollout.state()).or_default() += 1;
        }
        counts
    }

    /// Iterates over the states that occur, trouble first.
    pub fn iter(&self) -> impl Iterator<Item = (RolloutState, usize)> {
        self.states.iter().map(|(state, count)| (*state, *count))
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
