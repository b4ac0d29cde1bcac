//! Rollouts that are stuck, and since when a pod has its problem.

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::crash::{BACK_OFF_RESTARTS, MAX_RECOVERY_TIME};
use super::{Cause, CauseId};
use crate::model::api::container::{Container, ContainerState};
use crate::model::api::pod::Pod;
use crate::model::kind::verdict::{RolloutState, Verdict};

/// A rollout is stuck once a cause has needed a fix for this long.
const STUCK_AFTER: SignedDuration = SignedDuration::from_secs(30);

/// Returns the verdict with the state [`RolloutState::Stuck`] if the rollout progresses and one of its causes has needed
/// a fix for 30 seconds. Exit codes do not distinguish the two states.
#[must_use]
pub fn stuck_if<'c>(
    verdict: Verdict,
    causes: impl IntoIterator<Item = &'c Cause>,
    now: Timestamp,
) -> Verdict {
    let lasts = |cause: &Cause| cause.since.is_some_and(|since| now.duration_since(since) >= STUCK_AFTER);
    let is_stuck = verdict.state == RolloutState::Progressing
        && causes.into_iter().any(|cause| cause.needs_a_fix() && cause.has_repeated() && lasts(cause));
    if is_stuck { Verdict { state: RolloutState::Stuck, ..verdict } } else { verdict }
}

impl CauseId {
    /// Whether a cause ends its container again and again.
    pub(in crate::model) fn ends_container(self) -> bool {
        matches!(
            self,
            Self::CrashLoop
                | Self::InitCrash
                | Self::OutOfMemory
                | Self::PostStartHook
                | Self::LivenessProbe
                | Self::StartupProbe
        )
    }
}

impl Cause {
    /// Whether a crash has repeated, so that it does not end without a fix. True for every other cause.
    pub(in crate::model) fn has_repeated(&self) -> bool {
        !self.id.ends_container() || self.restarts > self.allowed_restarts
    }
}

/// Returns the time since when a pod has a problem, at the latest; none if no stamp shows it.
///
/// | problem | source |
/// |---|---|
/// | crash loop | [`crashed_since`] |
/// | other | the latest of: the creation of the pod; `lastTransitionTime` of `PodScheduled`, `PodReadyToStartContainers` and `Ready`; the end of an init container; [`crashed_since`] |
pub(super) fn since(id: CauseId, pod: &Pod, container: Option<&Container>) -> Option<Timestamp> {
    let crashed = container.and_then(crashed_since);
    if id.ends_container() {
        return crashed.and_then(|crashed| pod.updated_at().max(Some(crashed)));
    }
    let conditions = [&pod.scheduling, &pod.sandbox, &pod.readiness].map(|condition| condition.since);
    let init = pod.containers.iter().filter(|container| container.init);
    let init = init.filter_map(|init| init.latest_termination()?.finished);
    conditions.into_iter().chain([pod.updated_at(), crashed]).flatten().chain(init).max()
}

/// Returns when a container crashed first, at the latest; none if it never ended.
///
/// The stamps of earlier runs are lost, but the restarts show how long the kubelet waited between them. So a crash loop
/// does not begin again with each restart. A first crash, and one after a long run, begins when that run ended.
fn crashed_since(container: &Container) -> Option<Timestamp> {
    let ending = container.latest_termination()?;
    if container.restarts < BACK_OFF_RESTARTS || ending.ran_for() > MAX_RECOVERY_TIME {
        return ending.finished;
    }
    let latest_start = match container.state {
        ContainerState::Running { since } => since,
        _ => ending.started,
    };
    let latest_start = latest_start.or(ending.finished)?;
    Some(latest_start.checked_sub(back_offs(container.restarts)).unwrap_or(Timestamp::MIN))
}

