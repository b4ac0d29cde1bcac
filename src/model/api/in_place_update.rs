//! The update of a pod in place, as the controllers of OpenKruise record it on the pod.

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use super::condition::Condition;
use super::object::Object;

/// The readiness gate that is closed while the containers of a pod restart.
const GATE: &str = "InPlaceUpdateReady";

/// What the controller recorded about the update of a pod in place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InPlaceUpdate {
    /// Whether it is under way: its readiness gate is closed.
    pub is_under_way: bool,
    /// Whether the controller waits for the grace period before it changes the containers.
    pub is_in_grace_period: bool,
    /// Whether containers restart only because their environment reads changed metadata, which kruise-daemon
    /// does on the node.
    pub awaits_daemon: bool,
    /// When the last update began, if there was one.
    pub since: Option<Timestamp>,
    /// The containers that the update restarts.
    pub containers: Vec<String>,
    /// The lifecycle state: `Normal`, `PreparingUpdate`, `Updating`, `Updated`, `PreparingDelete`, `PreparingNormal`.
    pub lifecycle: String,
}

impl InPlaceUpdate {
    /// Reads it from the pod's condition, annotations and labels; none for a pod that is never updated in place.
    #[must_use]
    pub fn read(pod: &Object) -> Option<Self> {
        let gate = Condition::read(pod, GATE);
        let lifecycle = pod.label("lifecycle.apps.kruise.io/state");
        if gate.is_none() && lifecycle.is_none() {
            return None;
        }
        let state = pod.annotation("apps.kruise.io/inplace-update-state").unwrap_or_default();
        let state: Value = serde_json::from_str(state).unwrap_or_default();
        let is = |member: &str| state.get(member).and_then(Value::as_bool) == Some(true);
        Some(Self {
            is_under_way: gate.is_some_and(|gate| gate.status == "False"),
            is_in_grace_period: pod.annotation("apps.kruise.io/inplace-update-grace").is_some(),
            awaits_daemon: is("updateEnvFromMetadata") && !is("updateImages"),
            since: state.get("updateTimestamp").and_then(|since| since.as_str()?.parse().ok()),
            containers: containers(&state),
            lifecycle: lifecycle.unwrap_or_default().to_owned(),
        })
    }

    /// Whether an update is not done: the pod prepares for it, is being updated, or waits for a lifecycle hook.
    #[must_use]
    pub fn is_unfinished(&self) -> bool {
        let is_moving = ["PreparingUpdate", "Updating", "Updated"].contains(&self.lifecycle.as_str());
        self.is_under_way || self.is_in_grace_period || is_moving
    }
}

/// Returns the containers of the last batch.
fn containers(state: &Value) -> Vec<String> {
    let batches = state.get("containerBatchesRecord").and_then(Value::as_array);
    let last = batches.and_then(|batches| batches.last()?.get("containers")?.as_array());
    last.into_iter().flatten().filter_map(|name| Some(name.as_str()?.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The kubelet restarts a container whose image changes, and the daemon any other one.
    #[test]
    fn the_daemon_is_awaited_for_changed_metadata_alone() {
        for (state, expected) in [
            (json!({"updateEnvFromMetadata": true}), true),
            (json!({"updateEnvFromMetadata": true, "updateImages": true}), false),
            (json!({"updateImages": true}), false),
        ] {
            let pod = json!({"kind": "Pod", "metadata": {"name": "w",
                "annotations": {"apps.kruise.io/inplace-update-state": state.to_string()}},
                "status": {"conditions": [{"type": GATE, "status": "False"}]}});
            let update = InPlaceUpdate::read(&Object::read(pod).unwrap()).unwrap();
            assert_eq!(update.awaits_daemon, expected, "{state}");
        }
    }
}
