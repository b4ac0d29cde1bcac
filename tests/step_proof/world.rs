//! A StatefulSet or a DaemonSet and its pods at one moment, as the oracles read them.
//!
//! Where a pod belongs is its place: its ordinal, or the number of its node.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use crate::step_proof::command::SETTLING;

/// Milliseconds since the epoch.
pub(crate) type Millis = i64;

/// The facts of one pod that the oracles use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pod {
    pub(crate) place: i64,
    pub(crate) image: String,
    pub(crate) is_leaving: bool,
    /// Since when it is ready, by its stamp.
    pub(crate) ready: Option<Millis>,
    /// When its youngest container started, by its stamp.
    pub(crate) started: Millis,
    /// Whether one of its containers has ended since it was created.
    pub(crate) has_terminated: bool,
}

impl Pod {
    pub(crate) fn of(pod: &Value) -> Self {
        let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
        let ready = conditions.into_iter().find(|one| one["type"] == "Ready" && one["status"] == "True");
        let runs = pod["status"]["phase"] == "Running";
        let containers = || pod["status"]["containerStatuses"].as_array().into_iter().flatten();
        let restarted = |one: &Value| one["restartCount"].as_i64().is_some_and(|count| count > 0);
        let started =
            containers().map(|one| stamp(&one["state"]["running"]["startedAt"]).unwrap_or(Millis::MAX));
        Self {
            place: place_of(pod).unwrap_or(-1),
            image: image_of(pod),
            is_leaving: !pod["metadata"]["deletionTimestamp"].is_null(),
            ready: ready.filter(|_| runs).and_then(|one| stamp(&one["lastTransitionTime"])),
            started: started.max().unwrap_or(Millis::MAX),
            has_terminated: containers().any(restarted),
        }
    }

    /// Whether it has been ready for `min_ready` seconds, and stays.
    pub(crate) fn is_available(&self, min_ready: i64, now: Millis) -> bool {
        !self.is_leaving && self.ready.is_some_and(|since| min_ready == 0 || since + min_ready * 1000 <= now)
    }

    /// Whether it has been well for a soak of so many seconds. One that has terminated since it was created has to be
    /// for as long as pods settle.
    pub(crate) fn has_soaked(&self, soak: i64, now: Millis) -> bool {
        let needed = if self.has_terminated { soak.max(SETTLING) } else { soak };
        self.healthy_since().is_some_and(|since| since + needed * 1000 <= now)
    }

    /// Since when nothing was wrong with it: ready, and no container started since.
    pub(crate) fn healthy_since(&self) -> Option<Millis> {
        self.ready.filter(|_| !self.is_leaving).map(|since| since.max(self.started))
    }
}

/// The image that a pod runs; in the grace period before an update in place, the one that it will run.
fn image_of(pod: &Value) -> String {
    let grace = pod["metadata"]["annotations"]["apps.kruise.io/inplace-update-grace"].as_str();
    let next = grace.and_then(|grace| {
        let spec: Value = serde_json::from_str(grace).ok()?;
        spec["containerImages"].as_object()?.values().next()?.as_str().map(str::to_owned)
    });
    next.unwrap_or_else(|| text(&pod["spec"]["containers"][0]["image"]))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn stamp(value: &Value) -> Option<Millis> {
    value.as_str()?.parse::<Timestamp>().ok().map(Timestamp::as_millisecond)
}

/// The ordinal in the name of a pod, or the number of the node it is on or is meant for.
fn place_of(pod: &Value) -> Option<i64> {
    if pod["metadata"]["ownerReferences"][0]["kind"] == "StatefulSet" {
        return pod["metadata"]["name"].as_str()?.rsplit('-').next()?.parse().ok();
    }
    let terms =
        "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms";
    let meant = pod.pointer(&format!("{terms}/0/matchFields/0/values/0"));
    node_number(pod["spec"]["nodeName"].as_str().or_else(|| meant?.as_str())?)
}

/// The number in the name of a node.
pub(crate) fn node_number(name: &str) -> Option<i64> {
    name.strip_prefix("node-")?.parse().ok()
}

/// A workload, its pods by name, and the nodes: whether each is ready.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub(crate) set: Arc<Value>,
    pub(crate) pods: BTreeMap<String, Pod>,
    pub(crate) nodes: BTreeMap<i64, bool>,
    /// The nodes that are tainted: no pod is wanted there, and one that is there stays.
    pub(crate) tainted: BTreeSet<i64>,
}