/// Returns how long the kubelet has waited in all before a container's restarts: not before the first one, then 10 s, and
/// each time twice as long, up to 5 minutes (`MaxCrashLoopBackOff` in `pkg/kubelet`). A kubelet with a shorter back-off
/// waited less.
fn back_offs(restarts: i64) -> SignedDuration {
    let waits = restarts.saturating_sub(1).max(0);
    let growing = waits.min(5); // 10, 20, 40, 80 and 160 s
    let longest = (waits - growing).saturating_mul(300);
    SignedDuration::from_secs(longest.saturating_add(10 * ((1 << growing) - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api::container::Termination;
    use crate::model::api::object::Object;
    use crate::model::cause::causes;
    use crate::model::kind::Workload;
    use crate::model::observation::Observation;
    use crate::model::revision::Revisions;
    use serde_json::{Value, json};
    use std::sync::Arc;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn verdict(state: RolloutState) -> Verdict {
        Verdict { state, line: "w".to_owned() }
    }

    #[test]
    fn only_a_lasting_cause_that_needs_a_fix_makes_a_rollout_stuck() {
        use RolloutState::{Complete, Failed, Held, Paused, Progressing, Stuck, Unobserved};
        let cause = |id, since, restarts| Cause { restarts, since, ..Cause::sample(id) };
        let quota = |since| cause(CauseId::QuotaExceeded, since, 0);
        let transient = Cause { is_transient: true, ..quota(Some(at(0))) };
        for (state, cause, expected) in [
            (Progressing, quota(Some(at(70))), Stuck),
            (Progressing, quota(Some(at(71))), Progressing),
            (Progressing, quota(None), Progressing),
            (Progressing, transient, Progressing),
            (Progressing, cause(CauseId::Partition, Some(at(0)), 0), Progressing),
            (Progressing, cause(CauseId::CrashLoop, Some(at(0)), 1), Progressing),
            (Progressing, cause(CauseId::CrashLoop, Some(at(0)), 2), Stuck),
            (Complete, quota(Some(at(0))), Complete),
            (Paused, quota(Some(at(0))), Paused),
            (Held, quota(Some(at(0))), Held),
            (Unobserved, quota(Some(at(0))), Unobserved),
            (Failed, quota(Some(at(0))), Failed),
        ] {
            assert_eq!(stuck_if(verdict(state), [&cause], at(100)), verdict(expected), "{cause:?}");
        }
    }

    #[test]
    fn a_problem_of_a_pod_begins_at_a_stamp() {
        let pod = json!({"kind": "Pod", "metadata": {"name": "p", "creationTimestamp": at(10)}, "status": {
            "conditions": [
                {"type": "PodScheduled", "status": "True", "lastTransitionTime": at(20)},
                {"type": "Ready", "status": "False", "lastTransitionTime": at(10)},
            ],
        }});
        let pod = Pod::read(&Object::read(pod).unwrap());
        let crashed = |restarts, started, finished| Container {
            restarts,
            state: ContainerState::Waiting { reason: "CrashLoopBackOff".to_owned(), message: String::new() },
            last: Some(Termination {
                started: Some(at(started)),
                finished: Some(at(finished)),
                ..Termination::default()
            }),
            ..Container::default()
        };
        for (id, container, expected) in [
            (CauseId::CrashLoop, crashed(1, 30, 40), 40),
            (CauseId::CrashLoop, crashed(2, 90, 91), 80), // one back-off of 10 s
            (CauseId::CrashLoop, crashed(3, 90, 91), 60), // and one of 20 s
            (CauseId::CrashLoop, crashed(i64::MAX, 90, 91), 10), // not before the pod was created
            (CauseId::CommandNotFound, crashed(3, 90, 91), 60),
            (CauseId::CrashLoop, crashed(7, 30, 5_000), 5_000), // it had recovered from the crash before
            (CauseId::ImageNotFound, Container::default(), 20),
            (CauseId::ImageNotFound, crashed(1, 30, 40), 40),
            (CauseId::ImageNotFound, Container { init: true, ..Container::default() }, 20),
        ] {
            assert_eq!(since(id, &pod, Some(&container)), Some(at(expected)), "{id:?} {container:?}");
        }
        let initialized = Pod { containers: vec![Container { init: true, ..crashed(0, 20, 25) }], ..pod };
        assert_eq!(since(CauseId::MissingSecret, &initialized, None), Some(at(25)));
    }

    /// A Deployment with one pod whose container has this status.
    fn observation(container: &Value, ready_since: Option<i64>) -> Observation {
        let template = json!({"spec": {"containers": [{"name": "app", "image": "x:1"}]}});
        let workload = json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "w", "uid": "w"}, "spec": {"template": template, "minReadySeconds": 90},
            "status": {"replicas": 1, "updatedReplicas": 1, "unavailableReplicas": 1}});
        let revision = json!({"kind": "ReplicaSet", "spec": {"template": template}, "metadata": {
            "name": "r1", "uid": "r1", "ownerReferences": [{"controller": true, "uid": "w"}]}});
        let ready = json!({"type": "Ready", "status": if ready_since.is_some() { "True" } else { "False" },
            "lastTransitionTime": at(ready_since.unwrap_or_default())});
        let pod = json!({"kind": "Pod", "spec": {"nodeName": "n"}, "metadata": {"name": "p", "uid": "p",
            "creationTimestamp": at(0), "ownerReferences": [{"controller": true, "uid": "r1"}]},
            "status": {"phase": "Running", "conditions": [ready], "containerStatuses": [container]}});
        let workload = Workload::of_json(&workload).unwrap();
        let revisions = Revisions::of(&workload, [Object::read(revision).unwrap()]);
        let pods = Some(vec![Arc::new(Pod::read(&Object::read(pod).unwrap()))]);
        Observation { workload, revisions, pods, events: None }
    }

    /// The kubelet restarts at once after the first crash, and then waits for 10, 20, ... 300 s.
    #[test]
    fn a_crash_loop_stays_stuck() {
        let ran = |start, end| json!({"terminated": {"exitCode": 1, "startedAt": at(start), "finishedAt": at(end)}});
        let is_stuck = |container: &Value, ready_since, now| {
            let causes = causes(&observation(container, ready_since), now);
            stuck_if(verdict(RolloutState::Progressing), &causes, now).state == RolloutState::Stuck
        };
        for (run, is_ready) in [(0, false), (1, true), (8, false), (25, true), (45, false), (45, true)] {
            let (mut start, mut last, mut stuck_since) = (5, json!({}), None);
            for (restarts, back_off) in [0, 10, 20, 40, 80, 160, 300, 300].into_iter().enumerate() {
                let end = start + run;
                for now in start..end + back_off {
                    let container = if now < end {
                        let state = json!({"running": {"startedAt": at(start)}});
                        json!({"restartCount": restarts, "ready": is_ready, "state": state, "lastState": last})
                    } else {
                        let state = json!({"waiting": {"reason": "CrashLoopBackOff"}});
                        json!({"restartCount": restarts, "state": state, "lastState": ran(start, end)})
                    };
                    let ready_since = (is_ready && now < end).then_some(start);
                    let is_stuck = is_stuck(&container, ready_since, at(now));
                    if is_stuck {
                        stuck_since.get_or_insert(now);
                    }
                    assert_eq!(is_stuck, stuck_since.is_some(), "{run} s, {restarts} restarts, at {now}");
                }
                (start, last) = (end + back_off, ran(start, end));
            }
            let first_crash = 5 + run;
            assert_eq!(stuck_since, Some(first_crash + run + 30), "the second run and 30 s later");
        }
    }
}
