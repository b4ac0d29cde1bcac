//! A small cluster: one StatefulSet or DaemonSet, its controller, and the kubelets of its pods.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::observation::template;

use crate::api::object::Object;
use crate::api::patch::Patch;
use crate::change::written::{Conflict, Written};
use crate::hold::plan::HOLD_ANNOTATION;
use crate::kind::Workload;
use crate::kind::strategy;

pub(super) const START: &str = "2026-11-20T13:00:00Z";

/// The default time until a pod is ready.
const START_UP: u64 = 3;

/// A StatefulSet `db` whose template is that of revision 2, and which is all on revision 1.
pub(super) struct FakeCluster {
    pub(super) object: Value,
    pub(super) pods: BTreeMap<i64, FakePod>,
    /// Revisions whose pods never become ready, because they crash.
    pub(super) broken: BTreeSet<i64>,
    /// Pods that crash whatever they run.
    pub(super) crashing: BTreeSet<i64>,
    /// How long a pod takes until it is ready.
    pub(super) start_up: u64,
    /// Whether the controller works.
    pub(super) controls: bool,
    pub(super) unready_nodes: BTreeSet<String>,
    /// The nodes of a DaemonSet on which its controller can create no pod.
    pub(super) closed_nodes: BTreeSet<i64>,
    /// By how many seconds the clocks of the nodes are ahead.
    pub(super) clocks_ahead: u64,
    pub(super) seconds: u64,
    next_uid: usize,
}

#[derive(Clone, Debug)]
pub(super) struct FakePod {
    pub(super) uid: String,
    pub(super) revision: i64,
    pub(super) created: u64,
    pub(super) started: u64,
    pub(super) restarts: i64,
    /// Since when it is ready, if it is.
    pub(super) ready: Option<u64>,
    /// Until when it is not ready, whatever it is.
    pub(super) sick_until: u64,
    /// When the grace period of its deletion ends, if it is being deleted.
    pub(super) leaves_at: Option<u64>,
}

impl FakeCluster {
    pub(super) fn new(replicas: i64, strategy: &Value) -> Self {
        let object = json!({
            "kind": "StatefulSet", "apiVersion": "apps/v1",
            "metadata": {"name": "db", "namespace": "shop", "uid": "u", "generation": 2},
            "spec": {"replicas": replicas, "template": template(2), "updateStrategy": strategy},
            "status": {"observedGeneration": 2, "currentRevision": "db-1", "updateRevision": "db-2"},
        });
        let mut cluster = Self {
            object,
            pods: BTreeMap::new(),
            broken: BTreeSet::new(),
            crashing: BTreeSet::new(),
            start_up: START_UP,
            controls: true,
            unready_nodes: BTreeSet::new(),
            closed_nodes: BTreeSet::new(),
            clocks_ahead: 0,
            seconds: 10_000,
            next_uid: 0,
        };
        for index in 0..replicas {
            cluster.make(index, 1);
            if let Some(pod) = cluster.pods.get_mut(&index) {
                (pod.created, pod.started, pod.ready) = (0, 0, Some(0));
            }
        }
        cluster
    }

    /// The same, paused before anything moved.
    pub(super) fn paused(replicas: i64) -> Self {
        Self::paused_with(replicas, &json!({"type": "RollingUpdate"}))
    }

    pub(super) fn paused_with(replicas: i64, strategy: &Value) -> Self {
        let mut cluster = Self::new(replicas, strategy);
        cluster.pause();
        cluster
    }

