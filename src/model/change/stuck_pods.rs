//! Pods that block a StatefulSet, and the order in which to delete them.

use std::collections::BTreeSet;

use crate::model::api::pod::Pod;
use crate::model::revision::Revision;
use crate::model::status::observation::Observation;
use crate::model::workload::Workload;
use crate::model::workload::strategy;

/// Returns the pods that block the update of a StatefulSet, lowest ordinal first.
///
/// A pod is stuck if it is not ready and its replacement would run another revision. That is the
/// target at or above the partition, and `status.currentRevision` below it. The controller waits
/// for such a pod and never replaces it. It creates pods in ascending order, so the lowest must be
/// deleted first (with the descending order a real StatefulSet never recovered).
///
/// Empty for other kinds, whose controllers replace unavailable pods first. Also empty where the
/// controller does not wait: `OnDelete`, and `Parallel` without `maxUnavailable`.
#[must_use]
pub fn stuck_pods<'a>(
    observation: &'a Observation,
    after: &Workload,
    target: Option<&Revision>,
) -> Vec<&'a Pod> {
    if !(after.kind().waits_for_broken_pods)(after) {
        return Vec::new();
    }
    let partition = strategy::partition(after);
    let is_stuck = |pod: &&Pod| {
        let on_target = target.is_some_and(|target| observation.workload.runs(pod, target));
        observation.workload.owns(pod) && !pod.ready && !pod.terminating && !on_target
    };
    let pods = observation.all_pods().filter(is_stuck);
    let mut pods: Vec<(i64, &Pod)> =
        pods.filter_map(|pod| Some((strategy::partition_index(after, &pod.name)?, pod))).collect();
    let current = revision_in_status(observation, "currentRevision");
    let is_given_up = |pod| current.is_some_and(|current| !observation.workload.runs(pod, current));
    pods.retain(|(index, pod)| *index >= partition || is_given_up(pod));
    pods.sort_by_key(|(index, _)| *index);
    pods.into_iter().map(|(_, pod)| pod).collect()
}

/// The pods that were deleted during a rollback, by uid.
///
/// Pods are deleted one at a time, each once, and the next only after the last one is gone. No pod
/// is deleted before the controller observed the rollback, because it would come back on the failed
/// revision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StuckPodDeletions(BTreeSet<String>);

impl StuckPodDeletions {
    /// Returns the next pod to delete, if there is one now.
    #[must_use]
    pub fn next<'a>(&self, observation: &'a Observation) -> Option<&'a Pod> {
        let live = observation.revisions.current()?;
        let is_going = observation.own_pods().any(|pod| self.0.contains(&pod.uid));
        let stuck = stuck_pods(observation, &observation.workload, Some(live));
        stuck.into_iter().next().filter(|_| observation.is_observed() && !is_going)
    }

    /// Records the deletion of a pod.
    pub fn record(&mut self, uid: &str) {
        self.0.insert(uid.to_owned());
    }
}

