//! The events of a kubelet, and the output of containers.

use serde_json::Value;

use super::COMPONENT;
use super::behaviour::Behaviour;
use super::phase::State;
use super::pod_state::{ContainerState, PodState, container_id};
use crate::controller::event::Event;
use crate::controller::plan::{Plan, Write};
use crate::object;
use crate::store::Output;

/// Returns the events about the containers whose state changes.
pub(super) fn events(pod: &Value, state: &PodState) -> Vec<Event> {
    let mut events = Vec::new();
    for (member, path, states) in [
        ("initContainerStatuses", "initContainers", &state.init_containers),
        ("containerStatuses", "containers", &state.containers),
    ] {
        let before = object::list(pod, &["status", member]);
        for one in states {
            let before = before.iter().find(|status| status["name"] == *one.name);
            if before.is_some_and(|status| one.is_same_state(status)) {
                continue;
            }
            let is_first = before.is_none_or(|status| status["state"].get("running").is_none());
            for (reason, message) in warnings(pod, one, state, path == "containers") {
                events.push(Event::warning(pod, COMPONENT, reason, message).in_container(path, &one.name));
            }
            if let Some((reason, message)) = progress(one, is_first) {
                events.push(Event::normal(pod, COMPONENT, reason, message).in_container(path, &one.name));
            }
        }
    }
    events
}

/// Stores the output of the containers.
pub(super) fn keep_logs(pod: &Value, state: &PodState, plan: &mut Plan) {
    let has_run =
        |one: &&ContainerState| one.phase.last.is_some() || !matches!(one.phase.state, State::Waiting(_));
    for one in state.init_containers.iter().chain(&state.containers).filter(has_run) {
        let output = output(one, object::uid(pod));
        plan.writes.push(Write::Log {
            pod: object::uid(pod).to_owned(),
            container: one.name.clone(),
            output,
        });
    }
}

/// The event of a container that makes progress.
fn progress(one: &ContainerState, is_first: bool) -> Option<(&'static str, String)> {
    match one.phase.state {
        State::Waiting(_) if one.behaviour == Behaviour::SlowPull => {
            Some(("Pulling", format!("Pulling image \"{}\"", one.image)))
        }
        State::Running(_) if is_first => Some(("Started", "Container started".to_owned())),
        _ => None,
    }
}

fn warnings(
    pod: &Value,
    one: &ContainerState,
    state: &PodState,
    is_app: bool,
) -> Vec<(&'static str, String)> {
    let image = &one.image;
    let failed = || {
        let pull = format!("Failed to pull image \"{image}\": not found");
        vec![("Failed", pull), ("Failed", "Error: ErrImagePull".to_owned())]
    };
    let back_off = || {
        let message = format!("Back-off pulling image \"{image}\"");
        vec![("BackOff", message), ("Failed", "Error: ImagePullBackOff".to_owned())]
    };
    match &one.phase.state {
        State::Waiting("ErrImagePull") => failed(),
        State::Waiting("ImagePullBackOff") if state.next_change.is_none() => [failed(), back_off()].concat(),
        State::Waiting("ImagePullBackOff") => back_off(),
        State::Waiting("CreateContainerConfigError") => {
            vec![("Failed", "Error: configmap \"missing\" not found".to_owned())]
        }
        State::Terminated(_) if one.restarts > 0 => {
            let (namespace, pod, uid) = (object::namespace(pod), object::name(pod), object::uid(pod));
            let name = &one.name;
            let message =
                format!("Back-off restarting failed container {name} in pod {pod}_{namespace}({uid})");
            vec![("BackOff", message)]
        }
        State::Running(_) if one.behaviour == Behaviour::NotReady && is_app => {
            vec![("Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503".to_owned())]
        }
        _ => Vec::new(),
    }
}

/// The output of the present run and of the run before. While a container is terminated, a kubelet has often removed
/// the run before already, and says so in an answer with 200.
fn output(one: &ContainerState, uid: &str) -> Output {
    let name = &one.name;
    let mut lines = vec![format!("{name}: starting")];
    match one.behaviour {
        Behaviour::Crash | Behaviour::CrashLate => lines.push(format!("{name}: panic: DB_URL is not set")),
        Behaviour::OutOfMemory => lines.push(format!("{name}: loading the whole catalogue")),
        Behaviour::NotReady => lines.push(format!("{name}: waiting for the cache")),
        _ => lines.push(format!("{name}: listening on :8080")),
    }
    let previous = match &one.phase.state {
        _ if one.restarts == 0 => None,
        State::Terminated(_) => {
            let removed = container_id(uid, name, one.restarts - 1);
            Some(vec![format!("unable to retrieve container logs for {removed}")])
        }
        _ => Some(lines.clone()),
    };
    Output { current: Some(lines), previous }
}
