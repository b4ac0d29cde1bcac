//! The soak: how long released pods have been available without interruption, and the check that runs during and after it.
//!
//! The timestamps of the pods and the observations of this process measure it ([`lasted`]). It is never longer than the time
//! since this process observed a soaking slot that was not healthy.

use std::collections::BTreeMap;
use std::time::Duration;

use super::request::{Request, Step, StepReport};
use crate::engine::Now;
use crate::hold::plan::{BatchFailure, Check, CheckResult, CheckWatch};
use crate::hold::slot::{Slot, SlotState};
use crate::observation::pod_stage::SETTLE_TIME;
use crate::settle::{STAMP_PRECISION, lasted};

/// The observed state of the soaking slots, and the times of observations by the monotonic clock.
#[derive(Debug, Default)]
pub(super) struct Soak {
    traces: BTreeMap<String, Trace>,
    /// The last observation at which a soaking slot was not healthy, or had changed.
    pub(super) last_unhealthy: Option<Duration>,
    /// Since when the soak of the present slots is over; none before, and while pods are replaced.
    pub(super) over_since: Option<Duration>,
}

/// The values that change if a slot was not healthy between two observations.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Trace {
    uid: String,
    restarts: i64,
    is_healthy: bool,
    /// The first observation of these values.
    since: Duration,
}

impl Soak {
    /// Records the slots of an observation. Returns the report of the first one that stopped being healthy since the last
    /// observation.
    pub(super) fn observe<'s>(
        &mut self,
        slots: impl IntoIterator<Item = &'s Slot<'s>>,
        now: Duration,
    ) -> Option<StepReport> {
        let restarted = |pod, why: &str| StepReport::SoakRestarted { pod, why: why.to_owned() };
        let mut first = None;
        let mut traces = BTreeMap::new();
        for slot in slots {
            let mut trace = Trace::of(slot, now);
            let before = self.traces.get(&slot.label());
            let difference = before.and_then(|before| trace.differs(before));
            match before {
                Some(before) if *before == (Trace { since: before.since, ..trace.clone() }) => {
                    trace.since = before.since;
                }
                Some(_) => self.last_unhealthy = Some(now),
                None => {}
            }
            if !trace.is_healthy {
                self.last_unhealthy = Some(now);
            }
            let why = difference.filter(|_| before.is_some_and(|before| before.is_healthy));
            if let Some(why) = why {
                first.get_or_insert_with(|| restarted(slot.label(), why));
            }
            traces.insert(slot.label(), trace);
        }
        // Where pods are only counted, a deleted pod leaves its slot to another one.
        let is_gone = |(label, before): &(&String, &Trace)| before.is_healthy && !traces.contains_key(*label);
        let gone = self.traces.iter().find(is_gone).filter(|_| traces.len() >= self.traces.len());
        if let Some((pod, _)) = gone {
            self.last_unhealthy = Some(now);
            first.get_or_insert_with(|| restarted(pod.clone(), "it was deleted"));
        }
        self.traces = traces;
        first
    }

    /// Returns how long a slot has been healthy; zero if it is not.
    fn healthy_for(&self, slot: &Slot<'_>, now: Now) -> Duration {
        let SlotState::Healthy { since } = slot.state else { return Duration::ZERO };
        let observed = self.traces.get(&slot.label()).map(|trace| now.elapsed.saturating_sub(trace.since));
        let at_most = self.last_unhealthy.map_or(Duration::MAX, |last| now.elapsed.saturating_sub(last));
        let lasted = lasted(since, observed.unwrap_or_default(), now.server_time);
        lasted.saturating_sub(STAMP_PRECISION).min(at_most) // a soak is never shorter than it says
    }

    /// Returns how long all slots have been healthy; zero if there are none.
    pub(super) fn healthy<'s>(&self, slots: impl IntoIterator<Item = &'s Slot<'s>>, now: Now) -> Duration {
        slots.into_iter().map(|slot| self.healthy_for(slot, now)).min().unwrap_or_default()
    }

    /// Returns the rest of the soak for these slots. A pod that has terminated since its release must stay healthy for at
    /// least the settle time, because a container in a crash loop is ready between two crashes.
    pub(super) fn left<'s>(
        &self,
        slots: impl IntoIterator<Item = &'s Slot<'s>>,
        soak: Duration,
        now: Now,
    ) -> Duration {
        let left = |slot: &Slot<'_>| {
            let needed =
                if slot.state.is_healthy() && slot.has_terminated() { soak.max(SETTLE_TIME) } else { soak };
            needed.saturating_sub(self.healthy_for(slot, now))
        };
        slots.into_iter().map(left).max().unwrap_or_default()
    }
}

