//! The scheduler, which binds each pod to the eligible node with the fewest pods.

use serde_json::{Value, json};

use super::event::Event;
use super::plan::{Plan, Write};
use super::{count, node_fit};
use crate::clock::stamp;
use crate::object;
use crate::resource::{NODES, PODS};
use crate::rules::Part;
use crate::store::{Key, Store};

/// The name in events.
const COMPONENT: &str = "default-scheduler";

/// The next writes for a pod.
pub(super) fn plan(store: &Store, key: &Key) -> Plan {
    let mut plan = Plan::default();
    let Some(pod) = store.get(key).filter(|pod| waits_for_node(pod)) else { return plan };
    match node_for(store, &pod["spec"]) {
        Ok(node) => {
            let message = format!("Successfully assigned {}/{} to {node}", key.namespace, key.name);
            plan.writes.push(Write::Bind { pod: key.clone(), node });
            plan.record_event(Event::normal(pod, COMPONENT, "Scheduled", message));
        }
        Err(message) => refuse(store, key, pod, message, &mut plan),
    }
    plan
}

/// Returns the node for a pod, or the message why there is none.
fn node_for(store: &Store, spec: &Value) -> Result<String, String> {
    let nodes = count::of(store.list(&NODES, None));
    if let Some(claim) = missing_claim(spec) {
        return Err(format!(
            "0/{nodes} nodes are available: persistentvolumeclaim \"{claim}\" not found. not found"
        ));
    }
    best_node(store, spec).ok_or_else(|| {
        format!(
            "0/{nodes} nodes are available: {nodes} node(s) didn't match Pod's node affinity/selector. no new claims \
             to deallocate, preemption: 0/{nodes} nodes are available: {nodes} Preemption is not helpful for scheduling."
        )
    })
}

/// Returns the claim of a pod. Claims are not served, so they never exist.
fn missing_claim(spec: &Value) -> Option<&str> {
    let mut volumes = object::list(spec, &["volumes"]).iter();
    volumes.find_map(|volume| volume["persistentVolumeClaim"]["claimName"].as_str())
}

/// Whether a pod is to be scheduled.
pub(super) fn waits_for_node(pod: &Value) -> bool {
    object::text(pod, &["spec", "nodeName"]).is_empty() && !object::is_terminating(pod)
}

fn best_node(store: &Store, spec: &Value) -> Option<String> {
    let open = |node: &Value| node["spec"]["unschedulable"] != true || tolerates_unschedulable(spec);
    store
        .list(&NODES, None)
        .filter(|(_, node)| open(node) && node_fit::selects_node(spec, node))
        .min_by_key(|(key, _)| (pods_on(store, &key.name), key.name.clone()))
        .map(|(key, _)| key.name.clone())
}

fn tolerates_unschedulable(spec: &Value) -> bool {
    object::list(spec, &["tolerations"]).iter().any(|one| one["key"] == "node.kubernetes.io/unschedulable")
}

fn pods_on(store: &Store, node: &str) -> i64 {
    count::of(store.list(&PODS, None).filter(|(_, pod)| object::text(pod, &["spec", "nodeName"]) == node))
}

/// Reports the first time that a pod cannot be scheduled.
fn refuse(store: &Store, key: &Key, pod: &Value, message: String, plan: &mut Plan) {
    let is_reported =
        object::list(pod, &["status", "conditions"]).iter().any(|known| known["message"] == *message);
    if is_reported {
        return;
    }
    let mut refused = pod.clone();
    refused["status"]["conditions"] = json!([{
        "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message,
        "lastProbeTime": null, "lastTransitionTime": stamp(store.now()),
    }]);
    plan.update(key, Part::Status, refused);
    plan.record_event(Event::warning(pod, COMPONENT, "FailedScheduling", message));
}
