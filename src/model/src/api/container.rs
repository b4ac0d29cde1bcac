//! The fields of a container that rollouts depend on.

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::object::value_at;

/// One container of a pod, from its status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Container {
    /// The name.
    pub name: String,
    /// Whether it is an init container that must finish before the others start. Sidecars (init
    /// containers with `restartPolicy: Always`) do not count.
    pub init: bool,
    /// Whether it is a sidecar: an init container with `restartPolicy: Always`.
    pub sidecar: bool,
    /// The image of the status.
    pub image: String,
    /// The current state.
    pub state: ContainerState,
    /// The previous termination (`lastState.terminated`).
    pub last: Option<Termination>,
    /// `restartCount`.
    pub restarts: i64,
    /// Whether a resize in place explains its latest termination: it was requested during that run, shortly before the run
    /// ended as after a request to stop, and `resizePolicy` restarts the container. The kubelet reports such a restart in an
    /// event of type Normal only.
    pub restarted_by_resize: bool,
    /// Whether it is ready.
    pub ready: bool,
    /// Whether its startup probe passed, if it has one.
    pub started: bool,
}

/// The state of a container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ContainerState {
    /// Not known.
    #[default]
    Unknown,
    /// Waiting to start.
    Waiting {
        /// The reason, such as `ImagePullBackOff`.
        reason: String,
        /// The message of the kubelet, often with that of the container runtime.
        message: String,
    },
    /// Running.
    Running {
        /// `startedAt`.
        since: Option<Timestamp>,
    },
    /// Terminated and not restarted.
    Terminated(Termination),
}

/// How a container terminated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Termination {
    /// The exit code; above 128 it is 128 plus the number of a signal.
    pub exit_code: i64,
    /// The reason, such as `OOMKilled`.
    pub reason: String,
    /// The termination message, the last log lines, or the error of the container runtime.
    pub message: String,
    /// When it started, if the kubelet knows.
    pub started: Option<Timestamp>,
    /// When it ended, if the kubelet knows.
    pub finished: Option<Timestamp>,
}

impl Container {
    /// Reads the containers of a pod, init containers first, in the order of the status.
    #[must_use]
    pub fn all_of(pod: &Value) -> Vec<Self> {
        let statuses = |list| value_at(pod, list).and_then(Value::as_array).into_iter().flatten();
        let init = statuses("/status/initContainerStatuses").map(|status| {
            let container = Self::read(status);
            let sidecar = is_sidecar(pod, &container.name);
            Self { init: !sidecar, sidecar, ..container }
        });
        let containers = init.chain(statuses("/status/containerStatuses").map(Self::read));
        let containers = containers
            .map(|container| Self { restarted_by_resize: restarted_by_resize(pod, &container), ..container });
        let mut all: Vec<_> = containers.collect();
        all.shrink_to_fit(); // `collect` leaves room for four, a kilobyte for each of ten thousand pods
        all
    }

    fn read(status: &Value) -> Self {
        let is = |field: &str| status.get(field).and_then(Value::as_bool).unwrap_or_default();
        Self {
            name: text(status, "name"),
            init: false,
            sidecar: false,
            image: text(status, "image"),
            state: status.get("state").map(ContainerState::read).unwrap_or_default(),
            last: status.pointer("/lastState/terminated").map(Termination::read),
            restarts: status.get("restartCount").and_then(Value::as_i64).unwrap_or_default(),
            restarted_by_resize: false,
            ready: is("ready"),
            started: is("started"),
        }
    }

    /// Returns the reason it waits for; empty if it does not wait.
    #[must_use]
    pub fn waiting_reason(&self) -> &str {
        match &self.state {
            ContainerState::Waiting { reason, .. } => reason,
            _ => "",
        }
    }

    /// Returns the message of the waiting state; empty if it does not wait.
    #[must_use]
    pub fn waiting_message(&self) -> &str {
        match &self.state {
            ContainerState::Waiting { message, .. } => message,
            _ => "",
        }
    }

    /// Returns the latest termination, whether or not it was restarted since.
    #[must_use]
    pub fn latest_termination(&self) -> Option<&Termination> {
        match &self.state {
            ContainerState::Terminated(termination) => Some(termination),
            _ => self.last.as_ref(),
        }
    }
}

