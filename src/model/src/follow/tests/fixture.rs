//! A simulated workload with its revisions and pods, and a follower that receives its events.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::api::event::Events;
use crate::api::object::Object;
use crate::api::pod::Pod;
use crate::cause::Cause;
use crate::engine::*;
use crate::exit::Exit;
use crate::follow::*;
use crate::kind::Workload;
use crate::observation::Observation;
use crate::revision::Revisions;

pub(super) const START: &str = "2026-11-20T13:00:00Z";

/// The actual state of a workload.
#[derive(Clone, Debug)]
pub(super) struct Truth {
    pub(super) kind: &'static str,
    pub(super) uid: &'static str,
    pub(super) generation: i64,
    pub(super) observed_generation: i64,
    /// The number of the current revision; its image is `app:NUMBER`.
    pub(super) revision: i64,
    pub(super) wanted: i64,
    /// `[total, updated, ready, available]`.
    pub(super) counts: [i64; 4],
    pub(super) spec: Value,
    pub(super) status: Value,
    pub(super) pods: Vec<Value>,
    pub(super) pods_withheld: bool,
}

/// A Deployment of three pods that rolls out its second revision.
pub(super) fn deployment(counts: [i64; 4]) -> Truth {
    Truth {
        kind: "Deployment",
        uid: "u1",
        generation: 2,
        observed_generation: 2,
        revision: 2,
        wanted: 3,
        counts,
        spec: json!({"progressDeadlineSeconds": 600}),
        status: json!({}),
        pods: Vec::new(),
        pods_withheld: false,
    }
}

/// A StatefulSet of three pods that rolls out its second revision.
pub(super) fn stateful_set(counts: [i64; 4], partition: i64) -> Truth {
    let strategy = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": partition}});
    Truth { kind: "StatefulSet", spec: json!({"updateStrategy": strategy}), ..deployment(counts) }
}

/// All pods are updated and available.
pub(super) const DONE: [i64; 4] = [3, 3, 3, 3];
/// One pod is updated and not ready.
pub(super) const BEGUN: [i64; 4] = [4, 1, 3, 3];

impl Truth {
    pub(super) fn workload(&self) -> Workload {
        let [total, updated, ready, available] = self.counts;
        let mut status = json!({
            "observedGeneration": self.observed_generation, "replicas": total, "updatedReplicas": updated,
            "readyReplicas": ready, "availableReplicas": available,
        });
        let mut spec = json!({
            "replicas": self.wanted, "template": template(self.revision),
            "selector": {"matchLabels": {"app": "web"}},
        });
        merge(&mut status, &self.status);
        merge(&mut spec, &self.spec);
        let object = json!({
            "kind": self.kind, "apiVersion": "apps/v1", "spec": spec, "status": status,
            "metadata": {
                "name": "web", "namespace": "shop", "uid": self.uid, "generation": self.generation,
                "annotations": {"deployment.kubernetes.io/revision": self.revision.to_string()},
            },
        });
        Workload::of(Object::read(object).unwrap()).unwrap()
    }

    pub(super) fn owned(&self) -> Vec<Object> {
        let kind = if self.kind == "Deployment" { "ReplicaSet" } else { "ControllerRevision" };
        let revision = |number: i64| {
            let object = json!({
                "kind": kind, "revision": number, "spec": {"template": template(number)},
                "data": {"spec": {"template": template(number)}},
                "metadata": {
                    "name": format!("web-{number}"), "namespace": "shop", "uid": format!("r{number}"),
                    "creationTimestamp": format!("2026-11-20T12:00:{number:02}Z"),
                    "annotations": {"deployment.kubernetes.io/revision": number.to_string()},
                    "ownerReferences": [{"controller": true, "uid": self.uid}],
                },
            });
            Object::read(object).unwrap()
        };
        (1..=self.revision).map(revision).collect()
    }

    pub(super) fn pods(&self) -> Option<Vec<Arc<Pod>>> {
        let read = |pod: &Value| Arc::new(Pod::read(&Object::read(pod.clone()).unwrap()));
        (!self.pods_withheld).then(|| self.pods.iter().map(read).collect())
    }

    /// Returns everything, as the observer emits it.
    pub(super) fn observed(&self) -> TargetEvent {
        self.observed_with(self.owned())
    }

