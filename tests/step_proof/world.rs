//! A workload and its pods at one moment, as the oracles read them.
//!
//! Where a pod belongs is its place: its ordinal, or the number of its node. A pod of a Deployment or a CloneSet has none.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use serde_json::{Map, Value};

use crate::step_proof::command::SETTLING;
use crate::step_proof::kind::Kind;

/// Milliseconds since the epoch.
pub(crate) type Millis = i64;

/// The facts of one pod that the oracles use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pod {
    pub(crate) place: i64,
    pub(crate) node: Option<i64>,
    pub(crate) image: String,
    pub(crate) is_leaving: bool,
    /// Since when it is ready, by its stamp.
    pub(crate) ready: Option<Millis>,
    /// When its youngest container started, by its stamp.
    pub(crate) started: Millis,
    /// Whether one of its containers has ended since it was created, other than by an update in place.
    pub(crate) has_terminated: bool,
}

impl Pod {
    pub(crate) fn of(pod: &Value) -> Self {
        let ready = simcluster::object::condition(pod, "Ready").filter(|one| one["status"] == "True");
        let runs = pod["status"]["phase"] == "Running";
        let containers = || pod["status"]["containerStatuses"].as_array().into_iter().flatten();
        let is_of_kruise = pod["metadata"]["ownerReferences"][0]["apiVersion"] != "apps/v1";
        let restarted =
            |one: &Value| one["restartCount"].as_i64().is_some_and(|count| count > 0) && !is_of_kruise;
        let started =
            containers().map(|one| stamp(&one["state"]["running"]["startedAt"]).unwrap_or(Millis::MAX));
        Self {
            place: place_of(pod).unwrap_or(-1),
            node: pod["spec"]["nodeName"].as_str().and_then(node_number),
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

    /// Whether it has been available for a soak of so many seconds. One that has terminated since it was created has to be
    /// for as long as pods settle.
    pub(crate) fn has_soaked(&self, min_ready: i64, soak: i64, now: Millis) -> bool {
        let needed = if self.has_terminated { soak.max(SETTLING) } else { soak };
        self.healthy_since(min_ready).is_some_and(|since| since + needed * 1000 <= now)
    }

    /// Since when it has been available: ready for `min_ready` seconds, and no container started since.
    pub(crate) fn healthy_since(&self, min_ready: i64) -> Option<Millis> {
        self.ready.filter(|_| !self.is_leaving).map(|since| (since + min_ready * 1000).max(self.started))
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
    match pod["metadata"]["ownerReferences"][0]["kind"].as_str()? {
        "StatefulSet" => return pod["metadata"]["name"].as_str()?.rsplit('-').next()?.parse().ok(),
        "DaemonSet" => {}
        _ => return None,
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

/// The `minReadySeconds` by which a plan holds a Deployment: no pod counts as available.
const NEVER_AVAILABLE: i64 = 2_147_483_646;

/// A workload, its pods by name, and the nodes: whether each is ready.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub(crate) kind: Kind,
    pub(crate) set: Arc<Value>,
    pub(crate) pods: BTreeMap<String, Pod>,
    pub(crate) nodes: BTreeMap<i64, bool>,
    /// The nodes that are tainted: no pod is wanted there, and one that is there stays.
    pub(crate) tainted: BTreeSet<i64>,
}

impl World {
    /// The reserved ordinals of an Advanced StatefulSet.
    pub(crate) fn reserved(&self) -> &Value {
        &self.set["spec"]["reserveOrdinals"]
    }

    pub(crate) fn strategy(&self) -> &Value {
        let spec = &self.set["spec"];
        if self.kind == Kind::Deployment { &spec["strategy"] } else { &spec["updateStrategy"] }
    }

    /// The fields of the spec that a plan replaces, without a pause, which a plan takes over.
    pub(crate) fn fields(&self) -> Map<String, Value> {
        let names: &[&str] = if self.kind == Kind::Deployment {
            &["minReadySeconds", "progressDeadlineSeconds", "strategy"]
        } else {
            &["updateStrategy"]
        };
        let present = names.iter().filter_map(|name| Some((*name, self.set["spec"].get(*name)?)));
        present.map(|(name, value)| (name.to_owned(), without_pause(value))).collect()
    }

    pub(crate) fn image(&self) -> &str {
        self.set["spec"]["template"]["spec"]["containers"][0]["image"].as_str().unwrap_or_default()
    }

    pub(crate) fn is_daemon_set(&self) -> bool {
        self.kind == Kind::DaemonSet
    }

    /// How many pods there should be.
    pub(crate) fn replicas(&self) -> i64 {
        match self.kind {
            Kind::DaemonSet => i64::try_from(self.wanted().len()).unwrap_or_default(),
            Kind::AdvancedDaemonSet => {
                self.set["status"]["desiredNumberScheduled"].as_i64().unwrap_or_default()
            }
            _ => self.set["spec"]["replicas"].as_i64().unwrap_or(1),
        }
    }

    /// The pod of a place, rather one that stays.
    pub(crate) fn pod(&self, place: i64) -> Option<&Pod> {
        self.pods.values().filter(|pod| pod.place == place).min_by_key(|pod| pod.is_leaving)
    }

    /// The places that should have a pod.
    pub(crate) fn wanted(&self) -> Vec<i64> {
        let wanted = |node: &i64| !self.tainted.contains(node) || self.pod(*node).is_some();
        if self.kind.is_on_nodes() {
            self.nodes.keys().copied().filter(wanted).collect()
        } else if self.kind.has_ordinals() {
            self.ordinals()
        } else {
            Vec::new()
        }
    }

    /// Whether a place should have a pod.
    pub(crate) fn wants(&self, place: i64) -> bool {
        let wanted = || !self.tainted.contains(&place) || self.pod(place).is_some();
        if self.kind.is_on_nodes() {
            self.nodes.contains_key(&place) && wanted()
        } else {
            self.ordinals().contains(&place)
        }
    }

    /// The pods that stay and are wanted.
    pub(crate) fn wanted_pods(&self) -> impl Iterator<Item = &Pod> {
        let ordinals = self.kind.has_ordinals().then(|| self.ordinals());
        let is_wanted = move |pod: &&Pod| ordinals.as_ref().is_none_or(|wanted| wanted.contains(&pod.place));
        self.pods.values().filter(|pod| !pod.is_leaving).filter(is_wanted)
    }

    /// How many of the wanted pods run the live template, or another one.
    pub(crate) fn count(&self, is_updated: bool) -> i64 {
        count(self.wanted_pods().filter(|pod| (pod.image == self.image()) == is_updated))
    }

    /// How many pods that run an image, or another one, are available by so many seconds.
    pub(crate) fn available(&self, image: &str, is_on: bool, seconds: i64, now: Millis) -> i64 {
        let pods = self.pods.values().filter(|pod| (pod.image == image) == is_on);
        count(pods.filter(|pod| pod.is_available(seconds, now)))
    }

    /// Whether as many pods are available as there should be.
    pub(crate) fn is_all_available(&self, now: Millis) -> bool {
        count(self.wanted_pods().filter(|pod| pod.is_available(self.min_ready(), now))) >= self.replicas()
    }

    pub(crate) fn min_ready(&self) -> i64 {
        let own = self.set["spec"]["minReadySeconds"].as_i64();
        self.strategy()["rollingUpdate"]["minReadySeconds"].as_i64().or(own).unwrap_or(0)
    }

    fn start(&self) -> i64 {
        self.set["spec"]["ordinals"]["start"].as_i64().unwrap_or(0)
    }

    fn ordinals(&self) -> Vec<i64> {
        let reserved = self.set["spec"]["reserveOrdinals"].as_array().map(Vec::as_slice).unwrap_or_default();
        let free = (self.start()..).filter(|ordinal| !reserved.iter().any(|one| has_ordinal(one, *ordinal)));
        free.take(usize::try_from(self.replicas()).unwrap_or_default()).collect()
    }

    /// Whether the partition of an Advanced StatefulSet is a number of pods, and the controller chooses them.
    pub(crate) fn is_unordered(&self) -> bool {
        !self.strategy()["rollingUpdate"]["unorderedUpdate"].is_null()
    }

    /// Returns the wanted ordinals of a StatefulSet that a partition releases.
    pub(crate) fn above(&self, partition: i64) -> Vec<i64> {
        self.ordinals().into_iter().skip(usize::try_from(partition).unwrap_or_default()).collect()
    }

    /// Returns the wanted ordinals of a StatefulSet that the present strategy releases.
    pub(crate) fn released(&self) -> Vec<i64> {
        if self.strategy()["type"] == "OnDelete" {
            return Vec::new();
        }
        self.above(partition(self.strategy()))
    }

    /// Returns how many pods the controller may bring to the live template.
    pub(crate) fn released_count(&self) -> i64 {
        let (strategy, wanted) = (self.strategy(), self.replicas());
        match self.kind {
            _ if strategy["type"] == "OnDelete" => 0,
            Kind::Deployment if self.set["spec"]["paused"] == true => self.count(true),
            Kind::Deployment if self.is_never_available() => {
                let (unavailable, surge) = self.kind.own_limits(strategy, wanted);
                (unavailable + surge).min(wanted)
            }
            _ => wanted - self.kind.kept(strategy, wanted),
        }
    }

    /// Whether the pod of a place is of the live template.
    pub(crate) fn is_updated(&self, place: i64) -> bool {
        self.pod(place).is_some_and(|pod| pod.image == self.image())
    }

    pub(crate) fn is_available(&self, place: i64, now: Millis) -> bool {
        self.pod(place).is_some_and(|pod| pod.is_available(self.min_ready(), now))
    }

    /// Whether no pod is outdated that the present strategy releases. A controller may keep a surplus pod until an updated
    /// one is available.
    pub(crate) fn is_released_updated(&self) -> bool {
        match self.kind {
            Kind::StatefulSet => self.released().into_iter().all(|place| self.is_updated(place)),
            Kind::DaemonSet => self.wanted().into_iter().all(|place| self.is_updated(place)),
            kind => {
                let kept = kind.kept(self.strategy(), self.replicas());
                let outdated = self.wanted_pods().filter(|pod| pod.image != self.image());
                count(outdated) <= kept || self.count(true) >= self.replicas() - kept
            }
        }
    }

    /// The hold that is written down, whatever is in it.
    pub(crate) fn hold(&self) -> Option<Value> {
        let text = self.set["metadata"]["annotations"]["kubectl-rollout2/held"].as_str()?;
        Some(serde_json::from_str(text).unwrap_or(Value::Null))
    }

    /// The batch that is written down; null for none.
    pub(crate) fn batch(&self) -> Value {
        self.hold().map_or(Value::Null, |mut hold| hold["plan"]["batch"].take())
    }

    /// Whether a plan is written down, and the strategy is the one that it set.
    pub(crate) fn is_stepped(&self) -> bool {
        let Some(hold) = self.hold().filter(|hold| hold["plan"].is_object()) else { return false };
        let (set, strategy) = (&hold["set"], self.strategy());
        match self.kind {
            Kind::Deployment => self.is_never_available(),
            kind if kind.is_of_kruise() => {
                let partition = &strategy["rollingUpdate"]["partition"];
                !partition.is_null() && set["rollingUpdate"]["partition"] == *partition
            }
            _ => set["type"] == strategy["type"] && partition(set) == partition(strategy),
        }
    }

    fn is_never_available(&self) -> bool {
        self.set["spec"]["minReadySeconds"] == NEVER_AVAILABLE
    }

    /// Whether the plan is rolling back.
    pub(crate) fn rolls_back(&self) -> bool {
        self.hold().is_some_and(|hold| hold["plan"]["rollingBack"] == true)
    }

    /// Whether a process holds the lock of a plan.
    pub(crate) fn is_locked(&self) -> bool {
        self.hold().is_some_and(|hold| !hold["lock"].is_null())
    }

    /// Whether a plan is written down.
    pub(crate) fn has_plan(&self) -> bool {
        self.hold().is_some_and(|hold| hold["plan"].is_object())
    }
}

/// Whether an entry of the reserved ordinals is a number, or a range that has it.
fn has_ordinal(reserved: &Value, ordinal: i64) -> bool {
    let range = reserved.as_str().and_then(|range| range.split_once('-'));
    let ends = range.and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
    *reserved == ordinal || ends.is_some_and(|(first, last): (i64, i64)| (first..=last).contains(&ordinal))
}

pub(crate) fn count<'p>(pods: impl Iterator<Item = &'p Pod>) -> i64 {
    i64::try_from(pods.count()).unwrap_or(i64::MAX)
}

/// The partition of the strategy of a StatefulSet.
pub(crate) fn partition(strategy: &Value) -> i64 {
    strategy["rollingUpdate"]["partition"].as_i64().unwrap_or(0)
}

/// A strategy of OpenKruise has its pause at the top, or below `rollingUpdate`.
fn without_pause(value: &Value) -> Value {
    let mut value = value.clone();
    for place in ["", "/rollingUpdate"] {
        if let Some(members) = value.pointer_mut(place).and_then(Value::as_object_mut) {
            members.remove("paused");
        }
    }
    value
}
