//! The status of a pod, from the phases of its containers.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::behaviour::Behaviour;
use super::conditions;
use super::phase::{self, Phase, Restarts, Run, Start, State};
use super::timing::KubeletTiming;
use crate::clock::{later, stamp};
use crate::controller::hash::fnv1a;
use crate::controller::pod;
use crate::object;

/// A container of a pod, and what the kubelet reports of it.
#[derive(Debug)]
pub(super) struct ContainerState {
    pub(super) name: String,
    pub(super) image: String,
    pub(super) behaviour: Behaviour,
    pub(super) phase: Phase,
    /// `restartCount`: by the back-off, by [`super::restart_patch`], and for other images.
    pub(super) restarts: u64,
}

/// What the kubelet reports of a pod at a moment.
#[derive(Debug)]
pub(super) struct PodState {
    pub(super) containers: Vec<ContainerState>,
    /// The phase of a pod whose containers have ended for good.
    pub(super) end: Option<&'static str>,
    /// The time from which the phases are counted.
    since: Timestamp,
    /// When the kubelet next reports something else; `None` if it does not.
    pub(super) next_change: Option<Timestamp>,
}

/// What the kubelet knows of a pod besides its spec.
#[derive(Debug)]
pub(super) struct Known<'k> {
    /// When it began to start the containers.
    pub(super) since: Timestamp,
    /// Whether the containers ran before.
    pub(super) is_restart: bool,
    /// How often [`super::restart_patch`] ended the containers.
    pub(super) ended: u64,
    /// How often each container was restarted with another image.
    pub(super) new_images: &'k BTreeMap<String, u64>,
    pub(super) timing: &'k KubeletTiming,
}

impl PodState {
    /// Returns the state of a pod.
    pub(super) fn at(now: Timestamp, pod: &Value, known: &Known<'_>) -> Self {
        let elapsed = now.duration_since(known.since).unsigned_abs();
        let mut containers = specs(pod);
        let has_slow = containers.iter().any(|(_, _, behaviour, _)| *behaviour == Behaviour::Slow);
        let ready = known.timing.starting(object::uid(pod), has_slow);
        let has_probe = containers.iter().any(|(_, _, _, is_probed)| *is_probed);
        let runs = if has_probe { known.timing.create.min(ready) } else { ready };
        let restarts = restarts(pod);
        let work = known.timing.work;
        let containers: Vec<ContainerState> = containers
            .drain(..)
            .map(|(name, image, behaviour, is_probed)| {
                let (is_restart, back_off) = (known.is_restart, known.timing.back_off);
                let start = Start { behaviour, runs, ready, is_probed, is_restart, back_off, work, restarts };
                let phase = phase::of_container(&start, elapsed);
                let restarted =
                    known.ended + known.new_images.get(&name).copied().unwrap_or(0) + phase.restarts;
                ContainerState { name, image, behaviour, phase, restarts: restarted }
            })
            .collect();
        let ends = containers.iter().filter_map(|one| one.phase.until);
        let next_change = ends.filter(|until| *until > elapsed).min().map(|until| later(known.since, until));
        Self { end: end(&containers, restarts), containers, since: known.since, next_change }
    }

    /// Returns the pod with this state in its status; `None` if the status has it already.
    pub(super) fn written_into(&self, pod: &Value, now: Timestamp) -> Option<Value> {
        let known = &pod["status"];
        let statuses = object::list(known, &["containerStatuses"]);
        let is_written = statuses.len() == self.containers.len()
            && statuses.iter().zip(&self.containers).all(|(status, state)| state.is_reported_in(status));
        let is_ready = self.is_ready() && conditions::closed_gate(pod).is_none();
        if is_written && object::has_condition(pod, "Initialized") && pod::is_ready(pod) == is_ready {
            return None;
        }
        let mut written = pod.clone();
        let status = object::members(&mut written["status"]);
        let has_run = status.get("phase").is_some_and(|phase| phase == "Running");
        let waits =
            |one: &ContainerState| matches!(one.phase.state, State::Waiting(_)) && one.phase.last.is_none();
        let is_pending = !has_run && self.containers.iter().any(waits);
        let phase = self.end.unwrap_or(if is_pending { "Pending" } else { "Running" });
        status.insert("phase".to_owned(), phase.into());
        status.entry("startTime").or_insert_with(|| stamp(now).into());
        status.insert("conditions".to_owned(), conditions::of(self, pod, now));
        let reported: Value = self
            .containers
            .iter()
            .map(|one| self.container_status(one, statuses, object::uid(pod)))
            .collect();
        status.insert("containerStatuses".to_owned(), reported);
        Some(written)
    }

    /// Whether all containers are ready.
    pub(super) fn is_ready(&self) -> bool {
        self.containers.iter().all(|one| one.phase.is_ready)
    }