    /// Returns everything with these revisions.
    pub(super) fn observed_with(&self, owned: Vec<Object>) -> TargetEvent {
        let workload = self.workload();
        let revisions = Revisions::of(&workload, owned);
        let observation =
            Observation { workload, revisions, pods: self.pods(), events: Some(Events::default()) };
        TargetEvent::Observed { observation: Box::new(observation), events_answered: true }
    }

    pub(super) fn request_refresh(&self) -> TargetEvent {
        self.refreshed_with(self.owned())
    }

    /// Returns a refresh with these revisions.
    pub(super) fn refreshed_with(&self, owned: Vec<Object>) -> TargetEvent {
        let workload = self.workload();
        let revisions = Revisions::of(&workload, owned);
        TargetEvent::Refreshed(Box::new(Observation { workload, revisions, pods: self.pods(), events: None }))
    }

    /// Adds a pod of a revision with the statuses of its containers.
    pub(super) fn with_pod(mut self, name: &str, revision: i64, ready: bool, container: &Value) -> Self {
        let owner = if self.kind == "Deployment" { format!("r{revision}") } else { self.uid.to_owned() };
        let ready = if ready { "True" } else { "False" };
        self.pods.push(json!({
            "kind": "Pod",
            "metadata": {
                "name": name, "namespace": "shop", "uid": name, "creationTimestamp": START,
                "labels": {"app": "web", "controller-revision-hash": format!("web-{revision}")},
                "ownerReferences": [{"controller": true, "uid": owner}],
            },
            "spec": {"nodeName": "n", "containers": [{"name": "app", "image": format!("app:{revision}")}]},
            "status": {
                "phase": "Running", "containerStatuses": [container],
                "conditions": [
                    {"type": "PodScheduled", "status": "True"},
                    {"type": "Ready", "status": ready, "lastTransitionTime": START},
                ],
            },
        }));
        self
    }
}

/// A container that waits for a reason.
pub(super) fn waiting(reason: &str, message: &str) -> Value {
    json!({"name": "app", "image": "app:2", "state": {"waiting": {"reason": reason, "message": message}}})
}

/// A container that crashed `restarts` times.
pub(super) fn crashing(restarts: i64) -> Value {
    let terminated = json!({"exitCode": 1, "reason": "Error"});
    json!({
        "name": "app", "image": "app:2", "restartCount": restarts, "lastState": {"terminated": terminated},
        "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s"}},
    })
}

/// A running container that was restarted `restarts` times.
pub(super) fn running(restarts: i64) -> Value {
    json!({
        "name": "app", "image": "app:2", "ready": true, "started": true, "restartCount": restarts,
        "state": {"running": {"startedAt": START}},
    })
}

/// A container whose image does not exist.
pub(super) fn no_image() -> Value {
    let message = "Back-off pulling image \"app:2\": ErrImagePull: rpc error: code = NotFound desc = failed to pull \
                   and unpack image \"docker.io/library/app:2\": docker.io/library/app:2: not found";
    waiting("ImagePullBackOff", message)
}

/// A follower of one target, and the actual state of that target.
pub(super) struct FollowerFixture {
    pub(super) follower: Follower,
    pub(super) truth: Truth,
    /// Whether refreshes are answered; if not, the API server is unreachable.
    pub(super) in_reach: bool,
    pub(super) reported: Vec<Report>,
    pub(super) tasks: Vec<FollowRequest>,
    /// The rollbacks that were due, with their start states, and the one that is not over.
    pub(super) taken: Vec<(StartState, Rollback)>,
    pub(super) rollbacks: Rollbacks,
    elapsed: Duration,
}

impl FollowerFixture {
    /// Starts to follow, without any event.
    pub(super) fn without_events(options: FollowOptions, truth: Truth) -> Self {
        let follower = Follower::new(options, [truth.workload()]);
        let (reported, tasks, taken) = (Vec::new(), Vec::new(), Vec::new());
        let (rollbacks, elapsed) = (Rollbacks::new(), Duration::ZERO);
        Self { follower, truth, in_reach: true, reported, tasks, taken, rollbacks, elapsed }
    }

