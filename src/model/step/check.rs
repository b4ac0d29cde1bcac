//! When the check of a batch runs, and when it has passed or failed.

use std::time::Duration;

use super::outcome::CheckResult;
use crate::model::hold::plan::{Check, CheckWatch};

/// What a process knows of the check of the present batch.
#[derive(Debug, Default)]
pub(super) struct CheckMemory {
    last: LastRun,
    /// How many runs in a row did not pass.
    failures: u32,
}

/// The last run of the check.
#[derive(Clone, Copy, Debug, Default)]
enum LastRun {
    #[default]
    None,
    Running {
        since: Duration,
    },
    Ended {
        since: Duration,
        ended: Duration,
        result: CheckResult,
    },
}

/// The state of the soak, by the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct SoakProgress {
    /// How long every soaking pod has been ready.
    pub(super) healthy: Duration,
    /// The last interruption.
    pub(super) disturbed: Option<Duration>,
    /// When the soak was over; none while pods soak.
    pub(super) over: Option<Duration>,
}

/// What to do with the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextCheck {
    /// Wait for its end, or until it is due.
    Wait,
    /// Run it now.
    Run,
    /// Nothing: it passed at the end of the soak.
    Passed,
    /// Fail the batch: its last run had this result.
    Failed(CheckResult),
}

impl CheckMemory {
    pub(super) fn begin(&mut self, now: Duration) {
        self.last = LastRun::Running { since: now };
    }

    pub(super) fn record(&mut self, result: CheckResult, now: Duration) {
        if let LastRun::Running { since } = self.last {
            self.last = LastRun::Ended { since, ended: now, result };
            self.failures = if result == CheckResult::Passed { 0 } else { self.failures.saturating_add(1) };
        }
    }

    /// Returns how many runs in a row did not pass.
    pub(super) fn failures(&self) -> u32 {
        self.failures
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(self.last, LastRun::Running { .. })
    }

    pub(super) fn has_run(&self) -> bool {
        !matches!(self.last, LastRun::None)
    }

    /// Decides what to do with the check while the pods of the batch are ready. A run counts as the last one if it ended
    /// after the soak, and if no pod was disturbed since it began.
    pub(super) fn next(&self, check: &Check, soak: SoakProgress, now: Duration) -> NextCheck {
        let limit = check.watch.map_or(1, |watch| watch.failures.get());
        let is_due = || self.due(check.watch, soak.healthy, now).is_some_and(|due| now >= due);
        match self.last {
            LastRun::Running { .. } => NextCheck::Wait,
            LastRun::Ended { result, .. } if result != CheckResult::Passed && self.failures >= limit => {
                NextCheck::Failed(result)
            }
            // A check that failed is repeated after its interval, also at the end of the soak.
            _ if self.failures > 0 && !is_due() => NextCheck::Wait,
            _ if self.failures > 0 => NextCheck::Run,
            LastRun::Ended { since, ended, .. }
                if soak.over.is_some_and(|over| over <= ended)
                    && soak.disturbed.is_none_or(|disturbed| disturbed <= since) =>
            {
                NextCheck::Passed
            }
            _ if soak.over.is_some() || is_due() => NextCheck::Run,
            _ => NextCheck::Wait,
        }
    }

    /// Returns when the next run during the soak is due: one interval after the last one began.
    pub(super) fn due(
        &self,
        watch: Option<CheckWatch>,
        healthy: Duration,
        now: Duration,
    ) -> Option<Duration> {
        let every = watch?.every;
        match self.last {
            LastRun::None => Some(now.saturating_add(every.saturating_sub(healthy))),
            LastRun::Ended { since, .. } => Some(since.saturating_add(every)),
            LastRun::Running { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    const FAILED: CheckResult = CheckResult::Failed(Some(1));

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// A check that watches a soak of 60s every 30s, and may fail once; its runs begin and end at these times.
    #[test]
    fn a_check_runs_every_interval_and_at_the_end_of_the_soak() {
        use CheckResult::Passed;
        let check = Check {
            digest: String::new(),
            watch: Some(CheckWatch { every: seconds(30), failures: NonZeroU32::new(2).unwrap() }),
        };
        let (wait, run) = (NextCheck::Wait, NextCheck::Run);
        for (runs, now, over, expected) in [
            (&[][..], 29, None, wait),
            (&[], 30, None, run),
            (&[(30, 31, Passed)], 59, None, wait),
            (&[(30, 31, Passed)], 60, None, run),
            // The soak is over: once more, though the next run is due later.
            (&[(40, 41, Passed)], 60, Some(60), run),
            (&[(40, 60, Passed)], 60, Some(60), NextCheck::Passed),
            (&[(40, 65, Passed)], 65, Some(60), NextCheck::Passed),
            (&[(40, 65, Passed)], 500, Some(60), NextCheck::Passed),
            // A failure is repeated after the interval, also at the end.
            (&[(50, 51, FAILED)], 60, Some(60), wait),
            (&[(50, 51, FAILED)], 80, Some(60), run),
            (&[(50, 51, FAILED), (80, 81, Passed)], 81, Some(60), NextCheck::Passed),
            (&[(0, 1, FAILED), (30, 31, Passed), (60, 61, FAILED)], 61, Some(60), wait),
            (&[(0, 1, FAILED), (30, 31, FAILED)], 31, None, NextCheck::Failed(FAILED)),
            (
                &[(0, 1, FAILED), (30, 31, CheckResult::TimedOut)],
                31,
                None,
                NextCheck::Failed(CheckResult::TimedOut),
            ),
        ] {
            let mut memory = CheckMemory::default();
            for (since, ended, result) in runs {
                memory.begin(seconds(*since));
                memory.record(*result, seconds(*ended));
            }
            let soak = SoakProgress { healthy: seconds(now), disturbed: None, over: over.map(seconds) };
            assert_eq!(memory.next(&check, soak, seconds(now)), expected, "{runs:?} at {now}");
        }
    }

    #[test]
    fn a_check_without_a_watch_runs_once_after_the_soak() {
        let check = Check { digest: String::new(), watch: None };
        let mut memory = CheckMemory::default();
        let soak = |disturbed: Option<u64>, over: Option<u64>| SoakProgress {
            healthy: seconds(5),
            disturbed: disturbed.map(seconds),
            over: over.map(seconds),
        };
        assert_eq!(memory.next(&check, soak(None, None), seconds(9)), NextCheck::Wait);
        assert_eq!(memory.next(&check, soak(Some(9), Some(10)), seconds(10)), NextCheck::Run);
        memory.begin(seconds(10));
        assert_eq!(memory.next(&check, soak(Some(9), Some(10)), seconds(11)), NextCheck::Wait);
        memory.record(CheckResult::Passed, seconds(12));
        assert_eq!(memory.next(&check, soak(Some(9), Some(10)), seconds(13)), NextCheck::Passed);
        // A pod restarted during the check, or after it.
        assert_eq!(memory.next(&check, soak(Some(11), Some(11)), seconds(13)), NextCheck::Run);
        assert_eq!(memory.next(&check, soak(Some(13), None), seconds(13)), NextCheck::Wait);
        memory.begin(seconds(14));
        memory.record(FAILED, seconds(15));
        assert_eq!(memory.next(&check, soak(Some(13), None), seconds(15)), NextCheck::Failed(FAILED));
    }
}
