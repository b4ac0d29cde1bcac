//! The graceful termination of a deleted pod: preStop hooks, SIGTERM, the grace period, SIGKILL.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::behaviour::Behaviour;
use super::conditions;
use super::timing::KubeletTiming;
use crate::clock::stamp;
use crate::object;

/// How the containers of a deleted pod end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Termination {
    /// From the deletion until the last container has ended.
    pub(super) takes: Duration,
    /// Whether the grace period expires before.
    pub(super) is_killed: bool,
}

impl Termination {
    /// Returns the termination of a pod.
    pub(super) fn of(pod: &Value, timing: &KubeletTiming) -> Self {
        let grace = object::at(pod, &["metadata", "deletionGracePeriodSeconds"]).and_then(Value::as_u64);
        let grace = Duration::from_secs(grace.unwrap_or(30));
        let needed = object::list(pod, &["spec", "containers"]).iter().map(|container| {
            let image = object::text(container, &["image"]);
            let after_sigterm = match Behaviour::of_image(image) {
                Behaviour::IgnoresSigterm => grace,
                Behaviour::SlowStop => timing.slow_stop,
                _ => timing.stopping(object::uid(pod)),
            };
            pre_stop(container) + after_sigterm
        });
        let needed = needed.max().unwrap_or_default();
        Self { takes: needed.min(grace), is_killed: needed >= grace }
    }

    /// Returns the pod with the status that it has when its containers have ended.
    pub(super) fn ended(self, pod: &Value, now: Timestamp) -> Value {
        let mut ended = pod.clone();
        let (exit_code, reason) = if self.is_killed { (137, "Error") } else { (0, "Completed") };
        if let Some(Value::Array(containers)) = ended["status"].get_mut("containerStatuses") {
            for container in containers {
                if let Some(running) = container["state"].get("running") {
                    container["state"] = json!({ "terminated": {
                        "exitCode": exit_code, "reason": reason, "startedAt": running["startedAt"],
                        "finishedAt": stamp(now), "containerID": container["containerID"],
                    } });
                }
                container["ready"] = false.into();
                container["started"] = false.into();
            }
        }
        let containers = object::list(&ended, &["status", "containerStatuses"]);
        let has_failed = containers.iter().any(|one| one["state"]["terminated"]["exitCode"] != 0);
        let phase = if has_failed { "Failed" } else { "Succeeded" };
        let conditions = conditions::of_ended(pod, now);
        let status = object::members(&mut ended["status"]);
        status.insert("phase".to_owned(), phase.into());
        status.insert("conditions".to_owned(), conditions);
        ended
    }
}

/// How long the preStop hook of a container takes: the seconds of `sleep`, as an action or as a command.
fn pre_stop(container: &Value) -> Duration {
    let hook = &container["lifecycle"]["preStop"];
    let command = object::list(hook, &["exec", "command"]);
    let seconds = match command {
        [name, seconds] if name == "sleep" => seconds.as_str().and_then(|seconds| seconds.parse().ok()),
        _ => hook["sleep"]["seconds"].as_u64(),
    };
    Duration::from_secs(seconds.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(spec: &Value) -> (u64, bool) {
        let mut container = json!({ "image": "app:1" });
        object::members(&mut container).extend(spec.as_object().cloned().unwrap_or_default());
        let pod = json!({
            "metadata": { "uid": "u", "deletionGracePeriodSeconds": 15 }, "spec": { "containers": [container] },
        });
        let timing = KubeletTiming { stop: Duration::from_secs(1), ..KubeletTiming::default() };
        let termination = Termination::of(&pod, &timing);
        (termination.takes.as_secs(), termination.is_killed)
    }

    #[test]
    fn the_grace_period_limits_hooks_and_processes() {
        for (spec, expected) in [
            (json!({}), (1, false)),
            (json!({ "image": "app:1-nosigterm" }), (15, true)),
            (json!({ "image": "app:1-slowstop" }), (15, true)),
            (json!({ "lifecycle": { "preStop": { "exec": { "command": ["sleep", "8"] } } } }), (9, false)),
            (json!({ "lifecycle": { "preStop": { "sleep": { "seconds": 20 } } } }), (15, true)),
        ] {
            assert_eq!(seconds(&spec), expected, "{spec}");
        }
    }
}
