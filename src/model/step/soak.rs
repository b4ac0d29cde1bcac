//! Whether released pods have been well all the while, and for how long.
//!
//! Two clocks tell it, and the later end wins: the server's, by the stamps of the pods, which a process
//! that comes later sees as well; and our own, as long as we watch, because stamps are written by the
//! clocks of nodes.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::spot::Spot;
use crate::model::container::State;
use crate::model::follow::Moment;
use crate::model::pod::Pod;

/// Stamps are whole seconds, cut off.
const CUT_OFF: SignedDuration = SignedDuration::from_secs(1);

/// What was seen of released pods, and what disturbed them last.
#[derive(Debug, Default)]
pub(super) struct Soak {
    traces: BTreeMap<String, Trace>,
    /// When something was last seen not to be well, or to have changed.
    disturbed: Option<Duration>,
}

/// What a pod that was not well in between would have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Trace {
    uid: String,
    restarts: i64,
    is_well: bool,
}

/// Why a soak begins anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Disturbance {
    pub(super) pod: String,
    pub(super) why: &'static str,
}

impl Soak {
    /// Takes note of the pods as they are now. Returns the first of those that were well and are not any
    /// more, or were not in between.
    pub(super) fn watch<'s>(
        &mut self,
        spots: impl IntoIterator<Item = &'s Spot<'s>>,
        now: Duration,
    ) -> Option<Disturbance> {
        let mut first = None;
        let mut traces = BTreeMap::new();
        for spot in spots {
            let trace = Trace::of(spot);
            let before = self.traces.get(&spot.name);
            let has_no_stamp = || trace.is_well && spot.pod.and_then(well_since).is_none();
            if !trace.is_well || before.map_or_else(has_no_stamp, |before| *before != trace) {
                self.disturbed = Some(now);
            }
            if let Some(why) = before.filter(|before| before.is_well).and_then(|before| trace.differs(before))
            {
                first.get_or_insert_with(|| Disturbance { pod: spot.name.clone(), why });
            }
            traces.insert(spot.name.clone(), trace);
        }
        self.traces = traces;
        first
    }

    /// For how long all of these pods have been well; for ever where there are none.
    pub(super) fn healthy<'s>(&self, spots: impl IntoIterator<Item = &'s Spot<'s>>, now: Moment) -> Duration {
        let mut latest: Option<Timestamp> = None;
        let mut is_any = false;
        for spot in spots {
            is_any = true;
            if !spot.is_well() {
                return Duration::ZERO;
            }
            latest = latest.max(spot.pod.and_then(well_since));
        }
        let watched = self.disturbed.map_or(Duration::MAX, |disturbed| now.elapsed.saturating_sub(disturbed));
        let stamped = latest.map_or(Duration::MAX, |latest| {
            let since = now.wall.duration_since(latest).saturating_sub(CUT_OFF);
            Duration::try_from(since).unwrap_or_default()
        });
        if is_any { watched.min(stamped) } else { Duration::MAX }
    }

    /// When something was last seen not to be well.
    pub(super) fn disturbed(&self) -> Option<Duration> {
        self.disturbed
    }
}

impl Trace {
    fn of(spot: &Spot<'_>) -> Self {
        let containers = spot.pod.into_iter().flat_map(|pod| &pod.containers);
        Self {
            uid: spot.pod.map(|pod| pod.uid.clone()).unwrap_or_default(),
            restarts: containers.map(|container| container.restarts).sum(),
            is_well: spot.is_well(),
        }
    }

    fn differs(&self, before: &Self) -> Option<&'static str> {
        match self {
            trace if trace.uid != before.uid => Some("it was replaced"),
            trace if trace.restarts != before.restarts => Some("it restarted"),
            trace if !trace.is_well => Some("it is not available"),
            _ => None,
        }
    }
}

/// Since when a pod is well: ready, and every container of it running.
fn well_since(pod: &Pod) -> Option<Timestamp> {
    let started = pod.containers.iter().filter_map(|container| match container.state {
        State::Running { since } => since,
        _ => None,
    });
    // A node whose clock is behind cannot have had it before the server made it.
    pod.readiness.since.map(|ready| started.chain(pod.created).fold(ready, Timestamp::max))
}