/// Returns the revision that a field of the status contains.
fn revision_in_status<'a>(observation: &'a Observation, name: &str) -> Option<&'a Revision> {
    let name = observation.workload.object().text(&format!("/status/{name}"))?;
    observation.revisions.iter().find(|revision| revision.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api::object::Object;
    use crate::model::revision::Revisions;
    use serde_json::{Value, json};

    /// A StatefulSet `db` that updates to `db-1`, with pods by ordinal, revision and readiness.
    /// `current` is the current revision in its status.
    fn stuck_names(spec: &Value, current: &str, pods: &[(i64, &str, bool)]) -> Vec<String> {
        let observation = observation(spec, &json!({"currentRevision": current}), pods);
        let target = observation.revisions.iter().find(|one| one.name == "db-1");
        stuck_pods(&observation, &observation.workload, target)
            .into_iter()
            .map(|pod| pod.name.clone())
            .collect()
    }

    fn observation(spec: &Value, status: &Value, pods: &[(i64, &str, bool)]) -> Observation {
        let object = json!({"kind": "StatefulSet", "metadata": {"name": "db", "uid": "u", "generation": 2},
            "spec": spec, "status": status});
        let workload = Workload::of(Object::read(object).unwrap()).unwrap();
        let revisions = [1, 5].map(|number| {
            let template = if number == 1 { json!({}) } else { json!({"metadata": {"labels": {"a": "b"}}}) };
            let revision = json!({"kind": "ControllerRevision", "revision": number, "data": {"spec": {"template": template}},
                "metadata": {"name": format!("db-{number}"), "ownerReferences": [{"controller": true, "uid": "u"}]}});
            Object::read(revision).unwrap()
        });
        let revisions = Revisions::of(&workload, revisions);
        let pods = pods.iter().map(|(ordinal, revision, ready)| {
            let pod = json!({"kind": "Pod", "metadata": {"name": format!("db-{ordinal}"), "uid": format!("pod-{ordinal}"),
                "labels": {"controller-revision-hash": revision}, "ownerReferences": [{"controller": true, "uid": "u"}]},
                "status": {"conditions": [{"type": "Ready", "status": if *ready { "True" } else { "False" }}]}});
            Pod::read(&Object::read(pod).unwrap()).into()
        });
        Observation { pods: Some(pods.collect()), revisions, events: None, workload }
    }

    #[test]
    fn stuck_pods_are_those_the_controller_waits_for_lowest_first() {
        let pods = [
            (0, "db-2", false),
            (3, "db-2", false),
            (1, "db-1", false),
            (2, "db-2", true),
            (10, "db-2", false),
        ];
        for (spec, expected) in [
            (json!({}), &["db-0", "db-3", "db-10"][..]),
            (json!({"updateStrategy": {"rollingUpdate": {"partition": 3}}}), &["db-3", "db-10"]),
            (
                json!({"ordinals": {"start": 2}, "updateStrategy": {"rollingUpdate": {"partition": 2}}}),
                &["db-10"],
            ),
            (json!({"podManagementPolicy": "Parallel"}), &[]),
            (
                json!({"podManagementPolicy": "Parallel", "updateStrategy": {"rollingUpdate": {"maxUnavailable": 1}}}),
                &["db-0", "db-3", "db-10"],
            ),
            (json!({"updateStrategy": {"type": "OnDelete"}}), &[]),
        ] {
            assert_eq!(stuck_names(&spec, "db-gone", &pods), expected, "{spec}");
        }
    }

    #[test]
    fn below_the_partition_pods_of_an_abandoned_update_are_stuck() {
        let spec = json!({"updateStrategy": {"rollingUpdate": {"partition": 4}}});
        let pods = [
            (0, "db-5", false), // its replacement would run the same revision
            (1, "db-2", true),
            (2, "db-1", false), // already on the target
            (3, "db-2", false),
            (4, "db-2", false),
        ];
        assert_eq!(stuck_names(&spec, "db-5", &pods), ["db-3", "db-4"]);
        assert_eq!(stuck_names(&spec, "db-gone", &pods), ["db-4"]);
    }

    /// The controller stores the new generation before it stores the revision that it updates to.
    #[test]
    fn a_pod_is_deleted_after_the_controller_observed_the_template_and_the_last_pod_is_gone() {
        let next = |deletions: &StuckPodDeletions, generation: i64, update: &str| {
            let status = json!({"observedGeneration": generation, "updateRevision": update});
            let pods = [(0, "db-5", false), (1, "db-5", false)];
            let observation = observation(&json!({"template": {}}), &status, &pods);
            deletions.next(&observation).map(|pod| pod.name.clone())
        };
        let mut deletions = StuckPodDeletions::default();
        assert_eq!(next(&deletions, 1, "db-1"), None);
        assert_eq!(next(&deletions, 2, "db-5"), None);
        assert_eq!(next(&deletions, 2, "db-1").as_deref(), Some("db-0"));
        deletions.record("pod-of-before");
        assert_eq!(next(&deletions, 2, "db-1").as_deref(), Some("db-0"));
        deletions.record("pod-0");
        assert_eq!(next(&deletions, 2, "db-1"), None);
    }

    #[test]
    fn a_pod_of_another_owner_is_not_stuck() {
        let mut observation = observation(&json!({"template": {}}), &json!({}), &[(0, "db-5", false)]);
        let target = observation.revisions.iter().find(|one| one.name == "db-1").cloned();
        assert_eq!(stuck_pods(&observation, &observation.workload, target.as_ref()).len(), 1);
        let pod = observation.pods.iter_mut().flatten().find_map(std::sync::Arc::get_mut);
        pod.unwrap().owner_uid = "another".to_owned();
        assert!(stuck_pods(&observation, &observation.workload, target.as_ref()).is_empty());
    }
}
