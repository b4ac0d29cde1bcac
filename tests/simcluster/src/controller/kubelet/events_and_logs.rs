//! What a kubelet tells of a pod beside its status: events, and the lines its containers write.

use serde_json::Value;

use super::COMPONENT;
use super::behaviour::Behaviour;
use super::state::PodState;
use crate::controller::event::Event;
use crate::controller::plan::{Plan, Write};
use crate::object;
use crate::store::Output;

/// Tells what has come of the containers.
pub(super) fn record_events(pod: &Value, state: &PodState, plan: &mut Plan) {
    for (name, image, behaviour) in &state.containers {
        for (reason, message) in troubles(pod, name, image, *behaviour, state.restarts) {
            plan.record_event(Event::warning(pod, COMPONENT, reason, message).in_container(name));
        }
        let is_first = object::list(pod, &["status", "containerStatuses"]).is_empty();
        if is_first && !behaviour.never_starts() {
            let started = format!("Container started: {name}");
            plan.record_event(Event::normal(pod, COMPONENT, "Started", started).in_container(name));
        }
    }
}

/// Keeps what the containers have written.
pub(super) fn keep_logs(pod: &Value, state: &PodState, plan: &mut Plan) {
    for (name, _, behaviour) in state.containers.iter().filter(|(_, _, behaviour)| !behaviour.never_starts())
    {
        let output = output(name, *behaviour, state.restarts_of(name, *behaviour));
        plan.writes.push(Write::Log { pod: object::uid(pod).to_owned(), container: name.clone(), output });
    }
}

fn troubles(
    pod: &Value,
    name: &str,
    image: &str,
    behaviour: Behaviour,
    restarts: u64,
) -> Vec<(&'static str, String)> {
    match behaviour {
        Behaviour::BadImage => vec![
            ("Failed", format!("Failed to pull image \"{image}\": not found")),
            ("Failed", "Error: ErrImagePull".to_owned()),
            ("BackOff", format!("Back-off pulling image \"{image}\"")),
            ("Failed", "Error: ImagePullBackOff".to_owned()),
        ],
        Behaviour::BadConfig => vec![("Failed", "Error: configmap \"missing\" not found".to_owned())],
        Behaviour::Crash | Behaviour::OutOfMemory if restarts > 0 => {
            let (namespace, pod, uid) = (object::namespace(pod), object::name(pod), object::uid(pod));
            let message =
                format!("Back-off restarting failed container {name} in pod {pod}_{namespace}({uid})");
            vec![("BackOff", message)]
        }
        Behaviour::NotReady => {
            vec![("Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503".to_owned())]
        }
        _ => Vec::new(),
    }
}

/// What a container has written: a crashing one has an instance before the current one from its first restart on.
fn output(name: &str, behaviour: Behaviour, restarts: u64) -> Output {
    let mut lines = vec![format!("{name}: starting")];
    match behaviour {
        Behaviour::Crash => lines.push(format!("{name}: panic: DB_URL is not set")),
        Behaviour::OutOfMemory => lines.push(format!("{name}: loading the whole catalogue")),
        Behaviour::NotReady => lines.push(format!("{name}: waiting for the cache")),
        _ => lines.push(format!("{name}: listening on :8080")),
    }
    Output { previous: (restarts > 0).then(|| lines.clone()), current: Some(lines) }
}
