//! Merges the same problem on many pods into one cause, with since when they have it, and masks the secrets in causes.

use std::collections::BTreeMap;

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::context::PodProblem;
use super::running::{BACK_OFF_RESTARTS, MAX_RECOVERY_TIME, without_state};
use super::{AllowedRestarts, Cause, CauseId};
use crate::model::api::container::{Container, ContainerState};
use crate::model::api::pod::Pod;
use crate::model::observation::Observation;
use crate::model::revision::template::secrets_in;
use crate::model::text::secret::{MASK, without_secrets};

/// Merges problems that differ only in the pod into one cause. The example is the pod whose container restarted
/// most often, or the first by name.
///
/// A container that crashed no more often than is allowed may recover.
pub(super) fn by_cause(found: Vec<PodProblem<'_>>, allowed: AllowedRestarts) -> Vec<Cause> {
    let mut groups: BTreeMap<_, Vec<PodProblem<'_>>> = BTreeMap::new();
    for found in found {
        let container = found.container.map(|container| container.name.clone());
        // The kubelet reports the same lack of memory as `OOMKilled` and as `Error`.
        let is_out_of_memory = found.cause.id == CauseId::OutOfMemory;
        let summary = if is_out_of_memory { "" } else { without_state(&found.cause.summary) };
        let key = (found.cause.id, container, summary.to_owned());
        groups.entry(key).or_default().push(found);
    }
    groups.into_iter().map(|((_, container, _), found)| cause(container, found, allowed)).collect()
}

fn cause(container: Option<String>, mut found: Vec<PodProblem<'_>>, allowed: AllowedRestarts) -> Cause {
    let restarts = |found: &PodProblem<'_>| found.container.map_or(0, |container| container.restarts);
    found.sort_by(|a, b| restarts(b).cmp(&restarts(a)).then_with(|| a.pod.name.cmp(&b.pod.name)));
    let since = found.iter().filter_map(|found| since(found.cause.id, found.pod, found.container)).min();
    let pods = found.iter().map(|found| found.pod.name.clone()).collect();
    let example = found.swap_remove(0);
    let is_replaced = |found: &&PodProblem<'_>| found.pod.has_ended() && found.cause.id.ends_container();
    let replaced = found.iter().chain([&example]).filter(is_replaced).count();
    let restarts = restarts(&example).saturating_add(i64::try_from(replaced).unwrap_or(i64::MAX));
    let is_running =
        example.container.is_some_and(|container| matches!(container.state, ContainerState::Running { .. }));
    let may_recover = example.cause.id.ends_container() && restarts <= allowed.limit();
    let is_transient = example.cause.is_transient || may_recover;
    Cause { is_transient, container, pods, restarts, is_running, since, ..example.cause }
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

/// Masks the values of secret-looking variables in the causes. A failing program often prints its configuration.
pub(super) fn mask_secrets(causes: &mut [Cause], observed: &Observation) {
    if causes.is_empty() {
        return; // without causes, there is no need to read the templates of a long history
    }
    let secrets = secrets(observed);
    for cause in causes {
        // The name of a missing object may be the value of a variable such as `SECRET_NAME`. It is no secret.
        let known = if names_objects(cause.id) { &[] } else { secrets.as_slice() };
        cause.summary = without(known, &cause.summary);
        cause.evidence = cause.evidence.take().map(|evidence| without(&secrets, &evidence));
    }
}

/// Whether the summary of a cause consists of the names of objects and keys.
fn names_objects(id: CauseId) -> bool {
    id.is_hold()
        || matches!(
            id,
            CauseId::MissingConfigMap | CauseId::MissingSecret | CauseId::MissingKey | CauseId::MissingClaim
        )
}

/// Masks the secrets in a container's last lines: values with the form of a secret, and the secret values in the
/// workload's templates.
#[must_use]
pub fn without_secrets_of(observed: Option<&Observation>, lines: &[String]) -> Vec<String> {
    let secrets = observed.map(secrets).unwrap_or_default();
    lines.iter().map(|line| without(&secrets, line)).collect()
}

/// Masks these secrets in a text, and every value with the form of a secret.
fn without(secrets: &[String], text: &str) -> String {
    let known = secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), MASK));
    without_secrets(&known)
}

/// Returns the values of environment variables with secret-looking names, in every revision and in the live
/// template. A template that admission rejects never becomes a revision, but the error may quote it.
fn secrets(observed: &Observation) -> Vec<String> {
    let live = observed.workload.object().at("/spec/template").map(secrets_in).unwrap_or_default();
    let revisions = observed.revisions.iter().flat_map(|revision| revision.secrets.iter().cloned());
    let mut secrets: Vec<_> = revisions.chain(live).collect();
    // Longest first, because one secret may be a part of another.
    secrets.sort_by(|a, b| (b.len(), b).cmp(&(a.len(), a)));
    secrets.dedup();
    secrets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api::container::Termination;
    use crate::model::api::object::Object;
    use serde_json::json;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_crash_after_no_more_restarts_than_are_allowed_needs_no_fix() {
        let pod = Pod::read(&Object::read(json!({"kind": "Pod", "metadata": {"name": "p"}})).unwrap());
        for (allowed, id, restarts, is_transient) in [
            (None, CauseId::CrashLoop, 1, true),
            (None, CauseId::CrashLoop, 2, false),
            (Some(0), CauseId::CrashLoop, 0, true),
            (Some(0), CauseId::CrashLoop, 1, false),
            (Some(3), CauseId::OutOfMemory, 3, true),
            (Some(3), CauseId::OutOfMemory, 4, false),
            (Some(3), CauseId::MissingSecret, 1, false),
        ] {
            let container = Container { restarts, ..Container::default() };
            let cause = Cause::of_pod(id, "crashed", "");
            let found = vec![PodProblem { pod: &pod, container: Some(&container), cause }];
            let causes = by_cause(found, AllowedRestarts(allowed));
            assert_eq!(causes[0].is_transient, is_transient, "{allowed:?} {id:?} {restarts}");
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
