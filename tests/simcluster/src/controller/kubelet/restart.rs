//! Restarts of containers that do not follow from their own behaviour: by a liveness probe or
//! `kubectl exec NAME -- kill 1`, and by an update in place.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::object;

/// The annotation with the number of restarts of a pod's containers, and the time of the last one.
const RESTARTED: &str = "simcluster/restarted";

/// The restarts of a pod's containers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Restart {
    pub(super) count: u64,
    pub(super) last: Option<Timestamp>,
}

impl Restart {
    pub(super) fn of(pod: &Value) -> Self {
        let text = object::text(pod, &["metadata", "annotations", RESTARTED]);
        let Some((count, last)) = text.split_once(' ') else { return Self::default() };
        Self { count: count.parse().unwrap_or(0), last: last.parse().ok() }
    }
}

/// Returns the merge patch that ends the containers of a pod at a moment; the kubelet restarts them.
pub fn restart_patch(pod: &Value, now: Timestamp) -> Value {
    let count = Restart::of(pod).count + 1;
    json!({ "metadata": { "annotations": { RESTARTED: format!("{count} {now}") } } })
}

/// Returns the containers that run another image than their spec has: `OpenKruise` has updated the pod in place.
pub(super) fn with_another_image(pod: &Value) -> Vec<String> {
    let statuses = object::list(pod, &["status", "containerStatuses"]);
    let differs = |container: &&Value| {
        let status = statuses.iter().find(|status| status["name"] == container["name"]);
        status.is_some_and(|status| status["image"] != container["image"])
    };
    let containers = object::list(pod, &["spec", "containers"]).iter().filter(differs);
    containers.map(|container| object::text(container, &["name"]).to_owned()).collect()
}
