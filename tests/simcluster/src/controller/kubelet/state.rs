//! The status of a pod whose containers have been behaving for some time.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::behaviour::Behaviour;
use super::timing::KubeletTiming;
use crate::clock::stamp;
use crate::controller::hash::fnv1a;
use crate::object;

/// How often a crashing container is started again at most.
const MOST_RESTARTS: u64 = 29;

/// What all containers of a pod do at a moment.
#[derive(Debug)]
pub(super) struct PodState {
    /// Name, image and behaviour of each container.
    pub(super) containers: Vec<(String, String, Behaviour)>,
    pub(super) restarts: u64,
    /// How often somebody else has ended the containers.
    pub(super) ended: u64,
    /// How often each container was started again with another image.
    pub(super) new_images: BTreeMap<String, u64>,
    ready: bool,
    /// How long after the pod was taken up something changes next.
    pub(super) next_change: Option<Duration>,
}

impl PodState {
    /// The state of a pod that was taken up so long ago.
    pub(super) fn after(
        elapsed: Duration,
        pod: &Value,
        imposed: Option<&Behaviour>,
        pace: &KubeletTiming,
    ) -> Self {
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
        let works = !has(|behaviour| !behaviour.works());
        let (restarts, next_restart) =
            if has(Behaviour::crashes) { restarts(elapsed, start) } else { (0, None) };
        let until_ready = (works && elapsed < start).then_some(start);
        Self {
            ready: works && elapsed >= start,
            restarts,
            ended: 0,
            new_images: BTreeMap::new(),
            next_change: until_ready.or(next_restart),
            containers,
        }
    }

    /// The pod with this state in its status; none if it says so already.
    pub(super) fn written_into(&self, pod: &Value, now: Timestamp) -> Option<Value> {
        let known = &pod["status"];
        let containers = object::list(known, &["containerStatuses"]);
        let printed = |(container, (name, image, behaviour)): (&Value, &(String, String, Behaviour))| {
            container["restartCount"] == self.restarts_of(name, *behaviour)
                && container["image"] == **image
                && container["ready"] == (self.ready && behaviour.works())
                && container["state"].get("running").is_some()
                    != (behaviour.never_starts() || behaviour.crashes())
        };
        let all_told =
            containers.len() == self.containers.len() && containers.iter().zip(&self.containers).all(printed);
        let ready = self.ready && gates_are_open(pod);
        if all_told && super::super::pod::is_ready(pod) == ready {
            return None;
        }
        let mut written = pod.clone();
        let status = object::members(&mut written["status"]);
        let address = address(object::uid(pod));
        let has_run = status.get("phase").is_some_and(|phase| phase == "Running");
        let pending = !has_run && self.containers.iter().any(|(_, _, behaviour)| behaviour.never_starts());
        status.insert("phase".to_owned(), if pending { "Pending" } else { "Running" }.into());
        status.entry("startTime").or_insert_with(|| stamp(now).into());
        status.insert("hostIP".to_owned(), "10.0.0.1".into());
        status.insert("podIPs".to_owned(), json!([{ "ip": address }]));
        status.insert("podIP".to_owned(), address.into());
        status.insert("conditions".to_owned(), self.conditions(known, ready, now));
        let containers: Vec<Value> =
            self.containers.iter().map(|one| self.container(known, one, now)).collect();
        status.insert("containerStatuses".to_owned(), containers.into());
        Some(written)
    }

    pub(super) fn restarts_of(&self, name: &str, behaviour: Behaviour) -> u64 {
        self.ended
            + self.new_images.get(name).copied().unwrap_or(0)
            + if behaviour.crashes() { self.restarts } else { 0 }
    }

