//! How far a pod is on its way, in one word a person would use.

use std::collections::BTreeMap;

use k8s_openapi::jiff::Timestamp;

use super::container::{Container, State};
use super::pod::Pod;

/// What a container waits for when nothing is wrong with it.
const USUAL_WAITS: [&str; 3] = ["", "ContainerCreating", "PodInitializing"];

/// How far a pod is on its way from being created to being gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// It serves.
    Ready,
    /// It is ready, but not for `minReadySeconds` yet.
    Settling,
    /// It has a node, and nothing is known to be wrong with it.
    Starting,
    /// A container of it ended, or cannot be started.
    Failing,
    /// It has no node.
    Unscheduled,
    /// Its deletion was asked for.
    Terminating,
    /// It ended for good, and its controller has yet to clean it up.
    Ended,
}

impl Stage {
    /// The stage a pod is in.
    #[must_use]
    pub fn of(pod: &Pod, min_ready_seconds: i64, now: Timestamp) -> Self {
        match pod {
            pod if pod.terminating => Self::Terminating,
            pod if pod.has_ended() => Self::Ended,
            pod if pod.is_available(min_ready_seconds, now) => Self::Ready,
            pod if pod.ready => Self::Settling,
            pod if pod.node.is_empty() => Self::Unscheduled,
            pod if pod.containers.iter().any(is_failing) => Self::Failing,
            _ => Self::Starting,
        }
    }

    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Settling => "not yet available",
            Self::Starting => "starting",
            Self::Failing => "failing",
            Self::Unscheduled => "unscheduled",
            Self::Terminating => "terminating",
            Self::Ended => "ended",
        }
    }

    /// Whether a pod in it counts for its controller, which replaces the others.
    #[must_use]
    pub fn counts(self) -> bool {
        !matches!(self, Self::Terminating | Self::Ended)
    }
}

/// How many of some pods are in which stage, the best stage first.
#[must_use]
pub fn tally<'a>(
    pods: impl IntoIterator<Item = &'a Pod>,
    min_ready_seconds: i64,
    now: Timestamp,
) -> Vec<(Stage, usize)> {
    let mut tally: BTreeMap<Stage, usize> = BTreeMap::new();
    for pod in pods {
        *tally.entry(Stage::of(pod, min_ready_seconds, now)).or_default() += 1;
    }
    tally.into_iter().collect()
}

/// Whether a container is where it should never be on its way up. One that was restarted and runs is
/// given the benefit of the doubt; the causes tell of restarts.
fn is_failing(container: &Container) -> bool {
    match &container.state {
        State::Waiting { reason, .. } => !USUAL_WAITS.contains(&reason.as_str()),
        State::Terminated(termination) => !container.init || termination.exit_code != 0,
        State::Running { .. } | State::Unknown => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::object::Object;
    use serde_json::{Value, json};

    const NOW: &str = "2026-11-20T13:00:10Z";

    fn word(changes: &Value) -> &'static str {
        let mut pod = json!({
            "kind": "Pod", "metadata": {"name": "web-1"},
            "spec": {"nodeName": "n", "initContainers": [{"name": "init"}]},
            "status": {"phase": "Pending", "conditions": [
                {"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-20T13:00:00Z"},
            ]},
        });
        for (pointer, change) in changes.as_object().into_iter().flatten() {
            *pod.pointer_mut(pointer).unwrap() = change.clone();
        }
        Stage::of(&Pod::read(&Object::read(pod).unwrap()), 10, NOW.parse().unwrap()).word()
    }

    #[test]
    fn every_stage_has_its_signs() {
        let unready = |list: &str, state: &Value| {
            let status = json!({"containerStatuses": [], list: [{"name": "init", "state": state}]});
            json!({"/status": status})
        };
        let waiting = |reason: &str| json!({"waiting": {"reason": reason}});
        let ended = |code: i64| json!({"terminated": {"exitCode": code}});
        for (changes, expected) in [
            (json!({}), "ready"),
            (json!({"/status/conditions/0/lastTransitionTime": "2026-11-20T13:00:01Z"}), "not yet available"),
            (json!({"/metadata": {"name": "x", "deletionTimestamp": NOW}}), "terminating"),
            (json!({"/status/phase": "Failed"}), "ended"),
            (json!({"/status": {}}), "starting"),
            (json!({"/status": {}, "/spec": {}}), "unscheduled"),
            (unready("containerStatuses", &waiting("ContainerCreating")), "starting"),
            (unready("containerStatuses", &waiting("CrashLoopBackOff")), "failing"),
            (unready("containerStatuses", &json!({"running": {}})), "starting"),
            (unready("containerStatuses", &ended(0)), "failing"),
            (unready("initContainerStatuses", &ended(0)), "starting"),
            (unready("initContainerStatuses", &ended(1)), "failing"),
        ] {
            assert_eq!(word(&changes), expected, "{changes}");
        }
    }
}