    /// A DaemonSet on so many nodes, paused before anything moved.
    pub(super) fn paused_daemon_set(nodes: i64) -> Self {
        let mut cluster =
            Self::new(nodes, &json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}}));
        cluster.object["kind"] = "DaemonSet".into();
        cluster.object["status"] = json!({"observedGeneration": 2, "desiredNumberScheduled": nodes});
        cluster.pause();
        cluster
    }

    fn is_daemon_set(&self) -> bool {
        self.object["kind"] == "DaemonSet"
    }

    /// What `pause` writes.
    pub(super) fn pause(&mut self) {
        use crate::hold::{Pause, pause};
        match pause(&self.observed(), Some("ada@laptop"), START).unwrap() {
            Pause::Change { patch, .. } => drop(self.write(&patch)),
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn wall(&self) -> Timestamp {
        self.stamp(self.seconds)
    }

    #[expect(clippy::unused_self, reason = "it is this cluster's time")]
    pub(super) fn stamp(&self, seconds: u64) -> Timestamp {
        START.parse::<Timestamp>().unwrap() + SignedDuration::from_secs(i64::try_from(seconds).unwrap())
    }

    pub(super) fn replicas(&self) -> i64 {
        let count = if self.is_daemon_set() { "/status/desiredNumberScheduled" } else { "/spec/replicas" };
        self.object.pointer(count).unwrap().as_i64().unwrap()
    }

    pub(super) fn workload(&self) -> Workload {
        Workload::of(Object::read(self.object.clone()).unwrap()).unwrap()
    }

    pub(super) fn partition(&self) -> i64 {
        strategy::partition(&self.workload())
    }

    /// The live template's number.
    pub(super) fn update(&self) -> i64 {
        let image = self.object.pointer("/spec/template/spec/containers/0/image").unwrap().as_str().unwrap();
        image.strip_prefix("x:").unwrap().parse().unwrap()
    }

    pub(super) fn hold(&self) -> Option<Value> {
        let text = self.object["metadata"]["annotations"].get(HOLD_ANNOTATION)?.as_str()?;
        serde_json::from_str(text).ok()
    }

    pub(super) fn is_available(&self, index: i64) -> bool {
        self.pods.get(&index).is_some_and(|pod| pod.ready.is_some())
    }

    /// How many of the wanted pods are not available.
    pub(super) fn unavailable(&self) -> usize {
        (0..self.replicas()).filter(|index| !self.is_available(*index)).count()
    }

    pub(super) fn on(&self, revision: i64) -> usize {
        (0..self.replicas())
            .filter(|index| self.pods.get(index).is_some_and(|pod| pod.revision == revision))
            .count()
    }

    /// Changes the spec, as another client.
    pub(super) fn change(&mut self, pointer: &str, value: Value) {
        *self.object.pointer_mut(pointer).unwrap() = value;
        self.bump();
    }

    fn bump(&mut self) {
        let generation = self.object["metadata"]["generation"].as_i64().unwrap();
        self.object["metadata"]["generation"] = (generation + 1).into();
    }

    /// Applies a patch as the API server does.
    pub(super) fn write(&mut self, patch: &Patch) -> Written {
        let now = self.workload();
        if let Some(conflict) = Conflict::of(patch, now.object()) {
            return Written::Conflict(conflict);
        }
        let before = self.object["spec"].clone();
        self.object = patch.rebased_on(now.object()).after().clone();
        if self.object["spec"] != before {
            self.bump();
        }
        Written::Stored(self.workload().object().clone())
    }

    pub(super) fn delete(&mut self, pod: &str, uid: &str) {
        let index: i64 = pod.strip_prefix("db-").unwrap().parse().unwrap();
        if self.pods.get(&index).is_some_and(|pod| pod.uid == uid) {
            self.pods.remove(&index);
        }
    }

    /// One second of the controller and the kubelets.
    pub(super) fn tick(&mut self) {
        self.seconds += 1;
        let now = self.seconds;
        self.pods.retain(|_, pod| pod.leaves_at.is_none_or(|leaves_at| now < leaves_at));
        for (index, pod) in &mut self.pods {
            let is_up =
                now >= pod.started + self.start_up && now >= pod.sick_until && pod.leaves_at.is_none();
            let crashes = self.broken.contains(&pod.revision) || self.crashing.contains(index);
            if crashes && (now - pod.created).is_multiple_of(10) {
                (pod.restarts, pod.started) = (pod.restarts + 1, now);
            }
            match (is_up && !crashes, pod.ready) {
                (true, None) => pod.ready = Some(now),
                (false, Some(_)) => pod.ready = None,
                _ => {}
            }
        }
        match (self.controls, self.is_daemon_set()) {
            (false, _) => {}
            (true, false) => self.control(),
            (true, true) => self.control_daemon_set(),
        }
    }

    /// A pod of the live template for each node without one; with `RollingUpdate` it takes an outdated pod down
    /// as long as all are available, or one that is not.
    fn control_daemon_set(&mut self) {
        let (nodes, update) = (self.replicas(), self.update());
        let is_rolling = self.object["spec"]["updateStrategy"]["type"] == "RollingUpdate";
        let is_missing = |node: &i64| !self.pods.contains_key(node) && !self.closed_nodes.contains(node);
        let missing: Vec<i64> = (0..nodes).filter(is_missing).collect();
        for index in &missing {
            self.make(*index, update);
        }
        let is_outdated = |index: &i64| self.pods.get(index).is_some_and(|pod| pod.revision != update);
        let may_go = |index: &i64| self.unavailable() == 0 || !self.is_available(*index);
        let next = (0..nodes).filter(is_outdated).find(may_go).filter(|_| is_rolling);
        next.map(|index| self.pods.remove(&index));
        let status = json!({
            "observedGeneration": self.object["metadata"]["generation"], "desiredNumberScheduled": nodes,
            "currentNumberScheduled": self.pods.len(), "updatedNumberScheduled": self.on(update),
            "numberAvailable": self.pods.len() - self.unavailable().min(self.pods.len()),
        });
        self.object["status"] = status;
    }

    /// `OrderedReady`, one pod at a time.
    fn control(&mut self) {
        let (replicas, partition, update) = (self.replicas(), self.partition(), self.update());
        let current = self.current();
        self.object["status"]["observedGeneration"] = self.object["metadata"]["generation"].clone();
        self.object["status"]["updateRevision"] = format!("db-{update}").into();
        self.settle(replicas, partition, update, current);
        let on = |revision| {
            (0..replicas)
                .filter(|index| self.pods.get(index).is_some_and(|pod| pod.revision == revision))
                .count()
        };
        let ready = (0..replicas).filter(|index| self.is_available(*index)).count();
        let updated = on(update);
        let status = &mut self.object["status"];
        status["replicas"] = self.pods.len().into();
        status["readyReplicas"] = ready.into();
        status["availableReplicas"] = ready.into();
        status["updatedReplicas"] = updated.into();
        let all = usize::try_from(replicas).unwrap();
        if updated == all && ready == all {
            status["currentRevision"] = format!("db-{update}").into();
        }
    }

    fn settle(&mut self, replicas: i64, partition: i64, update: i64, current: i64) {
        for index in 0..replicas {
            if !self.pods.contains_key(&index) {
                self.make(index, if index < partition { current } else { update });
                return;
            }
            if !self.is_available(index) {
                return;
            }
        }
        if let Some(last) = self.pods.keys().copied().next_back().filter(|last| *last >= replicas) {
            self.pods.remove(&last);
            return;
        }
        for index in (partition..replicas).rev() {
            if self.pods.get(&index).is_some_and(|pod| pod.revision != update) {
                self.pods.remove(&index);
                return;
            }
        }
    }

    fn current(&self) -> i64 {
        let current = self.object["status"]["currentRevision"].as_str().unwrap();
        current.strip_prefix("db-").unwrap().parse().unwrap()
    }

    fn make(&mut self, index: i64, revision: i64) {
        self.next_uid += 1;
        let (uid, now) = (format!("{index}-{}", self.next_uid), self.seconds);
        let pod = FakePod {
            uid,
            revision,
            created: now,
            started: now,
            restarts: 0,
            ready: None,
            sick_until: 0,
            leaves_at: None,
        };
        self.pods.insert(index, pod);
    }
}