impl World {
    pub(crate) fn strategy(&self) -> &Value {
        &self.set["spec"]["updateStrategy"]
    }

    pub(crate) fn image(&self) -> &str {
        self.set["spec"]["template"]["spec"]["containers"][0]["image"].as_str().unwrap_or_default()
    }

    pub(crate) fn is_daemon_set(&self) -> bool {
        self.set["kind"] == "DaemonSet"
    }

    /// How many pods there should be.
    pub(crate) fn replicas(&self) -> i64 {
        if self.is_daemon_set() {
            return i64::try_from(self.wanted().len()).unwrap_or_default();
        }
        self.set["spec"]["replicas"].as_i64().unwrap_or(1)
    }

    /// The pod of a place, rather one that stays.
    pub(crate) fn pod(&self, place: i64) -> Option<&Pod> {
        self.pods.values().filter(|pod| pod.place == place).min_by_key(|pod| pod.is_leaving)
    }

    /// The places that should have a pod.
    pub(crate) fn wanted(&self) -> Vec<i64> {
        let wanted = |node: &i64| !self.tainted.contains(node) || self.pod(*node).is_some();
        if self.is_daemon_set() {
            self.nodes.keys().copied().filter(wanted).collect()
        } else {
            self.ordinals().collect()
        }
    }

    /// Whether a place should have a pod.
    pub(crate) fn wants(&self, place: i64) -> bool {
        let wanted = || !self.tainted.contains(&place) || self.pod(place).is_some();
        if self.is_daemon_set() {
            self.nodes.contains_key(&place) && wanted()
        } else {
            self.ordinals().contains(&place)
        }
    }

    pub(crate) fn min_ready(&self) -> i64 {
        self.set["spec"]["minReadySeconds"].as_i64().unwrap_or(0)
    }

    fn start(&self) -> i64 {
        self.set["spec"]["ordinals"]["start"].as_i64().unwrap_or(0)
    }

    fn ordinals(&self) -> std::ops::Range<i64> {
        self.start()..self.start() + self.replicas()
    }

    /// Returns the wanted ordinals that a partition releases.
    pub(crate) fn above(&self, partition: i64) -> std::ops::Range<i64> {
        let wanted = self.ordinals();
        (wanted.start + partition).min(wanted.end)..wanted.end
    }

    /// Returns the wanted ordinals that the present strategy releases.
    pub(crate) fn released(&self) -> std::ops::Range<i64> {
        if self.strategy()["type"] == "OnDelete" { 0..0 } else { self.above(partition(self.strategy())) }
    }

    /// Returns how many ordinals the strategy releases.
    pub(crate) fn released_count(&self) -> i64 {
        let released = self.released();
        released.end - released.start
    }

    /// Whether the pod of a place is of the live template.
    pub(crate) fn is_updated(&self, place: i64) -> bool {
        self.pod(place).is_some_and(|pod| pod.image == self.image())
    }

    pub(crate) fn is_available(&self, place: i64, now: Millis) -> bool {
        self.pod(place).is_some_and(|pod| pod.is_available(self.min_ready(), now))
    }

    /// The hold that is written down, whatever is in it.
    pub(crate) fn hold(&self) -> Option<Value> {
        let text = self.set["metadata"]["annotations"]["kubectl-rollout2/held"].as_str()?;
        Some(serde_json::from_str(text).unwrap_or(Value::Null))
    }

    /// Whether a plan is written down, and the strategy is the one that it set.
    pub(crate) fn is_stepped(&self) -> bool {
        let Some(hold) = self.hold().filter(|hold| hold["reason"] == "plan") else { return false };
        let (set, strategy) = (&hold["set"], self.strategy());
        set["type"] == strategy["type"] && partition(set) == partition(strategy)
    }

    /// Whether the plan is rolling back.
    pub(crate) fn rolls_back(&self) -> bool {
        self.hold().is_some_and(|hold| hold["plan"]["phase"] == "rollingBack")
    }

    /// Whether a process holds the lock of a plan.
    pub(crate) fn is_locked(&self) -> bool {
        self.hold().is_some_and(|hold| !hold["lock"].is_null())
    }

    /// Whether a plan is written down.
    pub(crate) fn has_plan(&self) -> bool {
        self.hold().is_some_and(|hold| hold["reason"] == "plan")
    }
}

/// The partition of a strategy.
pub(crate) fn partition(strategy: &Value) -> i64 {
    strategy["rollingUpdate"]["partition"].as_i64().unwrap_or(0)
}