impl Trace {
    fn of(slot: &Slot<'_>, now: Duration) -> Self {
        let containers = slot.pod.into_iter().flat_map(|pod| &pod.containers);
        Self {
            uid: slot.pod.map(|pod| pod.uid.clone()).unwrap_or_default(),
            restarts: containers.map(|container| container.restarts).sum(),
            is_healthy: slot.state.is_healthy(),
            since: now,
        }
    }

    fn differs(&self, before: &Self) -> Option<&'static str> {
        match self {
            trace if trace.uid != before.uid => Some("it was replaced"),
            trace if trace.restarts != before.restarts => Some("it restarted"),
            trace if !trace.is_healthy => Some("it is not available"),
            _ => None,
        }
    }
}

/// What a process knows of the check of the present batch.
#[derive(Debug, Default)]
pub(super) struct CheckMemory {
    /// When the last run began.
    pub(super) begun: Option<Duration>,
    /// When that run ended, and its result; none while it runs.
    ended: Option<(Duration, CheckResult)>,
    /// How many runs in a row did not pass.
    pub(super) failures: u32,
}

impl CheckMemory {
    pub(super) fn begin(&mut self, now: Duration) {
        (self.begun, self.ended) = (Some(now), None);
    }

    pub(super) fn record(&mut self, result: CheckResult, now: Duration) {
        if self.is_running() {
            self.ended = Some((now, result));
            self.failures = if result == CheckResult::Passed { 0 } else { self.failures.saturating_add(1) };
        }
    }

    /// Returns the result of the last run, once it has ended.
    pub(super) fn result(&self) -> Option<CheckResult> {
        self.ended.map(|(_, result)| result)
    }

    pub(super) fn is_running(&self) -> bool {
        self.begun.is_some() && self.ended.is_none()
    }