impl ContainerState {
    fn read(state: &Value) -> Self {
        if let Some(waiting) = state.get("waiting") {
            Self::Waiting { reason: text(waiting, "reason"), message: text(waiting, "message") }
        } else if let Some(running) = state.get("running") {
            Self::Running { since: time(running, "startedAt") }
        } else if let Some(terminated) = state.get("terminated") {
            Self::Terminated(Termination::read(terminated))
        } else {
            Self::Unknown
        }
    }
}

impl Termination {
    fn read(terminated: &Value) -> Self {
        Self {
            exit_code: terminated.get("exitCode").and_then(Value::as_i64).unwrap_or_default(),
            reason: text(terminated, "reason"),
            message: text(terminated, "message"),
            // Of a container that could not be started the kubelet writes 1970-01-01T00:00:00Z.
            started: time(terminated, "startedAt").filter(|started| *started > Timestamp::UNIX_EPOCH),
            finished: time(terminated, "finishedAt"),
        }
    }

    /// Whether the exit code is that of a container that the kubelet stopped: 0, or that of SIGTERM or SIGKILL.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        [0, 137, 143].contains(&self.exit_code)
    }

    /// Whether the container never ran. containerd and CRI-O end it with the first reason, Docker with the second.
    #[must_use]
    pub fn is_failed_start(&self) -> bool {
        ["StartError", "ContainerCannotRun"].contains(&self.reason.as_str())
    }

    /// How long the container ran; zero where the kubelet does not know.
    #[must_use]
    pub fn ran_for(&self) -> SignedDuration {
        let times = self.started.zip(self.finished);
        times.map_or(SignedDuration::ZERO, |(started, finished)| finished.duration_since(started))
    }
}

fn time(value: &Value, field: &str) -> Option<Timestamp> {
    value.get(field).and_then(Value::as_str)?.parse().ok()
}

fn text(value: &Value, field: &str) -> String {
    value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Returns the containers that a pod or a pod template declares, init containers first.
pub fn declared_containers(template: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["/spec/initContainers", "/spec/containers"].into_iter();
    lists.filter_map(|list| value_at(template, list)?.as_array()).flatten()
}

/// Returns the container with a name that a pod or a pod template declares.
#[must_use]
pub fn declared_container<'a>(template: &'a Value, name: &str) -> Option<&'a Value> {
    declared_containers(template).find(|container| text(container, "name") == name)
}

/// How long after the grace period of its pod a container that is restarted by a resize ends, at most.
const RESIZE_MARGIN: SignedDuration = SignedDuration::from_secs(30);

/// Returns the managed fields of the clients that resized a pod in place.
fn resizes(pod: &Value) -> impl Iterator<Item = &Value> {
    let managed = value_at(pod, "/metadata/managedFields").and_then(Value::as_array).into_iter().flatten();
    managed.filter(|entry| text(entry, "subresource") == "resize")
}

/// Whether a client resized a pod in place.
pub(super) fn was_resized(pod: &Value) -> bool {
    resizes(pod).next().is_some()
}

/// Whether the latest termination of a container follows from a resize of its pod. Only the managed fields have the time of a
/// resize, because the generation counts every change of the spec.
fn restarted_by_resize(pod: &Value, container: &Container) -> bool {
    let Some(Termination { started, finished: Some(finished), .. }) = container.latest_termination() else {
        return false;
    };
    let restarts = |policy: &Value| text(policy, "restartPolicy") == "RestartContainer";
    let policies = declared_container(pod, &container.name)
        .and_then(|container| container.get("resizePolicy")?.as_array());
    let is_asked =
        container.latest_termination().is_some_and(|end| end.is_stopped() && end.reason != "OOMKilled");
    if !is_asked || !policies.is_some_and(|policies| policies.iter().any(restarts)) {
        return false;
    }
    let grace = value_at(pod, "/spec/terminationGracePeriodSeconds").and_then(Value::as_i64).unwrap_or(30);
    let limit = SignedDuration::from_secs(grace).saturating_add(RESIZE_MARGIN);
    resizes(pod).any(|entry| {
        let requested = time(entry, "time");
        requested
            .is_some_and(|at| Some(at) >= *started && at <= *finished && finished.duration_since(at) <= limit)
    })
}