    /// The kubelet's conditions before the scheduler's; a transition is stamped when there is one.
    fn conditions(&self, known: &Value, ready: bool, now: Timestamp) -> Value {
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
            ("Ready", ready),
            ("ContainersReady", self.ready),
        ];
        let mut conditions: Vec<Value> = kinds
            .into_iter()
            .map(|(kind, holds)| {
                let status = if holds { "True" } else { "False" };
                let since = stands(kind, status).cloned().unwrap_or_else(|| stamp(now).into());
                let mut condition =
                    json!({ "type": kind, "status": status, "lastProbeTime": null, "lastTransitionTime": since });
                if !holds && kind == "Ready" && self.ready {
                    condition["reason"] = "ReadinessGatesNotReady".into();
                } else if !holds {
                    condition["reason"] = "ContainersNotReady".into();
                    condition["message"] = format!("containers with unready status: [{}]", unready.join(" ")).into();
                }
                condition
            })
            .collect();
        let own = |one: &&Value| kinds.iter().any(|(kind, _)| one["type"] == *kind);
        conditions.extend(known.iter().filter(|one| !own(one)).cloned());
        conditions.into()
    }

    fn container(
        &self,
        known: &Value,
        (name, image, behaviour): &(String, String, Behaviour),
        now: Timestamp,
    ) -> Value {
        let before = object::list(known, &["containerStatuses"]).iter().find(|one| one["name"] == **name);
        let same = before.filter(|one| one["restartCount"] == self.restarts_of(name, *behaviour));
        let running_since =
            same.map(|one| &one["state"]["running"]["startedAt"]).filter(|since| !since.is_null());
        let waiting =
            |reason: &str, message: String| json!({ "waiting": { "reason": reason, "message": message } });
        let state = match behaviour {
            Behaviour::BadImage => waiting(
                "ImagePullBackOff",
                format!("Back-off pulling image \"{image}\": ErrImagePull: not found"),
            ),
            Behaviour::BadConfig => {
                waiting("CreateContainerConfigError", "configmap \"missing\" not found".to_owned())
            }
            Behaviour::Crash | Behaviour::OutOfMemory => {
                waiting("CrashLoopBackOff", format!("back-off 10s restarting failed container={name}"))
            }
            _ => {
                json!({ "running": { "startedAt": running_since.cloned().unwrap_or_else(|| stamp(now).into()) } })
            }
        };
        let runs = state.get("running").is_some();
        json!({
            "name": name, "image": image, "imageID": if behaviour.never_starts() { String::new() } else { image_id(image) },
            "ready": self.ready && behaviour.works(), "started": runs, "restartCount": self.restarts_of(name, *behaviour),
            "state": state, "lastState": last_state(*behaviour, now),
        })
    }
}

/// Whether every condition that the pod names as a readiness gate holds.
fn gates_are_open(pod: &Value) -> bool {
    let conditions = object::list(pod, &["status", "conditions"]);
    let is_open = |gate: &Value| {
        conditions.iter().any(|one| one["type"] == gate["conditionType"] && one["status"] == "True")
    };
    object::list(pod, &["spec", "readinessGates"]).iter().all(is_open)
}

fn last_state(behaviour: Behaviour, now: Timestamp) -> Value {
    let ended = |code: i64, reason: &str| {
        json!({ "terminated": {
            "exitCode": code, "reason": reason, "startedAt": stamp(now), "finishedAt": stamp(now), "containerID": "containerd://x",
        } })
    };
    match behaviour {
        Behaviour::Crash => ended(1, "Error"),
        Behaviour::OutOfMemory => ended(137, "OOMKilled"),
        _ => json!({}),
    }
}

/// How often a crashing container has been started again, and when it will be next: after 2, 4, 6 seconds and so on, 20
/// at most.
fn restarts(elapsed: Duration, first: Duration) -> (u64, Option<Duration>) {
    let mut next = first;
    for restart in 0..MOST_RESTARTS {
        if elapsed < next {
            return (restart, Some(next));
        }
        next += Duration::from_secs((2 * (restart + 1)).min(20));
    }
    (MOST_RESTARTS, None)
}

fn image_id(image: &str) -> String {
    let repository = image.split(':').next().unwrap_or_default();
    format!("docker-pullable://{repository}@sha256:{:064x}", fnv1a(image.as_bytes(), None))
}

fn address(uid: &str) -> String {
    let number = fnv1a(uid.as_bytes(), None);
    format!("10.1.{}.{}", number >> 8 & 0xff, number & 0xff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restart_delays_grow() {
        let first = Duration::from_millis(300);
        let at = |seconds: f64| restarts(Duration::from_secs_f64(seconds), first).0;
        assert_eq!([at(0.0), at(0.3), at(2.2), at(2.3), at(6.3), at(1000.0)], [0, 1, 1, 2, 3, 29]);
        assert_eq!(restarts(Duration::ZERO, first).1, Some(first));
    }
}
