//! The status of a pod whose containers have been behaving for some time.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::behaviour::Behaviour;
use super::crash_loop::{CrashLoop, Phase};
use super::timing::Pace;
use crate::clock::stamp;
use crate::controller::hash::fnv1a;
use crate::object;

/// What all containers of a pod do at a moment.
#[derive(Debug)]
pub(super) struct PodState {
    /// Name, image and behaviour of each container.
    pub(super) containers: Vec<(String, String, Behaviour)>,
    pub(super) restarts: u64,
    /// What the crashing containers do, if there are any.
    pub(super) crash: Option<Phase>,
    /// How often somebody else has ended the containers.
    pub(super) ended: u64,
    ready: bool,
    /// How long after the pod was taken up something changes next.
    pub(super) next_change: Option<Duration>,
}

impl PodState {
    /// The state of a pod that was taken up so long ago.
    pub(super) fn after(elapsed: Duration, pod: &Value, imposed: Option<&Behaviour>, pace: &Pace) -> Self {
        let containers: Vec<_> = object::list(pod, &["spec", "containers"])
            .iter()
            .map(|container| {
                let image = object::text(container, &["image"]);
                let behaviour = imposed.copied().unwrap_or_else(|| Behaviour::of_image(image));
                (object::text(container, &["name"]).to_owned(), image.to_owned(), behaviour)
            })
            .collect();
        let has = |what: fn(Behaviour) -> bool| containers.iter().any(|(_, _, behaviour)| what(*behaviour));
        let start = pace.starting(object::uid(pod), has(|behaviour| behaviour == Behaviour::Slow));
        let run = if has(|behaviour| behaviour == Behaviour::CrashLate) { pace.run } else { Duration::ZERO };
        let crash = has(Behaviour::crashes).then(|| CrashLoop::after(elapsed, start, run));
        let runs = crash.is_none_or(|crash| crash.phase == Phase::Running);
        let works = !has(|behaviour| !behaviour.works() && behaviour != Behaviour::CrashLate) && runs;
        let until_ready = (works && elapsed < start).then_some(start);
        Self {
            ready: works && elapsed >= start,
            restarts: crash.map_or(0, |crash| crash.restarts),
            crash: crash.map(|crash| crash.phase),
            ended: 0,
            next_change: until_ready.or(crash.and_then(|crash| crash.until)),
            containers,
        }
    }

    /// The pod with this state in its status; none if it says so already.
    pub(super) fn written_into(&self, pod: &Value, now: Timestamp) -> Option<Value> {
        let known = &pod["status"];
        let containers = object::list(known, &["containerStatuses"]);
        let printed = |(container, (_, image, behaviour)): (&Value, &(String, String, Behaviour))| {
            container["restartCount"] == self.restarts_of(*behaviour)
                && container["image"] == **image
                && container["ready"] == self.is_ready(*behaviour)
                && container["state"].get(self.state_of(*behaviour)).is_some()
        };
        let all_told =
            containers.len() == self.containers.len() && containers.iter().zip(&self.containers).all(printed);
        let closed_gate = closed_gate(pod);
        if all_told && super::super::pod::is_ready(pod) == (self.ready && closed_gate.is_none()) {
            return None;
        }
        let mut written = pod.clone();
        let status = object::members(&mut written["status"]);
        let address = address(object::uid(pod));
        let is_created = self.crash != Some(Phase::Creating);
        let pending = !is_created || self.containers.iter().any(|(_, _, behaviour)| behaviour.never_starts());
        status.insert("phase".to_owned(), if pending { "Pending" } else { "Running" }.into());
        status.entry("startTime").or_insert_with(|| stamp(now).into());
        status.insert("hostIP".to_owned(), "10.0.0.1".into());
        status.insert("podIPs".to_owned(), json!([{ "ip": address }]));
        status.insert("podIP".to_owned(), address.into());
        status.insert("conditions".to_owned(), self.conditions(known, closed_gate, now));
        let containers: Vec<Value> =
            self.containers.iter().map(|one| self.container(known, one, now)).collect();
        status.insert("containerStatuses".to_owned(), containers.into());
        Some(written)
    }

    pub(super) fn restarts_of(&self, behaviour: Behaviour) -> u64 {
        self.ended + if behaviour.crashes() { self.restarts } else { 0 }
    }

    /// Whether a container of this behaviour is ready. One without a readiness probe is ready while it runs.
    fn is_ready(&self, behaviour: Behaviour) -> bool {
        let runs = behaviour == Behaviour::CrashLate && self.crash == Some(Phase::Running);
        self.ready && (behaviour.works() || runs)
    }

