//! The stages of a pod between creation and removal.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

use crate::api::container::{Container, ContainerState};
use crate::api::pod::Pod;

/// The waiting reasons of a container that starts normally.
const USUAL_WAITS: [&str; 3] = ["", "ContainerCreating", "PodInitializing"];

/// How long a pod must stay ready before its start counts as a success. A container without a readiness probe is ready at
/// once, and may crash a second later.
pub const SETTLE_TIME: Duration = Duration::from_secs(10);

/// The stage of a pod between creation and removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PodStage {
    /// Available.
    Ready,
    /// Ready for less than `minReadySeconds`.
    Settling,
    /// Its controller updates it in place.
    UpdatingInPlace,
    /// Scheduled, without a known problem.
    Starting,
    /// A container terminated, or cannot be started.
    Failing,
    /// Not scheduled.
    Unscheduled,
    /// Being deleted.
    Terminating,
    /// Failed or succeeded, and not removed yet.
    Ended,
}

impl PodStage {
    /// Returns the stage of a pod.
    #[must_use]
    pub fn of(pod: &Pod, min_ready_seconds: i64, now: Timestamp) -> Self {
        match pod {
            pod if pod.terminating => Self::Terminating,
            pod if pod.has_ended() => Self::Ended,
            pod if pod.is_available(min_ready_seconds, now) => Self::Ready,
            pod if pod.ready => Self::Settling,
            pod if pod.node.is_empty() => Self::Unscheduled,
            pod if pod.containers.iter().any(is_failing) => Self::Failing,
            pod if pod.in_place_update.as_ref().is_some_and(|update| update.is_under_way) => {
                Self::UpdatingInPlace
            }
            _ => Self::Starting,
        }
    }

    /// Returns the word for the display.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Settling => "not yet available",
            Self::UpdatingInPlace => "updating in place",
            Self::Starting => "starting",
            Self::Failing => "failing",
            Self::Unscheduled => "unscheduled",
            Self::Terminating => "terminating",
            Self::Ended => "ended",
        }
    }

    /// Whether the controller counts pods in this stage.
    #[must_use]
    pub fn counts(self) -> bool {
        !matches!(self, Self::Terminating | Self::Ended)
    }
}

/// Counts pods by stage, the best stage first.
#[must_use]
pub fn tally<'a>(
    pods: impl IntoIterator<Item = &'a Pod>,
    min_ready_seconds: i64,
    now: Timestamp,
) -> Vec<(PodStage, usize)> {
    let mut tally: BTreeMap<PodStage, usize> = BTreeMap::new();
    for pod in pods {
        *tally.entry(PodStage::of(pod, min_ready_seconds, now)).or_default() += 1;
    }
    tally.into_iter().collect()
}

/// Whether a container is in a state that a normal start does not have. A restarted container that
/// runs is not failing; the causes report restarts.
fn is_failing(container: &Container) -> bool {
    match &container.state {
        ContainerState::Waiting { reason, .. } => !USUAL_WAITS.contains(&reason.as_str()),
        ContainerState::Terminated(termination) => !container.init || termination.exit_code != 0,
        ContainerState::Running { .. } | ContainerState::Unknown => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::object::Object;
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
        PodStage::of(&Pod::read(&Object::read(pod).unwrap()), 10, NOW.parse().unwrap()).word()
    }

    #[test]
    fn stages_follow_from_the_pod() {
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
