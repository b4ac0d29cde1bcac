//! The available pods of a rollout, also while a plan of `step` holds it.

use k8s_openapi::jiff::Timestamp;

use crate::model::api::pod::Pod;
use crate::model::hold::plan::original_min_ready_seconds;
use crate::model::kind::verdict::Counts;
use crate::model::observation::Observation;

/// Returns the available pods, by the workload's own `minReadySeconds`; none if nothing counts them. A plan of `step` for
/// a Deployment raises `minReadySeconds`, so that its controller counts no updated pod as available.
#[must_use]
pub(super) fn available(observation: &Observation, now: Timestamp) -> Option<i64> {
    let counts = Counts::of(&observation.workload);
    let seconds = original_min_ready_seconds(&observation.workload);
    if seconds == observation.workload.min_ready_seconds() {
        return counts.available;
    }
    let is_available = |pod: &&Pod| pod.is_active() && pod.is_available(seconds, now);
    let pods = observation.pods.is_some().then(|| observation.own_pods().filter(is_available).count());
    Some(pods.map_or(counts.ready, |pods| i64::try_from(pods).unwrap_or(i64::MAX)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::api::object::Object;
    use crate::model::hold::plan::HOLD_ANNOTATION;
    use crate::model::kind::Workload;
    use crate::model::kind::deployment_hold::NEVER_AVAILABLE;

    #[test]
    fn during_a_plan_the_ready_pods_that_do_not_terminate_are_available() {
        let hold =
            json!({"reason": "plan", "set": {}, "strategy": {"minReadySeconds": 0}, "plan": {}}).to_string();
        let deployment = json!({"kind": "Deployment",
            "metadata": {"name": "w", "uid": "u", "annotations": {HOLD_ANNOTATION: hold}},
            "spec": {"minReadySeconds": NEVER_AVAILABLE, "template": {}}, "status": {"availableReplicas": 0}});
        let pod = |ready: &str, terminating: bool| {
            let mut pod = json!({"kind": "Pod",
                "metadata": {"name": "p", "ownerReferences": [{"controller": true, "uid": "u"}]},
                "status": {"conditions": [{"type": "Ready", "status": ready}]}});
            if terminating {
                pod["metadata"]["deletionTimestamp"] = "2026-11-20T13:00:00Z".into();
            }
            Pod::read(&Object::read(pod).unwrap()).into()
        };
        let pods = vec![pod("True", false), pod("True", true), pod("False", false)];
        let alone = Observation::of_alone(Workload::of_json(&deployment).unwrap());
        let observed = Observation { pods: Some(pods), ..alone };
        assert_eq!(available(&observed, Timestamp::UNIX_EPOCH), Some(1));
    }
}
