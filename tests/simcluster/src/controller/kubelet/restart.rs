//! Containers that somebody ended, and that a kubelet started again: what a liveness probe does, or
//! `kubectl exec NAME -- kill 1`.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::object;

/// Where a pod says how often its containers were ended, and when they were for the last time.
const RESTARTED: &str = "simcluster/restarted";

/// How often the containers of a pod were ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Restart {
    pub(super) count: u64,
    pub(super) last: Option<Timestamp>,
}

impl Restart {
    pub(super) fn of(pod: &Value) -> Self {
        let said = object::text(pod, &["metadata", "annotations", RESTARTED]);
        let Some((count, last)) = said.split_once(' ') else { return Self::default() };
        Self { count: count.parse().unwrap_or(0), last: last.parse().ok() }
    }
}

/// The merge patch that ends the containers of a pod at a moment; its kubelet starts them again.
#[must_use]
pub fn restart_patch(pod: &Value, now: Timestamp) -> Value {
    let count = Restart::of(pod).count + 1;
    json!({ "metadata": { "annotations": { RESTARTED: format!("{count} {now}") } } })
}

/// The containers whose image is another one than they run: `OpenKruise` has updated the pod in place.
pub(super) fn with_another_image(pod: &Value) -> Vec<String> {
    let statuses = object::list(pod, &["status", "containerStatuses"]);
    let moved = |container: &&Value| {
        let status = statuses.iter().find(|status| status["name"] == container["name"]);
        status.is_some_and(|status| status["image"] != container["image"])
    };
    let containers = object::list(pod, &["spec", "containers"]).iter().filter(moved);
    containers.map(|container| object::text(container, &["name"]).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restarts_add_up() {
        let now = Timestamp::constant(1_795_183_200, 5);
        let once = restart_patch(&json!({ "metadata": {} }), now);
        let twice = restart_patch(&once, now);
        assert_eq!(Restart::of(&twice), Restart { count: 2, last: Some(now) });
    }
}
