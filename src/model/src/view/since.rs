//! When the state of a rollout began, by the timestamps of its objects.

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use crate::api::object::Condition;
use crate::api::pod::Pod;
use crate::kind::Workload;
use crate::kind::verdict::RolloutState;
use crate::observation::Observation;
use crate::status::uses::{UseStart, start_of_last_use};

/// Returns when a state of a rollout began; none if no timestamp shows it.
///
/// | state | source |
/// |---|---|
/// | complete | the later of: the last `lastTransitionTime` of `Ready` of its pods, plus `minReadySeconds`; `lastUpdateTime` of `Progressing` with the reason `NewReplicaSetAvailable`, which the controller writes when no outdated pod remains |
/// | progressing, stuck | the earlier of: the start of the rollout, while outdated pods remain; the first `lastTransitionTime` of `Ready` of the updated pods that are not ready |
/// | paused, held | `since` in the annotation of the hold; `lastUpdateTime` of `Progressing` with the reason `DeploymentPaused`; else the start of the rollout |
/// | failed | `lastTransitionTime` of `Progressing`, which is `False` since the deadline passed |
/// | unobserved | none: no object stores when the spec was written |
///
/// Without pods it is `lastUpdateTime` of the Deployment's condition `Progressing`: the last progress.
#[must_use]
pub(super) fn since(observed: &Observation, state: RolloutState) -> Option<Timestamp> {
    if observed.workload.kind().runs_to_completion() {
        return since_start_or_end(&observed.workload);
    }
    match state {
        RolloutState::Complete => complete(observed),
        RolloutState::Progressing | RolloutState::Stuck => progressing(observed),
        RolloutState::Paused | RolloutState::Held => held(observed),
        RolloutState::Failed => {
            progressing_condition(observed).filter(|condition| condition.status == "False")?.since
        }
        RolloutState::Unobserved => None,
    }
}

/// Returns when a Job ended or was suspended, by its last condition that is true, or else when it started.
fn since_start_or_end(job: &Workload) -> Option<Timestamp> {
    let conditions = ["Complete", "Failed", "FailureTarget", "Suspended"].into_iter();
    let mut conditions = conditions.filter_map(|type_| job.condition(type_)).filter(Condition::is_true);
    conditions.next().and_then(|condition| condition.since).or_else(|| job.object().time("/status/startTime"))
}

/// Returns the condition that the controller of a Deployment updates with each progress.
fn progressing_condition(observed: &Observation) -> Option<Condition> {
    observed.workload.condition("Progressing")
}

fn last_progress(observed: &Observation) -> Option<Timestamp> {
    progressing_condition(observed)?.updated
}

/// Returns when the rollout of a Deployment ended, by its condition `Progressing`. It has none without a progress deadline.
pub(super) fn ended_at(workload: &Workload) -> Option<Timestamp> {
    workload.condition("Progressing").filter(|one| one.reason == "NewReplicaSetAvailable")?.updated
}

/// A Deployment is complete since its rollout ended, or since enough pods are available again, as its conditions say. Of other
/// kinds, and while no condition says so, the last pod that became ready counts.
fn complete(observed: &Observation) -> Option<Timestamp> {
    let available = || observed.workload.condition("Available").filter(Condition::is_true)?.since;
    if let Some(ended) = ended_at(&observed.workload) {
        return available().max(Some(ended));
    }
    let ready = observed.own_pods().filter(|pod| pod.is_active()).filter_map(|pod| pod.readiness.since).max();
    let min_ready =
        SignedDuration::from_secs(observed.workload.min_ready_seconds().clamp(0, i64::from(i32::MAX)));
    ready.and_then(|ready| ready.checked_add(min_ready).ok()).or_else(|| last_progress(observed))
}

fn progressing(observed: &Observation) -> Option<Timestamp> {
    let unready = observed.updated_pods().filter(|pod| !pod.ready);
    let unready = unready.filter_map(|pod| pod.readiness.since.or(pod.created)).min();
    [unready, rollout_start(observed)].into_iter().flatten().min().or_else(|| last_progress(observed))
}

fn held(observed: &Observation) -> Option<Timestamp> {
    let hold = observed.workload.held().in_force().and_then(|hold| hold.since.as_ref()?.parse().ok());
    let paused = || {
        progressing_condition(observed).filter(|condition| condition.reason == "DeploymentPaused")?.updated
    };
    hold.or_else(paused).or_else(|| rollout_start(observed))
}

