//! The API objects of the simulated cluster.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::fake_cluster::{FakeCluster, FakePod};
use crate::api::object::Object;
use crate::api::pod::{Node, Pod};
use crate::engine::{LoopEvent, TargetEvent};
use crate::observation::Observation;
use crate::revision::Revisions;
use crate::step::Reply;

impl FakeCluster {
    pub(super) fn nodes(&self) -> Vec<Node> {
        let node = |index: i64| {
            let name = format!("n{index}");
            let status = if self.unready_nodes.contains(&name) { "Unknown" } else { "True" };
            let node = json!({"kind": "Node", "metadata": {"name": name},
                "status": {"conditions": [{"type": "Ready", "status": status}]}});
            Node::read(&Object::read(node).unwrap())
        };
        let nodes: BTreeSet<i64> = (0..self.replicas()).chain(self.pods.keys().copied()).collect();
        nodes.into_iter().map(node).collect()
    }

    pub(super) fn observed(&self) -> Observation {
        let workload = self.workload();
        let revisions = (1..=self.update().max(2)).map(|number| {
            let revision = json!({"kind": "ControllerRevision", "revision": number,
                "data": {"spec": {"template": template(number)}},
                "metadata": {"name": format!("db-{number}"), "labels": {"controller-revision-hash": format!("db-{number}")},
                    "ownerReferences": [{"controller": true, "uid": "u"}]}});
            Object::read(revision).unwrap()
        });
        let pods = Some(self.pods.iter().map(|(index, pod)| self.pod(*index, pod).into()).collect());
        Observation { revisions: Revisions::of(&workload, revisions), workload, pods, events: None }
    }

    pub(super) fn look(&self) -> LoopEvent<Reply> {
        refreshed(self.observed(), self.nodes())
    }

    fn pod(&self, index: i64, pod: &FakePod) -> Pod {
        let ready = pod.ready.is_some();
        let since = self.stamp(pod.ready.map_or(pod.created, |ready| ready + self.clocks_ahead));
        let is_broken = self.broken.contains(&pod.revision) || self.crashing.contains(&index);
        let state = if is_broken {
            json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}})
        } else {
            json!({"running": {"startedAt": self.stamp(pod.started + self.clocks_ahead).to_string()}})
        };
        let last = if is_broken || pod.restarts > 0 {
            json!({"terminated": {"exitCode": 1, "reason": "Error"}})
        } else {
            json!({})
        };
        let mut json = json!({"kind": "Pod",
            "metadata": {"name": format!("db-{index}"), "uid": pod.uid, "creationTimestamp": self.stamp(pod.created).to_string(),
                "labels": {"controller-revision-hash": format!("db-{}", pod.revision)},
                "ownerReferences": [{"controller": true, "uid": "u"}]},
            "spec": {"nodeName": format!("n{index}"), "containers": [{"name": "c"}]},
            "status": {"phase": "Running", "containerStatuses": [{"name": "c", "ready": ready, "started": true,
                    "restartCount": pod.restarts, "state": state, "lastState": last}],
                "conditions": [{"type": "PodScheduled", "status": "True"},
                    {"type": "Ready", "status": if ready { "True" } else { "False" }, "lastTransitionTime": since.to_string()}]}});
        if let Some(leaves_at) = pod.leaves_at {
            json["metadata"]["deletionTimestamp"] = self.stamp(leaves_at).to_string().into();
        }
        Pod::read(&Object::read(json).unwrap())
    }
}

/// Returns the event of a watch with this observation.
pub(super) fn watched(observation: Observation) -> TargetEvent {
    TargetEvent::Observed { observation: Box::new(observation), events_answered: true }
}

pub(super) fn template(number: i64) -> Value {
    json!({"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "c", "image": format!("x:{number}")}]}})
}

pub(super) fn refreshed(observed: Observation, nodes: Vec<Node>) -> LoopEvent<Reply> {
    LoopEvent::Answer(Reply::Refreshed { observed: Box::new(observed), nodes: Some(nodes) })
}
