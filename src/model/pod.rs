//! What we remember of a pod.

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::condition::Condition;
use super::container::Container;
use super::object::Object;

/// The facts of one pod that rollouts depend on; the rest of the object is dropped, because ten
/// thousand pods as raw JSON are hundreds of megabytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pod {
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// The uid of its controller, empty when it has none.
    pub owner_uid: String,
    /// The label `controller-revision-hash`: a StatefulSet's full revision name, a DaemonSet's
    /// short hash; empty on a Deployment's pods, which their ReplicaSet tells apart.
    pub revision_hash: String,
    /// The node it was bound to, empty before.
    pub node: String,
    /// The node it may be bound to alone, which is how a DaemonSet makes its pods; empty where it may
    /// be bound to several.
    pub meant_for: String,
    /// The number its name ends with: the ordinal of a StatefulSet's pod. Other pods may have one
    /// by chance.
    pub ordinal: Option<i64>,
    /// When it was created.
    pub created: Option<Timestamp>,
    /// Its condition `Ready`.
    pub ready: bool,
    /// Whether its deletion was asked for.
    pub terminating: bool,
    /// When its grace period ends, if its deletion was asked for (`metadata.deletionTimestamp`).
    pub gone_by: Option<Timestamp>,
    /// What must be done before it can go (`metadata.finalizers`).
    pub finalizers: Vec<String>,
    /// `Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`.
    pub phase: String,
    /// Why the whole pod failed (`status.reason`), such as `Evicted`.
    pub reason: String,
    /// The same in a sentence (`status.message`).
    pub message: String,
    /// The condition `Ready` in full.
    pub readiness: Condition,
    /// The condition `ContainersReady`, which only the kubelet writes.
    pub containers_ready: bool,
    /// The condition `PodScheduled`.
    pub scheduling: Condition,
    /// Its containers, the init containers first.
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
            meant_for: only_node(object).unwrap_or_default().to_owned(),
            ordinal: object.name().rsplit_once('-').and_then(|(_, number)| number.parse().ok()),
            created: object.created(),
            ready: readiness.holds(),
            terminating: object.at("/metadata/deletionTimestamp").is_some(),
            gone_by: object.time("/metadata/deletionTimestamp"),
            finalizers: texts(object.at("/metadata/finalizers")),
            phase: text("/status/phase"),
            reason: text("/status/reason"),
            message: text("/status/message"),
            readiness,
            containers_ready: Condition::read(object, "ContainersReady")
                .is_some_and(|condition| condition.holds()),
            scheduling: Condition::read(object, "PodScheduled").unwrap_or_default(),
            containers: Container::all_of(object.json()),
        }
    }

    /// Whether it ended for good, and counts for no controller any more.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        matches!(self.phase.as_str(), "Failed" | "Succeeded")
    }

    /// Whether controllers count it among their pods: `IsPodActive` in Kubernetes' own words.
    #[must_use]
    pub fn is_active(&self) -> bool {
        !self.terminating && !self.has_ended()
    }

    /// Whether it was ready for at least `min_ready_seconds`, as controllers ask.
    #[must_use]
    pub fn is_available(&self, min_ready_seconds: i64, now: Timestamp) -> bool {
        let long_enough =
            |since: Timestamp| now.duration_since(since) >= SignedDuration::from_secs(min_ready_seconds);
        self.ready && (min_ready_seconds <= 0 || self.readiness.since.is_some_and(long_enough))
    }
}

/// The node that a pod's affinity asks for by name.
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_pod_of_a_daemon_set_says_where_it_belongs_before_it_is_there() {
        let only = json!({"key": "metadata.name", "operator": "In", "values": ["node-7"]});
        let terms = json!([{"matchFields": [only]}]);
        let affinity =
            json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}});
        let spec = json!({"affinity": {"nodeAffinity": affinity}});
        let pod = json!({"kind": "Pod", "metadata": {"name": "agent-x"}, "spec": spec});
        let pod = Pod::read(&Object::read(pod).unwrap());
        assert_eq!((pod.node.as_str(), pod.meant_for.as_str()), ("", "node-7"));
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
}
