//! The soak: how long released pods have been available without interruption.
//!
//! Two clocks measure it, and the shorter time counts. The timestamps of the pods are valid for any process, but nodes
//! write them with their own clocks. The monotonic clock of this process covers only the time of its observations.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::slot::PodSlot;
use crate::model::api::container::ContainerState;
use crate::model::api::pod::Pod;
use crate::model::follow::Now;
use crate::model::hold::plan::SETTLING_TIME;

/// Timestamps have whole seconds, rounded down.
const STAMP_PRECISION: SignedDuration = SignedDuration::from_secs(1);

/// The observed state of released pods, and the last interruption.
#[derive(Debug, Default)]
pub(super) struct Soak {
    traces: BTreeMap<String, Trace>,
    disturbed: Option<Duration>,
}

/// The values that change if a pod was not ready between two observations.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Trace {
    uid: String,
    restarts: i64,
    is_ready: bool,
}

/// The reason why a soak starts again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Disturbance {
    pub(super) pod: String,
    pub(super) why: &'static str,
}

impl Soak {
    /// Records the slots of an observation. Returns the first slot that stopped being ready since the last one.
    pub(super) fn observe<'s>(
        &mut self,
        slots: impl IntoIterator<Item = &'s PodSlot<'s>>,
        now: Duration,
    ) -> Option<Disturbance> {
        let mut first = None;
        let mut traces = BTreeMap::new();
        for slot in slots {
            let trace = Trace::of(slot);
            let before = self.traces.get(&slot.label());
            let has_no_stamp = || trace.is_ready && slot.pod.and_then(ready_since).is_none();
            if !trace.is_ready || before.map_or_else(has_no_stamp, |before| *before != trace) {
                self.disturbed = Some(now);
            }
            let why = before.filter(|before| before.is_ready).and_then(|before| trace.differs(before));
            if let Some(why) = why {
                first.get_or_insert_with(|| Disturbance { pod: slot.label(), why });
            }
            traces.insert(slot.label(), trace);
        }
        // Where pods are only counted, a deleted pod leaves its slot to another one.
        let is_gone = |(label, before): &(&String, &Trace)| before.is_ready && !traces.contains_key(*label);
        let gone = self.traces.iter().find(is_gone).filter(|_| traces.len() >= self.traces.len());
        if let Some((pod, _)) = gone {
            self.disturbed = Some(now);
            first.get_or_insert_with(|| Disturbance { pod: pod.clone(), why: "it was deleted" });
        }
        self.traces = traces;
        first
    }

    /// Returns how long a slot has been ready; zero if it is not ready.
    fn ready_for(&self, slot: &PodSlot<'_>, now: Now) -> Duration {
        if !slot.is_ready() {
            return Duration::ZERO;
        }
        let by_stamps = slot.pod.and_then(ready_since).map_or(Duration::MAX, |since| {
            let ready_for = now.server_time.duration_since(since).saturating_sub(STAMP_PRECISION);
            Duration::try_from(ready_for).unwrap_or_default()
        });
        let observed =
            self.disturbed.map_or(Duration::MAX, |disturbed| now.elapsed.saturating_sub(disturbed));
        by_stamps.min(observed)
    }

    /// Returns how long all slots have been ready; [`Duration::MAX`] for no slots.
    pub(super) fn healthy<'s>(&self, slots: impl IntoIterator<Item = &'s PodSlot<'s>>, now: Now) -> Duration {
        slots.into_iter().map(|slot| self.ready_for(slot, now)).min().unwrap_or(Duration::MAX)
    }

    /// Returns the rest of the soak for these slots. A pod that has terminated since its release must stay ready for at
    /// least the settling time, because a container in a crash loop is ready between two crashes.
    pub(super) fn left<'s>(
        &self,
        slots: impl IntoIterator<Item = &'s PodSlot<'s>>,
        soak: Duration,
        now: Now,
    ) -> Duration {
        let left = |slot: &PodSlot<'_>| {
            let needed = if slot.has_terminated() { soak.max(SETTLING_TIME) } else { soak };
            needed.saturating_sub(self.ready_for(slot, now))
        };
        slots.into_iter().map(left).max().unwrap_or_default()
    }

    /// Returns the time of the last interruption, by the monotonic clock.
    pub(super) fn disturbed(&self) -> Option<Duration> {
        self.disturbed
    }
}

impl Trace {
    fn of(slot: &PodSlot<'_>) -> Self {
        let containers = slot.pod.into_iter().flat_map(|pod| &pod.containers);
        Self {
            uid: slot.pod.map(|pod| pod.uid.clone()).unwrap_or_default(),
            restarts: containers.map(|container| container.restarts).sum(),
            is_ready: slot.is_ready(),
        }
    }

    fn differs(&self, before: &Self) -> Option<&'static str> {
        match self {
            trace if trace.uid != before.uid => Some("it was replaced"),
            trace if trace.restarts != before.restarts => Some("it restarted"),
            trace if !trace.is_ready => Some("it is not available"),
            _ => None,
        }
    }
}

/// Returns since when a pod is ready with every container running.
fn ready_since(pod: &Pod) -> Option<Timestamp> {
    let started = pod.containers.iter().filter_map(|container| match container.state {
        ContainerState::Running { since } => since,
        _ => None,
    });
    // A pod cannot be ready before the API server created it, even if the clock of its node is behind.
    pod.readiness.since.map(|ready| started.chain(pod.created).fold(ready, Timestamp::max))
}
