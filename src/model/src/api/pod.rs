//! The fields of pods that rollouts depend on, with the update in place as the controllers of OpenKruise record it; and those
//! of nodes.

use std::collections::BTreeMap;

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::container::{Container, ContainerState, was_resized};
use super::object::{Condition, Object};

/// The fields of a pod that rollouts depend on. The rest is dropped, because ten thousand pods as
/// raw JSON take hundreds of megabytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one fact that the API server reports")]
pub struct Pod {
    /// `metadata.name`.
    pub name: String,
    /// `metadata.uid`.
    pub uid: String,
    /// The uid of its controller; empty if it has none.
    pub owner_uid: String,
    /// The label `controller-revision-hash`: the revision name for a StatefulSet, the short hash
    /// for a DaemonSet. Empty for a Deployment, whose pods belong to ReplicaSets.
    pub revision_hash: String,
    /// `spec.nodeName`; empty until the pod is scheduled.
    pub node: String,
    /// The only node the pod may be scheduled to, as the DaemonSet controller sets it by node
    /// affinity. Empty if there may be several.
    pub required_node: String,
    /// The number at the end of the name: the ordinal of a StatefulSet's pod. Pods of other kinds
    /// may have one by chance.
    pub ordinal: Option<i64>,
    /// `metadata.creationTimestamp`.
    pub created: Option<Timestamp>,
    /// Whether the condition `Ready` is true.
    pub ready: bool,
    /// Whether `metadata.deletionTimestamp` is set.
    pub terminating: bool,
    /// `metadata.deletionTimestamp`, the end of the grace period.
    pub deletion_deadline: Option<Timestamp>,
    /// The seconds that a terminating pod has to end: `metadata.deletionGracePeriodSeconds`.
    pub grace_seconds: Option<i64>,
    /// `metadata.finalizers`.
    pub finalizers: Vec<String>,
    /// `Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`.
    pub phase: String,
    /// `status.reason`, such as `Evicted`.
    pub reason: String,
    /// `status.message`.
    pub message: String,
    /// The condition `Ready`.
    pub readiness: Condition,
    /// Whether the condition `ContainersReady` is true. Only the kubelet writes it.
    pub containers_ready: bool,
    /// Whether its node was read and is not ready.
    pub node_is_lost: bool,
    /// The condition `PodScheduled`.
    pub scheduling: Condition,
    /// The condition `PodReadyToStartContainers`: its volumes are mounted and its sandbox has a network.
    /// Kubelets before 1.29 do not write it.
    pub sandbox: Condition,
    /// Whether a client resized it in place: a field manager wrote through the subresource `resize`.
    pub resized: bool,
    /// The update in place, for pods of controllers that update in place.
    pub in_place_update: Option<InPlaceUpdate>,
    /// The containers, init containers first.
    pub containers: Vec<Container>,
}

impl Pod {
    /// Reads a pod.
    #[must_use]
    pub fn read(object: &Object) -> Self {
        let text = |pointer| object.text(pointer).unwrap_or_default().to_owned();
        let readiness = Condition::read(object, "Ready").unwrap_or_default();
        Self {
            name: object.name().to_owned(),
            uid: object.uid().to_owned(),
            owner_uid: object.controller().map(|owner| owner.uid.to_owned()).unwrap_or_default(),
            revision_hash: object.label("controller-revision-hash").unwrap_or_default().to_owned(),
            node: text("/spec/nodeName"),
            required_node: only_node(object).unwrap_or_default().to_owned(),
            ordinal: object.name().rsplit_once('-').and_then(|(_, number)| number.parse().ok()),
            created: object.created(),
            ready: readiness.is_true(),
            terminating: object.at("/metadata/deletionTimestamp").is_some(),
            deletion_deadline: object.time("/metadata/deletionTimestamp"),
            grace_seconds: object.int("/metadata/deletionGracePeriodSeconds"),
            finalizers: texts(object.at("/metadata/finalizers")),
            phase: text("/status/phase"),
            reason: text("/status/reason"),
            message: text("/status/message"),
            readiness,
            containers_ready: Condition::read(object, "ContainersReady")
                .is_some_and(|condition| condition.is_true()),
            node_is_lost: false,
            scheduling: Condition::read(object, "PodScheduled").unwrap_or_default(),
            sandbox: Condition::read(object, "PodReadyToStartContainers").unwrap_or_default(),
            resized: was_resized(object.json()),
            in_place_update: InPlaceUpdate::read(object),
            containers: Container::all_of(object.json()),
        }
    }

