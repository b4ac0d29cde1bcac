//! Since when a pod has a problem, by the stamps of the pod and its containers.

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::CauseId;
use super::crash_loop::MAX_RECOVERY_TIME;
use crate::api::container::{Container, ContainerState};
use crate::api::pod::Pod;

/// The restart from which the kubelet waits before the next one.
const BACK_OFF_RESTARTS: i64 = 2;

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
    use crate::api::container::Termination;
    use crate::api::object::Object;
    use serde_json::json;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
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
        let never_ran = |restarts, finished| {
            let last = Termination { finished: Some(at(finished)), ..Termination::default() };
            Container { last: Some(last), ..crashed(restarts, 0, 0) }
        };
        for (id, container, expected) in [
            (CauseId::CrashLoop, crashed(1, 30, 40), 40),
            (CauseId::CrashLoop, crashed(2, 90, 91), 80), // one back-off of 10 s
            (CauseId::CrashLoop, crashed(3, 90, 91), 60), // and one of 20 s
            (CauseId::CrashLoop, crashed(i64::MAX, 90, 91), 10), // not before the pod was created
            (CauseId::CommandNotFound, crashed(3, 90, 91), 60),
            (CauseId::CommandNotFound, never_ran(3, 91), 61),
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
}