/// Returns when the present rollout started; none without outdated pods.
///
/// A new template has a new revision, which was created then. A template that is used again has the revision that it
/// had, which is older than the rollout: a ReplicaSet with earlier numbers, or a revision that is older than the newest
/// outdated pod. Such a rollout started when the first pod was updated after the last change of an
/// outdated pod; before that, when the field manager that returned to the template wrote.
fn rollout_start(observed: &Observation) -> Option<Timestamp> {
    let current = observed.revisions.current()?;
    let outdated = observed.outdated_pods().filter_map(Pod::updated_at).max()?;
    let created = current.created.filter(|created| *created >= outdated && current.past_numbers.is_empty());
    let updated =
        || observed.updated_pods().filter_map(Pod::updated_at).filter(|since| *since >= outdated).min();
    created.or_else(updated).or_else(|| match start_of_last_use(observed, current)? {
        UseStart::At(time) => Some(time),
        UseStart::Between { .. } => None,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::*;
    use crate::api::object::Object;
    use crate::api::pod::InPlaceUpdate;
    use crate::kind::Workload;
    use crate::revision::Revisions;

    fn at(minute: u32) -> String {
        format!("2026-11-20T13:{minute:02}:00Z")
    }

    fn object(json: Value) -> Object {
        Object::read(json).unwrap()
    }

    /// A Deployment whose live template is that of revision `current`, with revisions 1 and 2 created at minute 1 and
    /// minute 20. A current revision with an earlier number is used again.
    fn observation(
        current: u32,
        is_reused: bool,
        condition: &Value,
        pods: &[(u32, u32, &str, u32)],
    ) -> Observation {
        let template =
            |number: u32| json!({"spec": {"containers": [{"name": "c", "image": format!("x:{number}")}]}});
        let workload = Workload::of(object(json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "w", "uid": "w"},
            "spec": {"template": template(current), "minReadySeconds": 60},
            "status": {"conditions": [condition]},
        })));
        let revision = |number: u32, minute: u32| {
            object(json!({
                "kind": "ReplicaSet", "metadata": {
                    "name": format!("r{number}"), "uid": format!("r{number}"), "creationTimestamp": at(minute),
                    "annotations": {"deployment.kubernetes.io/revision": number.to_string(),
                        "deployment.kubernetes.io/revision-history": if is_reused && number == current { "0" } else { "" }},
                    "ownerReferences": [{"controller": true, "uid": "w"}],
                },
                "spec": {"template": template(number)},
            }))
        };
        let pod = |(number, created, ready, minute): &(u32, u32, &str, u32)| {
            Arc::new(Pod::read(&object(json!({
                "kind": "Pod", "metadata": {
                    "name": format!("p{number}-{created}"), "creationTimestamp": at(*created),
                    "ownerReferences": [{"controller": true, "uid": format!("r{number}")}],
                },
                "status": {"conditions": [{"type": "Ready", "status": ready, "lastTransitionTime": at(*minute)}]},
            }))))
        };
        let workload = workload.unwrap();
        let revisions = Revisions::of(&workload, [revision(1, 1), revision(2, 20)]);
        Observation { workload, revisions, pods: Some(pods.iter().map(pod).collect()), events: None }
    }

    #[test]
    fn each_state_has_its_source() {
        let condition = |status: &str, reason: &str| {
            json!({"type": "Progressing", "status": status, "reason": reason,
                "lastTransitionTime": at(40), "lastUpdateTime": at(45)})
        };
        let progress = condition("True", "ReplicaSetUpdated");
        let completed = condition("True", "NewReplicaSetAvailable");
        let old = (1, 2, "True", 3);
        for (what, state, current, condition, pods, expected) in [
            (
                "the last pod was ready at 31",
                RolloutState::Complete,
                2,
                &progress,
                vec![(2, 21, "True", 31), (2, 22, "True", 30)],
                Some(32),
            ),
            (
                "a rollback to pods that kept running",
                RolloutState::Complete,
                1,
                &completed,
                vec![old],
                Some(45),
            ),
            (
                "its controller says so, and not the pod that restarted",
                RolloutState::Complete,
                2,
                &completed,
                vec![(2, 21, "True", 50)],
                Some(45),
            ),
            ("no pods: the last progress", RolloutState::Complete, 2, &progress, vec![], Some(45)),
            (
                "outdated pods: the new revision was created",
                RolloutState::Progressing,
                2,
                &progress,
                vec![old, (2, 21, "True", 31)],
                Some(20),
            ),
            (
                "a rollback: its first pod",
                RolloutState::Progressing,
                1,
                &progress,
                vec![(2, 21, "True", 31), (1, 50, "True", 51), (1, 52, "False", 52)],
                Some(50),
            ),
            (
                "no outdated pods: a pod is not ready",
                RolloutState::Progressing,
                2,
                &progress,
                vec![(2, 21, "False", 33), (2, 22, "True", 30)],
                Some(33),
            ),
            (
                "all are ready and not available yet",
                RolloutState::Progressing,
                2,
                &progress,
                vec![(2, 21, "True", 33)],
                Some(45),
            ),
            (
                "the pause",
                RolloutState::Paused,
                2,
                &condition("Unknown", "DeploymentPaused"),
                vec![old],
                Some(45),
            ),
            ("a hold without a record", RolloutState::Held, 2, &progress, vec![old], Some(20)),
            (
                "the deadline",
                RolloutState::Failed,
                2,
                &condition("False", "ProgressDeadlineExceeded"),
                vec![old],
                Some(40),
            ),
            ("a condition of another rollout", RolloutState::Failed, 2, &progress, vec![old], None),
            ("nothing shows it", RolloutState::Unobserved, 2, &progress, vec![old], None),
        ] {
            let observed = observation(current, false, condition, &pods);
            assert_eq!(since(&observed, state), time(expected), "{what}");
        }
    }

    /// The controller keeps the ReplicaSet of a template, so its creation shows the first rollout only.
    #[test]
    fn a_template_that_is_used_again_has_a_later_start() {
        let progress = json!({"type": "Progressing", "status": "True", "lastUpdateTime": at(45)});
        let old = (1, 2, "True", 3);
        for (pods, expected) in [
            (vec![old, (2, 50, "True", 51), (2, 52, "False", 52)], Some(50)),
            (vec![old, (2, 50, "False", 50)], Some(50)),
            (vec![old, (2, 1, "True", 3), (2, 50, "False", 50)], Some(50)), // one pod stayed from before
            (vec![old], Some(45)), // no pod was created: the last progress
        ] {
            let observed = observation(2, true, &progress, &pods);
            assert_eq!(since(&observed, RolloutState::Progressing), time(expected), "{pods:?}");
        }
    }

    /// A controller of OpenKruise changes the pod and keeps it, so its creation is older.
    #[test]
    fn an_update_in_place_is_the_start_for_its_pod() {
        let mut observed = observation(1, false, &json!({}), &[(2, 3, "True", 31), (1, 2, "True", 51)]);
        let mut pods = observed.pods.take().unwrap();
        let updated = InPlaceUpdate { since: time(Some(50)), ..InPlaceUpdate::default() };
        pods[1] = Arc::new(Pod { in_place_update: Some(updated), ..pods[1].as_ref().clone() });
        observed.pods = Some(pods);
        assert_eq!(since(&observed, RolloutState::Progressing), time(Some(50)));
    }

    /// The controller has replaced no pod yet.
    #[test]
    fn a_rollback_without_an_updated_pod_began_with_the_write() {
        let observed = observation(1, true, &json!({}), &[(2, 21, "True", 31)]);
        assert_eq!(since(&observed, RolloutState::Progressing), None);
        let mut object = observed.workload.object().json().clone();
        object["metadata"]["managedFields"] = json!([{
            "manager": "kubectl-rollout2", "operation": "Update", "time": at(50),
            "fieldsV1": {"f:spec": {"f:template": {"f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {"f:image": {}}}}}}},
        }]);
        let observed = Observation { workload: Workload::of_json(&object).unwrap(), ..observed };
        assert_eq!(since(&observed, RolloutState::Progressing), time(Some(50)));
    }

    fn time(minute: Option<u32>) -> Option<Timestamp> {
        minute.map(|minute| at(minute).parse().unwrap())
    }

    #[test]
    fn a_rollout_is_complete_again_since_enough_pods_are_available() {
        let observed = observation(2, false, &json!({}), &[]);
        let mut object = observed.workload.object().json().clone();
        object["status"]["conditions"] = json!([
            {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable", "lastUpdateTime": at(45)},
            {"type": "Available", "status": "True", "lastTransitionTime": at(55)},
        ]);
        let observed = Observation { workload: Workload::of_json(&object).unwrap(), ..observed };
        assert_eq!(since(&observed, RolloutState::Complete), time(Some(55)));
    }
}