/// Only the spec distinguishes a sidecar from an init container (`restartPolicy: Always`).
fn is_sidecar(pod: &Value, name: &str) -> bool {
    declared_container(pod, name).is_some_and(|container| text(container, "restartPolicy") == "Always")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_sidecar_is_not_an_init_container() {
        let pod = json!({
            "spec": {"initContainers": [{"name": "migrate"}, {"name": "proxy", "restartPolicy": "Always"}]},
            "status": {
                "initContainerStatuses": [{"name": "migrate"}, {"name": "proxy"}],
                "containerStatuses": [{"name": "app", "restartCount": 2, "state": {"running": {}},
                    "lastState": {"terminated": {"exitCode": 3, "reason": "Error"}}}],
            },
        });
        let containers = Container::all_of(&pod);
        let kinds: Vec<_> =
            containers.iter().map(|container| (container.name.as_str(), container.init)).collect();
        assert_eq!(kinds, [("migrate", true), ("proxy", false), ("app", false)]);
        assert_eq!(containers[2].latest_termination().map(|ending| ending.exit_code), Some(3));
        assert_eq!(containers[2].state, ContainerState::Running { since: None });
    }

    /// Recorded on Kubernetes 1.36: `Container app resize requires restart` is an event of type Normal.
    #[test]
    fn a_resize_explains_the_end_of_the_run_in_which_it_was_requested() {
        let restarted = |resized: &str, subresource: &str, policy: &str, exit_code: i64| {
            let pod = json!({
                "metadata": {"generation": 9, "managedFields": [
                    {"manager": "kubelet", "subresource": "status", "time": "2026-11-20T13:00:59Z"},
                    {"manager": "vpa", "subresource": subresource, "time": resized},
                ]},
                "spec": {"terminationGracePeriodSeconds": 20, "containers": [{"name": "app", "resizePolicy": [
                    {"resourceName": "cpu", "restartPolicy": "NotRequired"},
                    {"resourceName": "memory", "restartPolicy": policy},
                ]}]},
                "status": {"containerStatuses": [{"name": "app", "restartCount": 5, "state": {"running": {}},
                    "lastState": {"terminated": {"exitCode": exit_code, "startedAt": "2026-11-20T13:00:00Z",
                        "finishedAt": "2026-11-20T13:02:00Z"}}}]},
            });
            Container::all_of(&pod)[0].restarted_by_resize
        };
        let resized = "2026-11-20T13:01:45Z";
        assert!(restarted(resized, "resize", "RestartContainer", 0));
        assert!(restarted(resized, "resize", "RestartContainer", 143));
        assert!(!restarted(resized, "resize", "RestartContainer", 1), "it crashed");
        assert!(!restarted(resized, "resize", "NotRequired", 0));
        assert!(
            !restarted(resized, "ephemeralcontainers", "RestartContainer", 0),
            "another change of the spec"
        );
        assert!(!restarted("2026-11-20T13:01:00Z", "resize", "RestartContainer", 137), "a later kill");
        assert!(!restarted("2026-11-20T13:02:05Z", "resize", "RestartContainer", 137), "an earlier run");
        assert!(!restarted("2026-11-20T12:59:00Z", "resize", "RestartContainer", 137), "a run after it");
    }

    #[test]
    fn invalid_statuses_read_as_empty() {
        for pod in [
            json!(null),
            json!({"status": {"containerStatuses": 3}}),
            json!({"status": {"containerStatuses": []}}),
        ] {
            assert_eq!(Container::all_of(&pod), []);
        }
        let pod = json!({"status": {"containerStatuses": [7]}});
        assert_eq!(Container::all_of(&pod), [Container::default()]);
    }

    /// As a kubelet stored it, for a command that does not exist.
    #[test]
    fn a_container_that_could_not_be_started_ran_for_no_time() {
        let pod = json!({"status": {"containerStatuses": [{
            "name": "app", "restartCount": 4, "state": {"waiting": {"reason": "RunContainerError"}},
            "lastState": {"terminated": {
                "exitCode": 128, "reason": "StartError",
                "startedAt": "1970-01-01T00:00:00Z", "finishedAt": "2026-11-26T04:32:08Z",
            }},
        }]}});
        let containers = Container::all_of(&pod);
        let ending = containers[0].latest_termination().unwrap();
        assert_eq!((ending.started, ending.ran_for()), (None, SignedDuration::ZERO));
    }
}
