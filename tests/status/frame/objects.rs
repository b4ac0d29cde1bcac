//! Rollouts in progress, and followers that observed them.

use harness::prelude::*;
use rollout2::model::api::event::Events;
use rollout2::model::api::object::Object;
use rollout2::model::api::pod::Pod;
use rollout2::model::cause::container_logs::LogLines;
use rollout2::model::engine::{Engine, LoopEvent, Now, TargetEvent, TargetId};
use rollout2::model::follow::{FollowOptions, Follower, Rollbacks};
use rollout2::model::hold::mechanism::hold_budget::NEVER_AVAILABLE;
use rollout2::model::hold::plan::HOLD_ANNOTATION;
use rollout2::model::kind::Workload;
use rollout2::model::kind::deployment::Deployment;
use rollout2::model::observation::Observation;
use rollout2::model::revision::{Revision, Revisions};
use rollout2::render::message_writer::Frame;
use rollout2::render::state_words::NameContext;
use rollout2::world::Terminal;

/// A Deployment from revision 4 to revision 5 of the image `shop/NAME`.
#[derive(Clone)]
pub(crate) struct RolloutFixture {
    pub(crate) name: String,
    pub(crate) wanted: usize,
    /// The number of ready pods of revision 5.
    pub(crate) ready: usize,
    /// The container statuses of the unready pods of revision 5.
    pub(crate) unready: Vec<Value>,
    /// The number of pods of revision 4, which are all ready.
    pub(crate) old: usize,
    pub(crate) logs: Vec<LogLines>,
    /// Whether a plan of `step` holds it, so that its controller counts no pod as available.
    pub(crate) is_stepped: bool,
}

impl RolloutFixture {
    pub(crate) fn new(name: &str, wanted: usize, ready: usize, old: usize) -> Self {
        let (unready, logs) = (Vec::new(), Vec::new());
        Self { name: name.to_owned(), wanted, ready, unready, old, logs, is_stepped: false }
    }

    /// Adds unready pods of revision 5 with this container status.
    pub(crate) fn with(mut self, count: usize, container: &Value) -> Self {
        self.unready.extend(std::iter::repeat_n(container.clone(), count));
        self
    }

    /// Adds log lines of the first unready pod.
    pub(crate) fn with_log(mut self, lines: &[&str]) -> Self {
        self.logs.push(LogLines {
            pod: self.pod_name(5, self.ready),
            container: "app".to_owned(),
            lines: lines.iter().map(|&line| line.to_owned()).collect(),
        });
        self
    }

    fn workload(&self) -> Workload {
        let updated = self.ready + self.unready.len();
        let mut object = json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": self.name, "namespace": "shop", "uid": self.name, "generation": 5},
            "spec": {
                "replicas": self.wanted, "selector": {"matchLabels": {"app": self.name}},
                "strategy": {"rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
                "template": self.template(5),
            },
            "status": {
                "observedGeneration": 5, "replicas": updated + self.old, "updatedReplicas": updated,
                "readyReplicas": self.ready + self.old, "availableReplicas": self.ready + self.old,
            },
        });
        if self.is_stepped {
            let template =
                Workload::of(Object::read(object.clone()).unwrap()).unwrap().template_digest().hex();
            let plan = json!({"template": template, "pace": {"by": "1", "canary": true, "soak": "10s", "finalSoak": "0s", "batchTimeout": "10m0s", "onFailure": "hold"}});
            let hold = json!({"version": 1, "set": {}, "strategy": {"minReadySeconds": 0}, "plan": plan});
            object["metadata"]["annotations"] = json!({HOLD_ANNOTATION: hold.to_string()});
            object["spec"]["minReadySeconds"] = NEVER_AVAILABLE.into();
            object["status"]["availableReplicas"] = 0.into();
        }
        Workload::of(Object::read(object).unwrap()).unwrap()
    }

    fn template(&self, number: usize) -> Value {
        json!({"spec": {"containers": [{"name": "app", "image": format!("shop/{}:{number}", self.name)}]}})
    }

    fn revision(&self, number: usize) -> Revision {
        let object = json!({
            "kind": "ReplicaSet",
            "metadata": {
                "name": self.revision_name(number), "uid": self.revision_name(number),
                "annotations": {"deployment.kubernetes.io/revision": number.to_string()},
                "ownerReferences": [{"controller": true, "uid": self.name}],
            },
            "spec": {"template": self.template(number)},
        });
        Revision::read(&Deployment, &Object::read(object).unwrap())
    }

    fn revision_name(&self, number: usize) -> String {
        format!("{}-{}", self.name, ["6f9ab", "7c5d9"][number % 2])
    }

    fn pod_name(&self, number: usize, index: usize) -> String {
        format!("{}-{index:05}", self.revision_name(number))
    }

    fn pods(&self) -> Vec<Pod> {
        let ready = json!({"name": "app", "ready": true, "state": {"running": {}}});
        let new = std::iter::repeat_n(&ready, self.ready).chain(&self.unready);
        let new = new.enumerate().map(|(index, container)| self.pod(5, index, container));
        let old = (0..self.old).map(|index| self.pod(4, index, &ready));
        new.chain(old).collect()
    }

    fn pod(&self, number: usize, index: usize, container: &Value) -> Pod {
        let ready = if container["ready"] == true { "True" } else { "False" };
        let object = json!({
            "kind": "Pod",
            "metadata": {
                "name": self.pod_name(number, index), "uid": self.pod_name(number, index),
                "ownerReferences": [{"controller": true, "uid": self.revision_name(number)}],
            },
            "spec": {"nodeName": "node-1"},
            "status": {
                "phase": "Running", "containerStatuses": [container],
                "conditions": [{"type": "Ready", "status": ready}],
            },
        });
        Pod::read(&Object::read(object).unwrap())
    }
}

