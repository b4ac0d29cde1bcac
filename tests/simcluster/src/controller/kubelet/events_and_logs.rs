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
    let before = object::list(pod, &["status", "containerStatuses"]);
    for one in &state.containers {
        let before = before.iter().find(|status| status["name"] == *one.name);
        if before.is_some_and(|status| one.is_same_state(status)) {
            continue;
        }
        let is_first = before.is_none_or(|status| status["state"].get("running").is_none());
        for (reason, message) in warnings(pod, one) {
            events.push(Event::warning(pod, COMPONENT, reason, message).in_container(&one.name));
        }
        if is_first && matches!(one.phase.state, State::Running(_)) {
            let started = "Container started".to_owned();
            events.push(Event::normal(pod, COMPONENT, "Started", started).in_container(&one.name));
        }
    }
    events
}

/// Stores the output of the containers.
pub(super) fn keep_logs(pod: &Value, state: &PodState, plan: &mut Plan) {
    let has_run =
        |one: &&ContainerState| one.phase.last.is_some() || !matches!(one.phase.state, State::Waiting(_));
    for one in state.containers.iter().filter(has_run) {
        let output = output(one, object::uid(pod));
        plan.writes.push(Write::Log {
            pod: object::uid(pod).to_owned(),
            container: one.name.clone(),
            output,
        });
    }
}

fn warnings(pod: &Value, one: &ContainerState) -> Vec<(&'static str, String)> {
    let image = &one.image;
    match &one.phase.state {
        State::Waiting("ImagePullBackOff") => vec![
            ("Failed", format!("Failed to pull image \"{image}\": not found")),
            ("Failed", "Error: ErrImagePull".to_owned()),
            ("BackOff", format!("Back-off pulling image \"{image}\"")),
            ("Failed", "Error: ImagePullBackOff".to_owned()),
        ],
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
        State::Running(_) if one.behaviour == Behaviour::NotReady => {
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
        Behaviour::Crash => lines.push(format!("{name}: panic: DB_URL is not set")),
        Behaviour::OutOfMemory => lines.push(format!("{name}: loading the whole catalogue")),
        Behaviour::Completes => lines.push(format!("{name}: applied 3 changes")),
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
