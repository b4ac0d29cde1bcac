//! The available pods of a rollout, also while a plan of `step` holds it.

use k8s_openapi::jiff::Timestamp;

use crate::model::api::pod::Pod;
use crate::model::hold::plan::own_min_ready_seconds;
use crate::model::kind::counts::Counts;
use crate::model::observation::Observation;

/// Returns the available pods, by the workload's own `minReadySeconds`; none if nothing counts them. A plan of `step` for
/// a Deployment raises `minReadySeconds`, so that its controller counts no updated pod as available.
#[must_use]
pub(super) fn available(observation: &Observation, now: Timestamp) -> Option<i64> {
    let counts = Counts::of(&observation.workload);
    let seconds = own_min_ready_seconds(&observation.workload);
    if seconds == observation.workload.min_ready_seconds() {
        return counts.available;
    }
    let is_available = |pod: &&Pod| pod.is_active() && pod.is_available(seconds, now);
    let pods = observation.pods.is_some().then(|| observation.own_pods().filter(is_available).count());
    Some(pods.map_or(counts.ready, |pods| i64::try_from(pods).unwrap_or(i64::MAX)))
}
