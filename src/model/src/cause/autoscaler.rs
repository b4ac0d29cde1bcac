//! What an autoscaler of nodes does for a pod that fits on no node, by its events.

use k8s_openapi::jiff::SignedDuration;

use super::context::CauseContext;
use crate::api::event::{Event, NOMINATED, NOT_TRIGGERED_SCALE_UP, TRIGGERED_SCALE_UP};
use crate::api::pod::Pod;

/// How long a node is expected after it was announced: the default of `--max-node-provision-time` of the cluster autoscaler,
/// and the time in which a node of Karpenter must register.
const PROVISION_TIME: SignedDuration = SignedDuration::from_mins(15);

/// What an autoscaler does for a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeScaling {
    /// It adds a node, or expects one.
    AddsNode,
    /// It adds none.
    AddsNone,
}

/// Returns what the latest event of an autoscaler about a pod says, with its message; none without a recent one.
///
/// | event | component | means |
/// |---|---|---|
/// | `TriggeredScaleUp` | cluster autoscaler (`processors/status/eventing_scale_up_processor.go`) | a node group grows |
/// | `NotTriggerScaleUp` | the same | no node group can grow, or none would help |
/// | `Nominated` | Karpenter (`pkg/events`) | a node is expected |
/// | `FailedScheduling`, `Failed to schedule pod` | the same | no node pool can grow, or none would help |
pub(super) fn latest<'a>(pod: &Pod, context: &CauseContext<'a>) -> Option<(NodeScaling, &'a str)> {
    let is_recent =
        |event: &&Event| event.last.is_some_and(|last| context.now.duration_since(last) <= PROVISION_TIME);
    context.warnings(pod, "").filter(is_recent).find_map(|event| {
        let does = match event.reason.as_str() {
            TRIGGERED_SCALE_UP | NOMINATED => NodeScaling::AddsNode,
            NOT_TRIGGERED_SCALE_UP => NodeScaling::AddsNone,
            // The scheduler uses the reason too.
            "FailedScheduling" if event.message.starts_with("Failed to schedule pod") => {
                NodeScaling::AddsNone
            }
            _ => return None,
        };
        Some((does, event.message.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use k8s_openapi::jiff::Timestamp;
    use serde_json::{Value, json};

    use super::*;
    use crate::api::event::Events;
    use crate::api::object::Object;
    use crate::cause::AllowedRestarts;
    use crate::kind::Workload;
    use crate::observation::Observation;

    fn event(type_: &str, reason: &str, message: &str, minute: u32) -> Value {
        json!({"kind": "Event", "type": type_, "reason": reason, "message": message, "metadata": {"name": "e"},
            "involvedObject": {"kind": "Pod", "uid": "p"}, "lastTimestamp": format!("2026-11-20T13:{minute:02}:00Z")})
    }

    #[test]
    fn the_latest_event_of_an_autoscaler_tells_whether_a_node_comes() {
        use NodeScaling::{AddsNode, AddsNone};
        let scheduler =
            || event("Warning", "FailedScheduling", "0/5 nodes are available: 5 Insufficient cpu.", 29);
        let grows = |minute| {
            event("Normal", "TriggeredScaleUp", "pod triggered scale-up: [{g 3->4 (max: 6)}]", minute)
        };
        let is_full = |minute| {
            event(
                "Normal",
                "NotTriggerScaleUp",
                "pod didn't trigger scale-up: 1 max node group size reached",
                minute,
            )
        };
        let nominated = event("Normal", "Nominated", "Pod should schedule on: nodeclaim/default-x7k2p", 28);
        let incompatible = event(
            "Warning",
            "FailedScheduling",
            "Failed to schedule pod, incompatible with nodepool \"default\"",
            28,
        );
        for (what, events, expected) in [
            ("no autoscaler", vec![scheduler()], None),
            ("a group grows", vec![scheduler(), grows(20)], Some(AddsNode)),
            ("a group grew long ago", vec![scheduler(), grows(10)], None),
            ("a group grows after all", vec![is_full(20), grows(25)], Some(AddsNode)),
            ("no group can grow", vec![grows(20), is_full(25)], Some(AddsNone)),
            ("Karpenter adds a node", vec![scheduler(), nominated], Some(AddsNode)),
            ("Karpenter adds none", vec![scheduler(), incompatible], Some(AddsNone)),
        ] {
            let workload = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "w"}});
            let events = events.into_iter().filter_map(|event| Event::read(&Object::read(event).unwrap()));
            let observed = Observation {
                events: Some(Events::of(events)),
                ..Observation::of_alone(Workload::of_json(&workload).unwrap())
            };
            let now: Timestamp = "2026-11-20T13:30:00Z".parse().unwrap();
            let context = CauseContext::new(&observed, None, AllowedRestarts::default(), now);
            let pod = Pod::read(
                &Object::read(json!({"kind": "Pod", "metadata": {"name": "p", "uid": "p"}})).unwrap(),
            );
            assert_eq!(latest(&pod, &context).map(|(does, _)| does), expected, "{what}");
        }
    }
}
