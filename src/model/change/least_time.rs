//! The least time that an update needs: its waves, each of which must be available for `minReadySeconds`.

use std::fmt;
use std::time::Duration;

use crate::model::kind::update_budget::UpdateBudget;
use crate::model::kind::{Workload, strategy};
use crate::model::text::go_duration;
use crate::model::text::plural::plural;

/// A shorter time is not worth a line.
const WORTH_A_LINE: Duration = Duration::from_secs(60);

/// How long the pods of one wave take to be ready, in a timeout that is suggested.
const START: Duration = Duration::from_secs(60);

/// The least time that an update needs. It takes longer, because pods also need time to start and to terminate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeastTime {
    /// How many waves of pods are updated one after another.
    pub waves: u32,
    /// `minReadySeconds`.
    pub min_ready: Duration,
    /// What soaks add to it, for a plan of `step`.
    pub soaks: Duration,
    /// The sum.
    pub total: Duration,
}

impl LeastTime {
    /// Returns the least time in which a controller updates so many serving pods. A controller may replace pods that do not
    /// serve without regard to its budget, so they do not count. None if it is less than a minute.
    #[must_use]
    pub fn of_update(serving: usize, pace: UpdatePace, min_ready_seconds: i64) -> Option<Self> {
        let at_a_time = match pace {
            UpdatePace::AllAtOnce => i64::MAX,
            UpdatePace::Budget(budget) => budget.unavailable.saturating_add(budget.surge),
        };
        let at_a_time = usize::try_from(at_a_time.max(1)).unwrap_or(usize::MAX);
        Self::of_plan([serving.max(1)], at_a_time, min_ready_seconds, [Duration::ZERO; 2])
    }

    /// Returns the least time of the batches of a plan, with the soak of one batch and the sum of all soaks. A soak and
    /// `minReadySeconds` both begin when the pods are ready. None if it is less than a minute, or only the soaks.
    #[must_use]
    pub fn of_plan(
        batches: impl IntoIterator<Item = usize>,
        at_a_time: usize,
        min_ready_seconds: i64,
        [soak, soaks]: [Duration; 2],
    ) -> Option<Self> {
        let min_ready = Duration::from_secs(u64::try_from(min_ready_seconds).ok()?);
        let (mut waves, mut total) = (0_u32, soaks);
        for batch in batches {
            let in_batch = u32::try_from(batch.div_ceil(at_a_time.max(1))).unwrap_or(u32::MAX);
            let beside_soak = min_ready.saturating_mul(in_batch).saturating_sub(soak.min(min_ready));
            (waves, total) = (waves.saturating_add(in_batch), total.saturating_add(beside_soak));
        }
        let least = Self { waves, min_ready, soaks, total };
        (total >= WORTH_A_LINE && total > soaks).then_some(least)
    }

    /// Returns a timeout that leaves each wave a minute to start.
    #[must_use]
    pub fn fitting_timeout(self) -> Duration {
        self.total.saturating_add(START.saturating_mul(self.waves))
    }
}

/// `at least 20m: 4 waves, minReadySeconds 5m`.
impl fmt::Display for LeastTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [total, min_ready, soaks] = [self.total, self.min_ready, self.soaks].map(go_duration::short);
        write!(f, "at least {total}: {}, minReadySeconds {min_ready}", plural(self.waves, "wave"))?;
        if self.soaks.is_zero() { Ok(()) } else { write!(f, ", soaks {soaks}") }
    }
}

/// How many pods a controller replaces at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdatePace {
    /// `Recreate`: all outdated pods stop before the first updated one starts.
    AllAtOnce,
    /// As many as the update budget allows.
    Budget(UpdateBudget),
}

impl UpdatePace {
    /// Returns the pace of a strategy; none for one that is not known to this version.
    pub(super) fn of(after: &Workload) -> Option<Self> {
        if strategy::is_rolling(after) {
            return Some(Self::Budget(after.update_budget()));
        }
        strategy::is_recreate(after).then_some(Self::AllAtOnce)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::kind::update_budget::UpdateBudget;

    #[test]
    fn an_update_needs_its_waves() {
        let budget = |unavailable, surge| UpdatePace::Budget(UpdateBudget { unavailable, surge });
        for (serving, pace, seconds, expected) in [
            (4, budget(1, 0), 300, Some("at least 20m: 4 waves, minReadySeconds 5m")),
            (10, budget(2, 3), 60, Some("at least 2m: 2 waves, minReadySeconds 1m")),
            (11, budget(2, 3), 60, Some("at least 3m: 3 waves, minReadySeconds 1m")),
            (6, budget(1, 0), 10, Some("at least 1m: 6 waves, minReadySeconds 10s")),
            (5, budget(1, 0), 10, None),
            (1000, budget(1, 0), 0, None),
            (1000, budget(1, 0), -5, None),
            (3, budget(0, 0), 90, Some("at least 4m30s: 3 waves, minReadySeconds 1m30s")),
            (0, budget(1, 0), 90, Some("at least 1m30s: 1 wave, minReadySeconds 1m30s")),
            (50, UpdatePace::AllAtOnce, 3600, Some("at least 1h: 1 wave, minReadySeconds 1h")),
        ] {
            let least = LeastTime::of_update(serving, pace, seconds);
            assert_eq!(least.map(|least| least.to_string()).as_deref(), expected, "{serving} {pace:?}");
        }
        assert!(LeastTime::of_update(usize::MAX, budget(i64::MAX, i64::MAX), i64::MAX).is_some());
    }

    #[test]
    fn a_plan_needs_its_waves_and_soaks() {
        let seconds = Duration::from_secs;
        for (batches, at_a_time, min_ready, soaks, expected) in [
            (vec![1, 2, 2], 1, 60, [0, 0], Some("at least 5m: 5 waves, minReadySeconds 1m")),
            (vec![1, 2, 2], 2, 60, [0, 0], Some("at least 3m: 3 waves, minReadySeconds 1m")),
            // Each batch soaks for 10s of its minute.
            (vec![1, 2, 2], 2, 60, [10, 30], Some("at least 3m: 3 waves, minReadySeconds 1m, soaks 30s")),
            // Each batch is available after a minute of its soak; the second wave of a batch needs another minute.
            (vec![1, 2], 1, 60, [300, 600], Some("at least 11m: 3 waves, minReadySeconds 1m, soaks 10m")),
            (vec![1, 1], 1, 60, [300, 600], None),
            (vec![1, 2, 2], 2, 0, [300, 900], None),
            (vec![], 1, 60, [0, 0], None),
        ] {
            let least = LeastTime::of_plan(batches.clone(), at_a_time, min_ready, soaks.map(seconds));
            assert_eq!(least.map(|least| least.to_string()).as_deref(), expected, "{batches:?} {soaks:?}");
        }
    }

    #[test]
    fn a_fitting_timeout_leaves_time_to_start() {
        let pace = UpdatePace::Budget(UpdateBudget { unavailable: 1, surge: 0 });
        let least = LeastTime::of_update(4, pace, 300).unwrap();
        assert_eq!(least.fitting_timeout(), Duration::from_secs(24 * 60));
    }
}