    /// Decides what to do for the check of a batch whose slots have been `healthy` for this long: run it, fail the batch, or
    /// wait for it after the soak. None if it passed, and during the soak if nothing is to do now. A run counts as the last
    /// one if it ended after the soak, and if no pod was disturbed since it began. `run` is the request to run it.
    pub(super) fn next(
        &self,
        check: &Check,
        batch: usize,
        soak: &Soak,
        healthy: Duration,
        now: Duration,
        run: impl Fn() -> Request,
    ) -> Option<Step> {
        let run = || Step::Ask(run());
        let limit = check.watch.map_or(1, |watch| watch.failures.get());
        let is_due = || self.due(check.watch, healthy, now).is_some_and(|due| now >= due);
        let wait = || soak.over_since.map(|_| Step::Wait(None));
        match (self.begun, self.ended) {
            (Some(_), None) => wait(),
            (_, Some((_, result))) if result != CheckResult::Passed && self.failures >= limit => {
                let batch = Some(batch);
                Some(Step::Fail(BatchFailure::Check { batch, result, failures: self.failures }))
            }
            // A check that failed is repeated after its interval, also at the end of the soak.
            _ if self.failures > 0 && !is_due() => wait(),
            _ if self.failures > 0 => Some(run()),
            (Some(begun), Some((ended, _)))
                if soak.over_since.is_some_and(|over| over <= ended)
                    && soak.last_unhealthy.is_none_or(|last| last <= begun) =>
            {
                None
            }
            _ => (soak.over_since.is_some() || is_due()).then(run),
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
        match self.begun {
            None => Some(now.saturating_add(every.saturating_sub(healthy))),
            Some(_) if self.is_running() => None,
            Some(begun) => Some(begun.saturating_add(every)),
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

    fn failed(result: CheckResult, failures: u32) -> Step {
        Step::Fail(BatchFailure::Check { batch: Some(1), result, failures })
    }

    /// A check that watches a soak of 60s every 30s, and may fail once; its runs begin and end at these times.
    #[test]
    fn a_check_runs_every_interval_and_at_the_end_of_the_soak() {
        use CheckResult::Passed;
        let check = Check {
            digest: String::new(),
            watch: Some(CheckWatch { every: seconds(30), failures: NonZeroU32::new(2).unwrap() }),
        };
        let (wait, run) = (|| Some(Step::Wait(None)), || Some(Step::Ask(Request::Refresh)));
        for (runs, now, over, expected) in [
            (&[][..], 29, None, None),
            (&[], 30, None, run()),
            (&[(30, 31, Passed)], 59, None, None),
            (&[(30, 31, Passed)], 60, None, run()),
            // The soak is over: once more, though the next run is due later.
            (&[(40, 41, Passed)], 60, Some(60), run()),
            (&[(40, 60, Passed)], 60, Some(60), None),
            (&[(40, 65, Passed)], 65, Some(60), None),
            (&[(40, 65, Passed)], 500, Some(60), None),
            // A failure is repeated after the interval, also at the end.
            (&[(50, 51, FAILED)], 60, Some(60), wait()),
            (&[(50, 51, FAILED)], 80, Some(60), run()),
            (&[(50, 51, FAILED), (80, 81, Passed)], 81, Some(60), None),
            (&[(0, 1, FAILED), (30, 31, Passed), (60, 61, FAILED)], 61, Some(60), wait()),
            (&[(0, 1, FAILED), (30, 31, FAILED)], 31, None, Some(failed(FAILED, 2))),
            (
                &[(0, 1, FAILED), (30, 31, CheckResult::TimedOut)],
                31,
                None,
                Some(failed(CheckResult::TimedOut, 2)),
            ),
        ] {
            let mut memory = CheckMemory::default();
            for (since, ended, result) in runs {
                memory.begin(seconds(*since));
                memory.record(*result, seconds(*ended));
            }
            let soak = Soak { over_since: over.map(seconds), ..Soak::default() };
            let next = memory.next(&check, 1, &soak, seconds(now), seconds(now), || Request::Refresh);
            assert_eq!(next, expected, "{runs:?} at {now}");
        }
    }

    #[test]
    fn a_check_without_a_watch_runs_once_after_the_soak() {
        let check = Check { digest: String::new(), watch: None };
        let mut memory = CheckMemory::default();
        let next = |memory: &CheckMemory, last_unhealthy: Option<u64>, over: Option<u64>, now: u64| {
            let (last_unhealthy, over_since) = (last_unhealthy.map(seconds), over.map(seconds));
            let soak = Soak { last_unhealthy, over_since, ..Soak::default() };
            memory.next(&check, 1, &soak, seconds(5), seconds(now), || Request::Refresh)
        };
        assert_eq!(next(&memory, None, None, 9), None);
        let run = || Some(Step::Ask(Request::Refresh)); // stands for the check
        assert_eq!(next(&memory, Some(9), Some(10), 10), run());
        memory.begin(seconds(10));
        assert_eq!(next(&memory, Some(9), Some(10), 11), Some(Step::Wait(None)));
        memory.record(CheckResult::Passed, seconds(12));
        assert_eq!(next(&memory, Some(9), Some(10), 13), None);
        // A pod restarted during the check, or after it.
        assert_eq!(next(&memory, Some(11), Some(11), 13), run());
        assert_eq!(next(&memory, Some(13), None, 13), None);
        memory.begin(seconds(14));
        memory.record(FAILED, seconds(15));
        assert_eq!(next(&memory, Some(13), None, 15), Some(failed(FAILED, 1)));
    }
}