/// Returns the status of a container in a crash loop.
pub(crate) fn crashing() -> Value {
    json!({
        "name": "app", "image": "x", "restartCount": 3,
        "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 40s restarting"}},
        "lastState": {"terminated": {"exitCode": 1, "reason": "Error"}},
    })
}

/// Returns the status of a container whose image cannot be pulled, with the message of the runtime.
pub(crate) fn without_image(message: &str) -> Value {
    json!({
        "name": "app", "image": "x",
        "state": {"waiting": {"reason": "ErrImagePull", "message": message}},
    })
}

/// Returns the status of a container that is being created.
pub(crate) fn starting() -> Value {
    json!({"name": "app", "image": "x", "state": {"waiting": {"reason": "ContainerCreating"}}})
}

/// Returns a follower that observed the rollouts at these times, in seconds.
pub(crate) fn follower(observations: &[(u64, &[RolloutFixture])]) -> Follower {
    let workloads = observations
        .first()
        .into_iter()
        .flat_map(|(_, rollouts)| rollouts.iter().map(RolloutFixture::workload));
    let mut follower = Follower::new(FollowOptions::default(), workloads);
    for (seconds, rollouts) in observations {
        for (index, rollout) in rollouts.iter().enumerate() {
            let workload = rollout.workload();
            let revisions = [4, 5].map(|number| rollout.revision(number).into());
            let observation = Box::new(Observation {
                revisions: Revisions::among(&workload, revisions),
                workload,
                pods: Some(rollout.pods().into_iter().map(Into::into).collect()),
                events: Some(Events::default()),
            });
            let observed = TargetEvent::Observed { observation, events_answered: true };
            let logs = rollout.logs.iter().cloned().map(TargetEvent::Log);
            for event in std::iter::once(observed).chain(logs) {
                follower.apply(LoopEvent::Target(TargetId::of(index), event), at(*seconds));
            }
        }
    }
    follower
}

/// Returns the time this many seconds after the start.
pub(crate) fn at(seconds: u64) -> Now {
    Now { elapsed: Duration::from_secs(seconds), server_time: "2026-11-20T13:00:00Z".parse().unwrap() }
}

/// Returns the frame of a follower at a time, in seconds.
pub(crate) fn frame(follower: &Follower, seconds: u64, size: Terminal) -> Frame {
    frame_with(follower, seconds, size, false)
}

/// The same, with each pod.
pub(crate) fn frame_with(follower: &Follower, seconds: u64, size: Terminal, shows_pods: bool) -> Frame {
    Frame::of(follower, &Rollbacks::new(), at(seconds), NameContext::default(), shows_pods, false, size)
}
