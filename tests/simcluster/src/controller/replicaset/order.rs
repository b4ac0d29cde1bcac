//! The order in which a `ReplicaSet` deletes surplus pods.

use std::cmp::Reverse;
use std::sync::Arc;

use serde_json::Value;

use crate::controller::{count, pod};
use crate::object;

/// Returns the pods in the order of their deletion.
///
/// First those without a node, then pending, unready, with a low deletion cost, recently ready, often restarted, young.
pub(super) fn first_to_go(pods: &[Arc<Value>]) -> Vec<&Value> {
    let mut pods: Vec<&Value> = pods.iter().map(|pod| &**pod).collect();
    pods.sort_by_cached_key(|pod| {
        (
            !object::text(pod, &["spec", "nodeName"]).is_empty(),
            match pod::phase(pod) {
                "Pending" => 0,
                "Unknown" => 1,
                _ => 2,
            },
            pod::is_ready(pod),
            deletion_cost(pod),
            Reverse(pod::available_at(pod, 0)),
            Reverse(restarts(pod)),
            Reverse(object::text(pod, &["metadata", "creationTimestamp"]).to_owned()),
            object::name(pod).to_owned(),
        )
    });
    pods
}

fn deletion_cost(pod: &Value) -> i64 {
    let cost = object::text(pod, &["metadata", "annotations", "controller.kubernetes.io/pod-deletion-cost"]);
    cost.parse().unwrap_or(0)
}

fn restarts(pod: &Value) -> i64 {
    let containers = object::list(pod, &["status", "containerStatuses"]);
    containers.iter().map(|container| count::at(container, &["restartCount"])).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(name: &str, node: &str, phase: &str, ready: &str, created: &str) -> Arc<Value> {
        let conditions =
            json!([{ "type": "Ready", "status": ready, "lastTransitionTime": "2026-11-20T13:00:00Z" }]);
        Arc::new(json!({
            "metadata": { "name": name, "creationTimestamp": created },
            "spec": { "nodeName": node }, "status": { "phase": phase, "conditions": conditions },
        }))
    }

    #[test]
    fn the_least_needed_pods_are_deleted_first() {
        let pods = [
            pod("old", "n", "Running", "True", "2026-11-20T12:00:00Z"),
            pod("young", "n", "Running", "True", "2026-11-20T12:30:00Z"),
            pod("unready", "n", "Running", "False", "2026-11-20T12:00:00Z"),
            pod("pending", "n", "Pending", "False", "2026-11-20T12:00:00Z"),
            pod("homeless", "", "Pending", "False", "2026-11-20T12:00:00Z"),
        ];
        let order: Vec<&str> = first_to_go(&pods).into_iter().map(object::name).collect();
        assert_eq!(order, ["homeless", "pending", "unready", "young", "old"]);
    }
}