    /// Starts to follow, and sends everything.
    pub(super) fn of(options: FollowOptions, truth: Truth) -> Self {
        let mut fixture = Self::without_events(options, truth);
        fixture.show();
        fixture
    }

    pub(super) fn event(&mut self, event: TargetEvent) {
        self.apply(LoopEvent::Target(TargetId::of(0), event));
    }

    pub(super) fn apply(&mut self, event: LoopEvent<FollowerAnswer>) {
        let now = SignedDuration::try_from(self.elapsed).unwrap();
        let server_time: Timestamp = START.parse::<Timestamp>().unwrap() + now;
        let Effects { reports, tasks } =
            self.follower.apply(event, Now { elapsed: self.elapsed, server_time });
        self.reported.extend(reports.into_iter().map(|(_, report)| report));
        for (id, start, rollback) in self.follower.take_rollbacks() {
            self.rollbacks.insert(id, rollback.clone());
            self.taken.push((start, rollback));
        }
        let refreshes = self.refreshes();
        self.tasks.extend(tasks.into_iter().map(|(_, task)| task));
        if self.refreshes() > refreshes && self.in_reach {
            let request_refresh = self.truth.request_refresh();
            self.event(request_refresh);
        }
    }

    /// Sends the whole state.
    pub(super) fn show(&mut self) {
        self.event(self.truth.observed());
    }

    /// Changes the state and sends it.
    pub(super) fn becomes(&mut self, truth: Truth) {
        self.truth = truth;
        self.show();
    }

    /// Advances the clock and calls the follower whenever it is due.
    pub(super) fn pass(&mut self, seconds: u64) {
        let end = self.elapsed + Duration::from_secs(seconds);
        while let Some(due) = self.follower.due().filter(|due| *due <= end) {
            assert!(due > self.elapsed || self.elapsed.is_zero(), "a follower that asks for the past");
            self.elapsed = due;
            self.tick();
        }
        self.elapsed = end;
    }

    /// Advances the clock only.
    pub(super) fn advance(&mut self, seconds: u64) {
        self.elapsed += Duration::from_secs(seconds);
    }

    /// Calls the follower although nothing is due.
    pub(super) fn tick(&mut self) {
        self.apply(LoopEvent::Tick { since_answer: Vec::new() });
    }

    pub(super) fn outcome(&self) -> Option<&Outcome> {
        self.followed().result().and(self.followed().failed_or_result()).map(|result| &result.outcome)
    }

    pub(super) fn followed(&self) -> Followed<'_> {
        self.follower.followed(&self.rollbacks).next().unwrap()
    }

    pub(super) fn exit(&self) -> Exit {
        self.follower.exit(&self.rollbacks)
    }

    /// Answers the rollback: the workload as it was written, or `None` if it has recovered.
    pub(super) fn answer(&mut self, written: Option<&Truth>) {
        match written {
            Some(_) => self.rollbacks.get_mut(&TargetId::of(0)).unwrap().written = Some(Ok(None)),
            None => drop(self.rollbacks.remove(&TargetId::of(0))),
        }
        let written = written.map(|written| Box::new(written.workload()));
        self.apply(LoopEvent::Answer((TargetId::of(0), written)));
    }

    pub(super) fn refreshes(&self) -> usize {
        self.tasks.iter().filter(|task| matches!(task, FollowRequest::Refresh)).count()
    }

    /// Returns the lines that were reported.
    pub(super) fn lines(&self) -> Vec<&str> {
        let lines = self.reported.iter().filter_map(|event| match event {
            Report::Status { verdict, prints_line: true, .. } => Some(verdict.line.as_str()),
            _ => None,
        });
        lines.collect()
    }

    /// Returns the reports about causes.
    pub(super) fn causes(&self) -> Vec<(CauseChange, &Cause)> {
        let causes = self.reported.iter().filter_map(|event| match event {
            Report::Cause { cause, change } => Some((*change, cause)),
            _ => None,
        });
        causes.collect()
    }
}

pub(super) fn template(number: i64) -> Value {
    json!({
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "app", "image": format!("app:{number}")}]},
    })
}

fn merge(base: &mut Value, more: &Value) {
    if let (Value::Object(base), Value::Object(more)) = (base, more) {
        base.extend(more.clone());
    }
}