    /// Whether the phase is `Failed` or `Succeeded`. Controllers no longer count such a pod.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        matches!(self.phase.as_str(), "Failed" | "Succeeded")
    }

    /// Whether controllers count the pod (`IsPodActive` in the controller package).
    #[must_use]
    pub fn is_active(&self) -> bool {
        !self.terminating && !self.has_ended()
    }

    /// Whether its node does not answer. The node controller then sets `Ready` to false and leaves `ContainersReady`, which only
    /// the kubelet writes (`MarkPodsNotReady` in `controller/util/node`). A pod that was not ready before shows nothing of it, so
    /// that its node must be read.
    #[must_use]
    pub fn is_on_lost_node(&self) -> bool {
        if self.node_is_lost {
            return !self.ready;
        }
        !self.ready
            && self.containers_ready
            && self.readiness.reason != "ReadinessGatesNotReady"
            && self.readiness.status == "False"
    }

    /// Whether its controller updates it in place and is not done yet.
    #[must_use]
    pub fn is_updating_in_place(&self) -> bool {
        self.in_place_update.as_ref().is_some_and(InPlaceUpdate::is_unfinished)
    }

    /// Returns when it got its present template: when it was created, or updated in place.
    #[must_use]
    pub fn updated_at(&self) -> Option<Timestamp> {
        self.created.max(self.in_place_update.as_ref().and_then(|update| update.since))
    }

    /// Returns since when a ready pod is ready with every container running. The kubelet can miss the moment in which a container
    /// was not ready. A pod cannot be ready before the API server created it, even if the clock of its node is behind.
    #[must_use]
    pub fn ready_since(&self) -> Option<Timestamp> {
        let started = self.containers.iter().filter_map(|container| match container.state {
            ContainerState::Running { since } => since,
            _ => None,
        });
        started.chain(self.created).chain(self.readiness.since).max()
    }

    /// Returns since when an available pod has been available: ready for `min_ready_seconds`, with every container running.
    #[must_use]
    pub fn available_since(&self, min_ready_seconds: i64) -> Option<Timestamp> {
        let min_ready = SignedDuration::from_secs(min_ready_seconds.max(0));
        let available = self.readiness.since.and_then(|since| since.checked_add(min_ready).ok());
        self.ready_since().max(available)
    }

    /// Whether the pod has been ready for at least `min_ready_seconds`, as controllers define
    /// availability.
    #[must_use]
    pub fn is_available(&self, min_ready_seconds: i64, now: Timestamp) -> bool {
        let long_enough =
            |since: Timestamp| now.duration_since(since) >= SignedDuration::from_secs(min_ready_seconds);
        self.ready && (min_ready_seconds <= 0 || self.readiness.since.is_some_and(long_enough))
    }
}

/// Returns the node that the pod's affinity requires by name.
fn only_node(pod: &Object) -> Option<&str> {
    let terms =
        "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms";
    let fields = pod.at(terms)?.get(0)?.get("matchFields")?.as_array()?;
    let name = fields.iter().find(|field| field.get("key").is_some_and(|key| key == "metadata.name"))?;
    name.get("values")?.get(0)?.as_str()
}

fn texts(list: Option<&Value>) -> Vec<String> {
    let items = list.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

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
            containers: restarted_containers(&state),
            lifecycle: lifecycle.unwrap_or_default().to_owned(),
        })
    }

    /// Whether an update is not done: the pod prepares for it, is being updated, or waits for a lifecycle hook.
    fn is_unfinished(&self) -> bool {
        let is_moving = ["PreparingUpdate", "Updating", "Updated"].contains(&self.lifecycle.as_str());
        self.is_under_way || self.is_in_grace_period || is_moving
    }
}

/// Returns the containers of the last batch of an update in place.
fn restarted_containers(state: &Value) -> Vec<String> {
    let batches = state.get("containerBatchesRecord").and_then(Value::as_array);
    texts(batches.and_then(|batches| batches.last()?.get("containers")))
}

/// The fields of a node that `step` depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The name.
    pub name: String,
    /// The labels.
    pub labels: BTreeMap<String, String>,
    /// Whether the condition `Ready` is true, as the kubelet and the node controller report it.
    pub ready: bool,
}

impl Node {
    /// Reads a node.
    #[must_use]
    pub fn read(object: &Object) -> Self {
        let labels = object.at("/metadata/labels").and_then(serde_json::Value::as_object);
        let labels = labels.into_iter().flatten();
        Self {
            name: object.name().to_owned(),
            labels: labels
                .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
                .collect(),
            ready: Condition::read(object, "Ready").is_some_and(|condition| condition.is_true()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_daemon_set_pod_has_its_required_node_before_scheduling() {
        let only = json!({"key": "metadata.name", "operator": "In", "values": ["node-7"]});
        let terms = json!([{"matchFields": [only]}]);
        let affinity =
            json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}});
        let spec = json!({"affinity": {"nodeAffinity": affinity}});
        let pod = json!({"kind": "Pod", "metadata": {"name": "agent-x"}, "spec": spec});
        let pod = Pod::read(&Object::read(pod).unwrap());
        assert_eq!((pod.node.as_str(), pod.required_node.as_str()), ("", "node-7"));
    }

    fn pod(status: &Value) -> Pod {
        let pod = json!({"kind": "Pod", "metadata": {"name": "db-12"}, "status": status});
        Pod::read(&Object::read(pod).unwrap())
    }

    #[test]
    fn a_pod_is_available_once_it_was_ready_long_enough() {
        let ready = pod(&json!({"conditions": [
            {"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-20T13:00:00Z"},
        ]}));
        let at = |time: &str| time.parse().unwrap();
        assert_eq!(ready.ordinal, Some(12));
        assert!(ready.is_available(0, at("2026-11-20T13:00:00Z")));
        assert!(!ready.is_available(30, at("2026-11-20T13:00:29Z")));
        assert!(ready.is_available(30, at("2026-11-20T13:00:30Z")));
        assert!(!pod(&json!({})).is_available(0, at("2026-11-20T13:00:00Z")));
    }

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

    #[test]
    fn a_node_is_ready_by_its_ready_condition() {
        let node = |status: &str| {
            let node = json!({"kind": "Node", "metadata": {"name": "n1", "labels": {"zone": "a"}},
                "status": {"conditions": [{"type": "Ready", "status": status}]}});
            Node::read(&Object::read(node).unwrap())
        };
        assert!(node("True").ready && !node("Unknown").ready && !node("False").ready);
        assert_eq!(node("True").labels["zone"], "a");
    }
}
