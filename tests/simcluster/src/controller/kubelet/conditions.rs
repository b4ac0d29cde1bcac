//! The conditions of a pod that its kubelet writes.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::pod_state::PodState;
use crate::clock::stamp;
use crate::object;

/// Returns the readiness gate (`spec.readinessGates`) whose condition is not `True`, if there is one.
pub(super) fn closed_gate(pod: &Value) -> Option<&str> {
    let gates = object::list(pod, &["spec", "readinessGates"]).iter();
    gates.map(|gate| object::text(gate, &["conditionType"])).find(|gate| !object::has_condition(pod, gate))
}

/// Returns all conditions of a pod: first those of the kubelet, then the others as they are.
pub(super) fn of(state: &PodState, pod: &Value, now: Timestamp) -> Value {
    let unready = state.containers.iter().filter(|one| !one.phase.is_ready).map(|one| one.name.as_str());
    let unready = (!state.is_ready()).then(|| {
        if let Some(end) = state.end {
            return (if end == "Succeeded" { "PodCompleted" } else { "PodFailed" }, String::new());
        }
        let message = format!("containers with unready status: [{}]", unready.collect::<Vec<_>>().join(" "));
        ("ContainersNotReady", message)
    });
    let closed = closed_gate(pod).map(|gate| ("ReadinessGatesNotReady", closed_gate_message(pod, gate)));
    write(
        pod,
        now,
        &[
            ("PodReadyToStartContainers", None),
            ("Initialized", None),
            ("Ready", unready.clone().or(closed)),
            ("ContainersReady", unready),
        ],
    )
}

/// Returns the conditions with these of the kubelet: each is `True`, or `False` with a reason and a message. A
/// condition whose status stays keeps its time.
fn write(pod: &Value, now: Timestamp, own: &[(&str, Option<(&str, String)>); 4]) -> Value {
    let known = object::list(pod, &["status", "conditions"]);
    let others = known.iter().filter(|one| !own.iter().any(|(kind, _)| one["type"] == **kind)).cloned();
    let own = own.iter().map(|(kind, why)| {
        let status = if why.is_none() { "True" } else { "False" };
        let same = known.iter().find(|one| one["type"] == **kind && one["status"] == status);
        let since = same.map_or_else(|| stamp(now).into(), |one| one["lastTransitionTime"].clone());
        let mut condition =
            json!({ "type": kind, "status": status, "lastProbeTime": null, "lastTransitionTime": since });
        if let Some((reason, message)) = why {
            for (member, text) in [("reason", *reason), ("message", message)] {
                if !text.is_empty() {
                    condition[member] = text.into();
                }
            }
        }
        condition
    });
    own.chain(others).collect()
}

/// The kubelet's words about a readiness gate (`status/generate.go`).
fn closed_gate_message(pod: &Value, gate: &str) -> String {
    match object::condition(pod, gate) {
        None => format!("corresponding condition of pod readiness gate \"{gate}\" does not exist."),
        Some(condition) => {
            let status = object::text(condition, &["status"]);
            format!("the status of pod readiness gate \"{gate}\" is not \"True\", but {status}")
        }
    }
}