    /// The status of a container. A state that the status before has keeps its times.
    fn container_status(&self, one: &ContainerState, before: &[Value], uid: &str) -> Value {
        let before = before.iter().find(|status| status["name"] == *one.name);
        let at = |offset| stamp(later(self.since, offset));
        let id = |restarts: u64| container_id(uid, &one.name, restarts);
        let terminated = |run: &Run, restarts| {
            json!({ "terminated": {
                "exitCode": run.exit_code, "reason": run.reason, "startedAt": at(run.began),
                "finishedAt": at(run.ended), "containerID": id(restarts),
            } })
        };
        let state = match &one.phase.state {
            _ if before.is_some_and(|status| one.is_same_state(status)) => {
                before.map(|status| status["state"].clone())
            }
            State::Waiting(reason) => Some(json!({ "waiting": waiting(one, reason, uid) })),
            State::Running(since) => Some(json!({ "running": { "startedAt": at(*since) } })),
            State::Terminated(run) => Some(terminated(run, one.restarts)),
        };
        let waits = matches!(one.phase.state, State::Waiting(_));
        let last_id = if waits { one.restarts } else { one.restarts.saturating_sub(1) };
        let is_created = !waits || one.phase.last.is_some();
        let mut status = json!({
            "name": one.name, "image": one.image,
            "imageID": if is_created { image_id(&one.image) } else { String::new() },
            "ready": one.phase.is_ready, "started": matches!(one.phase.state, State::Running(_)),
            "restartCount": one.restarts, "state": state,
            "lastState": one.phase.last.as_ref().map_or_else(|| json!({}), |run| terminated(run, last_id)),
        });
        if is_created {
            status["containerID"] = id(one.restarts).into();
        }
        status
    }
}

impl ContainerState {
    /// Whether a container status reports this state.
    fn is_reported_in(&self, status: &Value) -> bool {
        status["image"] == *self.image && status["ready"] == self.phase.is_ready && self.is_same_state(status)
    }

    /// Whether a container status has this state, of the same run.
    pub(super) fn is_same_state(&self, status: &Value) -> bool {
        let state = &status["state"];
        status["restartCount"] == self.restarts
            && match &self.phase.state {
                State::Waiting(reason) => state["waiting"]["reason"] == **reason,
                State::Running(_) => state.get("running").is_some(),
                State::Terminated(run) => state["terminated"]["reason"] == *run.reason,
            }
    }
}

fn restarts(pod: &Value) -> Restarts {
    match object::text(pod, &["spec", "restartPolicy"]) {
        "Never" => Restarts::Never,
        "OnFailure" => Restarts::OnFailure,
        _ => Restarts::Always,
    }
}

/// Returns the phase of a pod all of whose containers ended and are not restarted.
fn end(containers: &[ContainerState], restarts: Restarts) -> Option<&'static str> {
    let codes: Option<Vec<i64>> = containers
        .iter()
        .map(|one| if let State::Terminated(run) = &one.phase.state { Some(run.exit_code) } else { None })
        .collect();
    let has_failed = codes?.iter().any(|code| *code != 0);
    match restarts {
        Restarts::Always => None,
        Restarts::OnFailure => (!has_failed).then_some("Succeeded"),
        Restarts::Never => Some(if has_failed { "Failed" } else { "Succeeded" }),
    }
}

/// Name, image, behaviour, and whether there is a readiness probe, of each container of the spec. An image that is ready
/// late or never implies the probe.
fn specs(pod: &Value) -> Vec<(String, String, Behaviour, bool)> {
    let of_container = |container: &Value| {
        let image = object::text(container, &["image"]);
        let behaviour = Behaviour::of_image(image);
        let name = object::text(container, &["name"]).to_owned();
        let is_slow = matches!(behaviour, Behaviour::Slow | Behaviour::NotReady);
        (name, image.to_owned(), behaviour, is_slow || container.get("readinessProbe").is_some())
    };
    object::list(pod, &["spec", "containers"]).iter().map(of_container).collect()
}

/// `state.waiting`.
fn waiting(one: &ContainerState, reason: &str, uid: &str) -> Value {
    let message = match reason {
        "ImagePullBackOff" => format!("Back-off pulling image \"{}\": ErrImagePull: not found", one.image),
        "CreateContainerConfigError" => "configmap \"missing\" not found".to_owned(),
        "CrashLoopBackOff" => format!("back-off 10s restarting failed container={} pod={uid}", one.name),
        _ => return json!({ "reason": reason }),
    };
    json!({ "reason": reason, "message": message })
}

/// The ID of a container in its runtime.
pub(super) fn container_id(uid: &str, container: &str, restarts: u64) -> String {
    format!("containerd://{:064x}", fnv1a(format!("{uid}{container}{restarts}").as_bytes()))
}

fn image_id(image: &str) -> String {
    let repository = image.split(':').next().unwrap_or_default();
    format!("docker-pullable://{repository}@sha256:{:064x}", fnv1a(image.as_bytes()))
}
