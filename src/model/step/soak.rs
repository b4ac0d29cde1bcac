//! The soak: how long released pods have been available without a break.
//!
//! Two clocks measure it, and the shorter time counts. The stamps of the pods are the same for a process that
//! starts later. Our own clock is used as long as we observe, because nodes write stamps with their clocks.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::slot::PodSlot;
use crate::model::api::container::ContainerState;
use crate::model::api::pod::Pod;
use crate::model::change::hold::SETTLING_TIME;
use crate::model::follow::Now;

/// Stamps have whole seconds, rounded down.
const STAMP_PRECISION: SignedDuration = SignedDuration::from_secs(1);

/// What was observed of released pods, and when one was last disturbed.
#[derive(Debug, Default)]
pub(super) struct Soak {
    traces: BTreeMap<String, Trace>,
    disturbed: Option<Duration>,
}

/// What changes when a pod was not ready in between.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Trace {
    uid: String,
    restarts: i64,
    is_ready: bool,
}

/// Why a soak starts again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Disturbance {
    pub(super) pod: String,
    pub(super) why: &'static str,
}

impl Soak {
    /// Takes in the slots of an observation. Returns the first that was ready and is not, or was not in between.
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
        self.traces = traces;
        first
    }

    /// Returns for how long a slot has been ready; zero if it is not.
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

    /// Returns for how long all slots have been ready; [`Duration::MAX`] when there are none.
    pub(super) fn healthy<'s>(&self, slots: impl IntoIterator<Item = &'s PodSlot<'s>>, now: Now) -> Duration {
        slots.into_iter().map(|slot| self.ready_for(slot, now)).min().unwrap_or(Duration::MAX)
    }

    /// Returns how much of a soak is left for these slots. A pod that has terminated since its release has to
    /// stay ready for at least the settling time, because a crash loop is ready between two crashes.
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

    /// Returns when a slot was last disturbed, by our own clock.
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
    // A node whose clock is behind cannot have had the pod before the server created it.
    pod.readiness.since.map(|ready| started.chain(pod.created).fold(ready, Timestamp::max))
}
