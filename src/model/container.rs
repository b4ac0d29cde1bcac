//! What we remember of a container of a pod.

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

/// One container of a pod, from its status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Container {
    /// Its name.
    pub name: String,
    /// Whether it must end before the others start. A sidecar, which is an init container that is
    /// always restarted, is not meant: it fails as the others do.
    pub init: bool,
    /// The image it was asked to run.
    pub image: String,
    /// What it is doing.
    pub state: State,
    /// How it ended the last time, if it was restarted.
    pub last: Option<Termination>,
    /// How often the kubelet restarted it.
    pub restarts: i64,
    /// Whether it passes its readiness probe, if it has one.
    pub ready: bool,
    /// Whether it passed its startup probe, if it has one.
    pub started: bool,
}

/// What a container is doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Nothing is known yet.
    #[default]
    Unknown,
    /// It waits to be started.
    Waiting {
        /// The kubelet's word for why, such as `ImagePullBackOff`.
        reason: String,
        /// The kubelet's sentence, in which the runtime's own may be.
        message: String,
    },
    /// It runs.
    Running {
        /// Since when.
        since: Option<Timestamp>,
    },
    /// It ended, and was not started again yet.
    Terminated(Termination),
}

/// How a container ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Termination {
    /// Its exit code; above 128 it was ended by the signal of that number less 128.
    pub exit_code: i64,
    /// The kubelet's or the runtime's word for it, such as `OOMKilled`.
    pub reason: String,
    /// What it left behind: its termination message, its last log lines, or the runtime's error.
    pub message: String,
}

impl Container {
    /// Reads the containers of a pod: the init containers first, in the order of the status.
    #[must_use]
    pub fn all_of(pod: &Value) -> Vec<Self> {
        let statuses = |list| pod.pointer(list).and_then(Value::as_array).into_iter().flatten();
        let init = statuses("/status/initContainerStatuses").map(|status| {
            let container = Self::read(status);
            Self { init: !is_sidecar(pod, &container.name), ..container }
        });
        init.chain(statuses("/status/containerStatuses").map(Self::read)).collect()
    }

    fn read(status: &Value) -> Self {
        let is = |field: &str| status.get(field).and_then(Value::as_bool).unwrap_or_default();
        Self {
            name: text(status, "name"),
            init: false,
            image: text(status, "image"),
            state: status.get("state").map(State::read).unwrap_or_default(),
            last: status.pointer("/lastState/terminated").map(Termination::read),
            restarts: status.get("restartCount").and_then(Value::as_i64).unwrap_or_default(),
            ready: is("ready"),
            started: is("started"),
        }
    }

    /// The kubelet's word for why it waits, empty when it does not.
    #[must_use]
    pub fn waiting_for(&self) -> &str {
        match &self.state {
            State::Waiting { reason, .. } => reason,
            _ => "",
        }
    }

    /// The kubelet's sentence for why it waits, empty when it does not.
    #[must_use]
    pub fn waiting_message(&self) -> &str {
        match &self.state {
            State::Waiting { message, .. } => message,
            _ => "",
        }
    }

    /// How it ended most recently, whether or not it was started again since.
    #[must_use]
    pub fn ending(&self) -> Option<&Termination> {
        match &self.state {
            State::Terminated(termination) => Some(termination),
            _ => self.last.as_ref(),
        }
    }
}

impl State {
    fn read(state: &Value) -> Self {
        if let Some(waiting) = state.get("waiting") {
            Self::Waiting { reason: text(waiting, "reason"), message: text(waiting, "message") }
        } else if let Some(running) = state.get("running") {
            let since = running.get("startedAt").and_then(Value::as_str);
            Self::Running { since: since.and_then(|since| since.parse().ok()) }
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
        }
    }
}

fn text(value: &Value, field: &str) -> String {
    value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The status does not tell a sidecar from an init container; the spec does (`restartPolicy: Always`).
fn is_sidecar(pod: &Value, name: &str) -> bool {
    let field = |container: &Value, field: &str| {
        container.get(field).and_then(Value::as_str).map(str::to_owned).unwrap_or_default()
    };
    let containers = pod.pointer("/spec/initContainers").and_then(Value::as_array);
    containers
        .into_iter()
        .flatten()
        .any(|container| field(container, "name") == name && field(container, "restartPolicy") == "Always")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_sidecar_is_no_init_container() {
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
        assert_eq!(containers[2].ending().map(|ending| ending.exit_code), Some(3));
        assert_eq!(containers[2].state, State::Running { since: None });
    }

    #[test]
    fn what_is_no_status_reads_as_nothing() {
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
}
