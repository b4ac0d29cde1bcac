//! Since when a pod has a problem, by the stamps of the pod and its containers.

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::CauseId;
use super::context::MAX_RECOVERY_TIME;
use crate::api::container::{Container, ContainerState};
use crate::api::pod::Pod;
use crate::text::go_duration;

/// The restart from which the kubelet waits before the next one.
const BACK_OFF_RESTARTS: i64 = 2;

/// How long the kubelet waits before the second and each later restart of a series, in seconds (`MaxCrashLoopBackOff` in
/// `pkg/kubelet`). A kubelet with a shorter back-off waits less.
const BACK_OFFS: [i64; 6] = [10, 20, 40, 80, 160, 300];

/// How long a container must run before the kubelet forgets its back-off: twice the longest one.
const SERIES_END: SignedDuration = SignedDuration::from_mins(10);

/// Returns the time since when a pod has a problem, at the latest; none if no stamp shows it.
///
/// | problem | source |
/// |---|---|
/// | crash loop | [`crashed_since`] |
/// | other | the latest of: the creation of the pod; `lastTransitionTime` of `PodScheduled`, `PodReadyToStartContainers` and `Ready`; the end of an init container; [`crashed_since`] |
pub(super) fn since(id: CauseId, pod: &Pod, container: Option<&Container>) -> Option<Timestamp> {
    let crashed = container.and_then(|container| crashed_since(container, pod));
    if id.ends_container() {
        return crashed.and_then(|crashed| pod.updated_at().max(Some(crashed)));
    }
    let conditions = [&pod.scheduling, &pod.sandbox, &pod.readiness].map(|condition| condition.since);
    let init = pod.containers.iter().filter(|container| container.init);
    let init = init.filter_map(|init| init.latest_termination()?.finished);
    conditions.into_iter().chain([pod.updated_at(), crashed]).flatten().chain(init).max()
}

/// Returns when a container crashed first in the present series, at the latest; none if it never ended.
///
/// The stamps of earlier runs are lost, but the restarts show how long the kubelet waited between them. So a crash loop
/// does not begin again with each restart. A first crash, and one after a long run, begins when that run ended.
fn crashed_since(container: &Container, pod: &Pod) -> Option<Timestamp> {
    let ending = container.latest_termination()?;
    let restarts = restarts_in_series(container, pod);
    if restarts < BACK_OFF_RESTARTS || ending.ran_for() > MAX_RECOVERY_TIME {
        return ending.finished;
    }
    let start = latest_start(container).or(ending.finished)?;
    Some(start.checked_sub(back_offs(restarts)).unwrap_or(Timestamp::MIN))
}

/// Returns when the latest run of a container began.
fn latest_start(container: &Container) -> Option<Timestamp> {
    match container.state {
        ContainerState::Running { since } => since,
        _ => container.latest_termination()?.started,
    }
}

/// Returns how many restarts the present series of crashes has, at most. The kubelet doubles its wait with each restart of a
/// series, so the latest wait tells them. All restarts are of one series if the pod is younger than a run that ends a series,
/// if the wait is the longest one, or if it is not known.
pub(super) fn restarts_in_series(container: &Container, pod: &Pod) -> i64 {
    let age =
        latest_start(container).zip(pod.updated_at()).map(|(start, updated)| start.duration_since(updated));
    if age.is_none_or(|age| age < SERIES_END) {
        return container.restarts;
    }
    let gap = |start: Option<Timestamp>| Some(start?.duration_since(container.last.as_ref()?.finished?));
    let restarts = match &container.state {
        ContainerState::Running { since } => gap(*since).and_then(restarts_after),
        ContainerState::Terminated(ending) => gap(ending.started).and_then(restarts_after),
        // The wait is that before the next restart.
        ContainerState::Waiting { message, .. } => {
            back_off(message).and_then(restarts_after).map(|restarts| restarts - 1)
        }
        ContainerState::Unknown => None,
    };
    restarts.map_or(container.restarts, |restarts| restarts.min(container.restarts))
}

/// Returns how many restarts a series has with the one that came after this wait; none if the wait is the longest one. Stamps
/// have whole seconds.
fn restarts_after(wait: SignedDuration) -> Option<i64> {
    let shorter = BACK_OFFS.iter().filter(|back_off| **back_off <= wait.as_secs().saturating_add(1)).count();
    (shorter < BACK_OFFS.len()).then(|| i64::try_from(shorter).unwrap_or_default() + 1)
}

/// Returns the wait that the kubelet reports: `back-off 40s restarting failed container=app pod=...`.
fn back_off(message: &str) -> Option<SignedDuration> {
    let (_, rest) = message.split_once("back-off ")?;
    let (wait, _) = rest.split_once(" restarting failed")?;
    SignedDuration::try_from(go_duration::parse(wait)?).ok()
}

/// Returns how long the kubelet has waited in all before the restarts of a series; not before the first one.
fn back_offs(restarts: i64) -> SignedDuration {
    let waits = usize::try_from(restarts - 1).unwrap_or_default();
    let growing: i64 = BACK_OFFS.iter().take(waits).sum();
    let longest =
        i64::try_from(waits.saturating_sub(BACK_OFFS.len())).unwrap_or(i64::MAX).saturating_mul(300);
    SignedDuration::from_secs(longest.saturating_add(growing))
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