    /// The member of `state` that a container of this behaviour has.
    fn state_of(&self, behaviour: Behaviour) -> &'static str {
        match self.crash.filter(|_| behaviour.crashes()) {
            Some(Phase::Creating | Phase::BackOff) => "waiting",
            Some(Phase::Terminated) => "terminated",
            None if behaviour.never_starts() => "waiting",
            Some(Phase::Running) | None => "running",
        }
    }

    /// The kubelet's conditions before the scheduler's; a transition is stamped when there is one.
    fn conditions(&self, known: &Value, closed_gate: Option<&str>, now: Timestamp) -> Value {
        let known = object::list(known, &["conditions"]);
        let stands = |kind: &str, holds: &str| {
            known
                .iter()
                .find(|one| one["type"] == kind && one["status"] == holds)
                .map(|one| &one["lastTransitionTime"])
        };
        let unready: Vec<&str> =
            self.containers.iter().filter(|one| one.2 != Behaviour::Well).map(|one| one.0.as_str()).collect();
        let kinds = [
            ("PodReadyToStartContainers", true),
            ("Initialized", true),
            ("Ready", self.ready && closed_gate.is_none()),
            ("ContainersReady", self.ready),
        ];
        let mut conditions: Vec<Value> = kinds
            .into_iter()
            .map(|(kind, holds)| {
                let status = if holds { "True" } else { "False" };
                let since = stands(kind, status).cloned().unwrap_or_else(|| stamp(now).into());
                let mut condition =
                    json!({ "type": kind, "status": status, "lastProbeTime": null, "lastTransitionTime": since });
                if let (false, true, Some(gate)) = (holds, self.ready, closed_gate) {
                    condition["reason"] = "ReadinessGatesNotReady".into();
                    condition["message"] =
                        format!("corresponding condition of pod readiness gate \"{gate}\" does not exist.").into();
                } else if !holds {
                    condition["reason"] = "ContainersNotReady".into();
                    condition["message"] = format!("containers with unready status: [{}]", unready.join(" ")).into();
                }
                condition
            })
            .collect();
        let is_own = |one: &&Value| kinds.iter().any(|(kind, _)| one["type"] == **kind);
        conditions.extend(known.iter().filter(|one| !is_own(one)).cloned());
        conditions.into()
    }

    fn container(
        &self,
        known: &Value,
        (name, image, behaviour): &(String, String, Behaviour),
        now: Timestamp,
    ) -> Value {
        let before = object::list(known, &["containerStatuses"]).iter().find(|one| one["name"] == **name);
        let same = before.filter(|one| one["restartCount"] == self.restarts_of(*behaviour));
        let running_since =
            same.map(|one| &one["state"]["running"]["startedAt"]).filter(|since| !since.is_null());
        let waiting =
            |reason: &str, message: String| json!({ "waiting": { "reason": reason, "message": message } });
        let running = || json!({ "running": { "startedAt": running_since.cloned().unwrap_or_else(|| stamp(now).into()) } });
        // The instance that ended last keeps its times while the kubelet reports it.
        let ended = || match same.map(|one| &one["state"]) {
            Some(state) if state.get("terminated").is_some() => state.clone(),
            _ => termination(*behaviour, before, now),
        };
        let last = before.map_or_else(
            || json!({}),
            |one| match &one["state"]["terminated"] {
                Value::Null => one["lastState"].clone(),
                ended => json!({ "terminated": ended }),
            },
        );
        let last_state = match self.crash.filter(|_| behaviour.crashes()) {
            // Two crashes before the first report.
            Some(Phase::Terminated)
                if before.is_none_or(|one| one["restartCount"] == 0)
                    && self.restarts > 0
                    && last == json!({}) =>
            {
                termination(*behaviour, before, now)
            }
            Some(Phase::Terminated) if same.is_some_and(|one| one["state"].get("terminated").is_some()) => {
                same.map_or(Value::Null, |one| one["lastState"].clone())
            }
            Some(_) => last,
            None => json!({}),
        };
        let state = match behaviour {
            Behaviour::BadImage => waiting(
                "ImagePullBackOff",
                format!("Back-off pulling image \"{image}\": ErrImagePull: not found"),
            ),
            Behaviour::BadConfig => {
                waiting("CreateContainerConfigError", "configmap \"missing\" not found".to_owned())
            }
            Behaviour::Crash | Behaviour::CrashLate | Behaviour::OutOfMemory => match self.crash {
                Some(Phase::Creating) => json!({ "waiting": { "reason": "ContainerCreating" } }),
                Some(Phase::BackOff) => {
                    waiting("CrashLoopBackOff", format!("back-off 10s restarting failed container={name}"))
                }
                Some(Phase::Terminated) => ended(),
                Some(Phase::Running) | None => running(),
            },
            _ => running(),
        };
        let runs = state.get("running").is_some();
        json!({
            "name": name, "image": image, "imageID": if behaviour.never_starts() { String::new() } else { image_id(image) },
            "ready": self.is_ready(*behaviour), "started": runs, "restartCount": self.restarts_of(*behaviour),
            "state": state, "lastState": last_state,
        })
    }
}

/// The termination of a crashing container, which ran since its start in the status before.
fn termination(behaviour: Behaviour, before: Option<&Value>, now: Timestamp) -> Value {
    let (code, reason) = if behaviour == Behaviour::OutOfMemory { (137, "OOMKilled") } else { (1, "Error") };
    let started =
        before.map(|one| &one["state"]["running"]["startedAt"]).filter(|started| !started.is_null());
    let started = started.cloned().unwrap_or_else(|| stamp(now).into());
    json!({ "terminated": {
        "exitCode": code, "reason": reason, "startedAt": started, "finishedAt": stamp(now), "containerID": "containerd://x",
    } })
}

/// The readiness gate of a pod (`spec.readinessGates`) whose condition is not true, if there is one.
fn closed_gate(pod: &Value) -> Option<&str> {
    let conditions = object::list(pod, &["status", "conditions"]);
    let is_open = |gate: &&str| conditions.iter().any(|one| one["type"] == **gate && one["status"] == "True");
    let gates = object::list(pod, &["spec", "readinessGates"]).iter();
    gates.map(|gate| object::text(gate, &["conditionType"])).find(|gate| !is_open(gate))
}

fn image_id(image: &str) -> String {
    let repository = image.split(':').next().unwrap_or_default();
    format!("docker-pullable://{repository}@sha256:{:064x}", fnv1a(image.as_bytes(), None))
}

fn address(uid: &str) -> String {
    let number = fnv1a(uid.as_bytes(), None);
    format!("10.1.{}.{}", number >> 8 & 0xff, number & 0xff)
}
