//! Pods that block a StatefulSet, and the order in which to delete them.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::api::pod::Pod;
use crate::engine::PodRef;
use crate::hold::plan::Hold;
use crate::kind::Workload;
use crate::kind::strategy;
use crate::observation::Observation;
use crate::revision::Revision;

/// Returns the pods that block the update of a StatefulSet, lowest ordinal first.
///
/// A pod is stuck if it is not ready and its replacement would run another revision. That is the
/// target at or above the partition, and `status.currentRevision` below it. With an original
/// `OnDelete` that may be a revision that was replaced long ago, so that a ready pod must run it.
/// The controller waits for such a pod and never replaces it. It creates pods in ascending order,
/// so the lowest must be deleted first (with the descending order a real StatefulSet never
/// recovered).
///
/// Empty for other kinds, whose controllers replace unavailable pods first. Also empty where the
/// controller does not wait: `OnDelete`, and `Parallel` without `maxUnavailable`.
#[must_use]
pub fn stuck_pods<'a>(
    observation: &'a Observation,
    after: &Workload,
    target: Option<&Revision>,
) -> Vec<&'a Pod> {
    if !after.kind().waits_for_broken_pods(after) {
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
    let stable = observation.workload.recorded_stable_revision();
    let stable = observation.revisions.iter().find(|revision| stable == Some(revision.name.as_str()));
    let had_on_delete = |hold: &Hold| {
        let original = hold.original_strategy(&observation.workload);
        original.is_some_and(strategy::is_on_delete_strategy)
    };
    let is_fresh = observation.workload.held().readable().is_ok_and(|hold| !hold.is_some_and(had_on_delete));
    let serves = |revision: &&Revision| {
        observation.own_pods().any(|pod| pod.ready && observation.workload.runs(pod, revision))
    };
    let stable = stable.filter(|revision| is_fresh || serves(revision));
    let is_given_up = |pod| stable.is_some_and(|stable| !observation.workload.runs(pod, stable));
    pods.retain(|(index, pod)| *index >= partition || is_given_up(pod));
    pods.sort_by_key(|(index, _)| *index);
    pods.into_iter().map(|(_, pod)| pod).collect()
}

/// The pods that were deleted during a rollback, by uid.
///
/// Pods are deleted one at a time, each once, and the next only after the replacement of the last one is ready. The
/// controller creates pods in ascending order, so one with a lower ordinal blocks that replacement and is deleted first.
/// No pod is deleted before the controller observed the rollback, because it would come back on the failed revision.
///
/// A controller that replaces such a pod itself, as newer ones do, needs no deletion. So the pod must have been the next one
/// for a moment. The status says nothing about that: it changes with the readiness of any pod.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StuckPodDeletions {
    deleted: BTreeSet<String>,
    last: Option<PodRef>,
    standstill: Option<Standstill>,
}

/// How long a stuck pod must have been the next one. A controller acts within less than a second.
const STANDSTILL: Duration = Duration::from_secs(1);

/// The same for a pod below the partition, which no batch released: it may only be starting.
const STANDSTILL_BELOW: Duration = Duration::from_secs(30);

/// The next pod to delete, and since when it is that.
#[derive(Clone, Debug, PartialEq)]
struct Standstill {
    uid: String,
    since: Duration,
    /// When it has lasted long enough.
    until: Duration,
}

impl StuckPodDeletions {
    /// Records what an observation shows at a time.
    pub fn observe(&mut self, observation: &Observation, now: Duration) {
        let workload = &observation.workload;
        self.standstill = self.candidate(observation).map(|pod| {
            let same = |before: &&Standstill| before.uid == pod.uid;
            let since = self.standstill.as_ref().filter(same).map_or(now, |before| before.since);
            let index = strategy::partition_index(workload, &pod.name);
            let is_below = index.is_some_and(|index| index < strategy::partition(workload));
            let until = since + if is_below { STANDSTILL_BELOW } else { STANDSTILL };
            Standstill { uid: pod.uid.clone(), since, until }
        });
    }

    /// Returns the next pod to delete, if there is one now. [`Self::observe`] comes first.
    #[must_use]
    pub fn next<'a>(&self, observation: &'a Observation, now: Duration) -> Option<&'a Pod> {
        let still = self.standstill.as_ref().filter(|still| now >= still.until)?;
        self.candidate(observation).filter(|pod| pod.uid == still.uid)
    }

    /// Returns when [`Self::next`] may have a pod, if nothing moves until then.
    #[must_use]
    pub fn due(&self) -> Option<Duration> {
        self.standstill.as_ref().map(|still| still.until)
    }

    fn candidate<'a>(&self, observation: &'a Observation) -> Option<&'a Pod> {
        let live = observation.revisions.current()?;
        let is_going = observation.own_pods().any(|pod| self.deleted.contains(&pod.uid));
        let stuck = stuck_pods(observation, &observation.workload, Some(live));
        let has_turn = |pod: &&Pod| self.last.as_ref().is_none_or(|last| comes_after(pod, last, observation));
        stuck.into_iter().next().filter(|_| observation.is_observed() && !is_going).filter(has_turn)
    }

    /// Whether the pod that was deleted last has this name.
    #[must_use]
    pub fn is_last(&self, name: &str) -> bool {
        self.last.as_ref().is_some_and(|last| last.name == name)
    }

    /// Records the deletion of a pod.
    pub fn record(&mut self, pod: &PodRef) {
        self.deleted.insert(pod.uid.clone());
        self.last = Some(pod.clone());
        self.standstill = None;
    }
}

/// Whether a stuck pod may be deleted after another one: if the replacement of that one is ready, or waits for this pod.
fn comes_after(pod: &Pod, last: &PodRef, observation: &Observation) -> bool {
    let index = |name: &str| strategy::partition_index(&observation.workload, name);
    let is_replacement = |pod: &Pod| pod.name == last.name && pod.uid != last.uid && pod.ready;
    observation.own_pods().any(is_replacement) || index(&pod.name) <= index(&last.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hold::plan::HOLD_ANNOTATION;
    use crate::hold::plan::schema::tests::plan_json;
    use crate::observation::fixture::{self, pod, revision};
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
        let revisions = [("db-1", 1, json!({})), ("db-5", 5, json!({"metadata": {"labels": {"a": "b"}}}))];
        let revisions = revisions.map(|(name, number, template)| revision(name, number, &template));
        let pods = pods.iter().map(|(ordinal, revision, ready)| {
            let mut pod = pod("StatefulSet", &format!("db-{ordinal}"), revision, *ready);
            pod["metadata"]["uid"] = format!("pod-{ordinal}").into();
            pod
        });
        fixture::observation(&object, revisions, pods)
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
            (5, "db-5", true),
        ];
        assert_eq!(stuck_names(&spec, "db-5", &pods), ["db-3", "db-4"]);
        assert_eq!(stuck_names(&spec, "db-gone", &pods), ["db-4"]);
    }

    /// All pods were updated by hand under `OnDelete`, which leaves the current revision in the status as it was. Otherwise an
    /// update failed in its last pod.
    #[test]
    fn below_the_partition_no_pod_of_on_delete_returns_to_a_revision_that_no_ready_pod_runs() {
        let strategy = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 4}});
        let pods = [(0, "db-2", false), (1, "db-2", true), (2, "db-5", false)];
        for (original, expected) in [("OnDelete", &[][..]), ("RollingUpdate", &["db-0"])] {
            let mut observation =
                observation(&json!({"updateStrategy": strategy}), &json!({"currentRevision": "db-5"}), &pods);
            let hold =
                json!({"version": 1, "set": strategy, "strategy": {"type": original}, "plan": plan_json()});
            let mut object = observation.workload.object().json().clone();
            object["metadata"]["annotations"] = json!({HOLD_ANNOTATION: hold.to_string()});
            observation.workload = Workload::of_json(&object).unwrap();
            let target = observation.revisions.iter().find(|one| one.name == "db-1");
            let stuck = stuck_pods(&observation, &observation.workload, target);
            let names: Vec<_> = stuck.into_iter().map(|pod| pod.name.as_str()).collect();
            assert_eq!(names, expected, "{original}");
        }
    }

    /// The controller stores the new generation before it stores the revision that it updates to.
    #[test]
    fn a_pod_is_deleted_after_the_controller_observed_the_template_and_the_last_pod_is_gone() {
        let next = |deletions: &StuckPodDeletions, generation: i64, update: &str| {
            let status = json!({"observedGeneration": generation, "updateRevision": update});
            let pods = [(0, "db-5", false), (1, "db-5", false)];
            let observation = observation(&json!({"template": {}}), &status, &pods);
            let now = Duration::from_secs(100);
            let mut deletions = deletions.clone();
            deletions.observe(&observation, now);
            assert_eq!(deletions.next(&observation, now), None, "it has to stand still");
            deletions.next(&observation, now + STANDSTILL).map(|pod| pod.name.clone())
        };
        let mut deletions = StuckPodDeletions::default();
        assert_eq!(next(&deletions, 1, "db-1"), None);
        assert_eq!(next(&deletions, 2, "db-5"), None);
        assert_eq!(next(&deletions, 2, "db-1").as_deref(), Some("db-0"));
        let pod = |name: &str, uid: &str| PodRef { name: name.to_owned(), uid: uid.to_owned() };
        deletions.record(&pod("db-0", "pod-of-before"));
        assert_eq!(next(&deletions, 2, "db-1").as_deref(), Some("db-0"));
        deletions.record(&pod("db-0", "pod-0"));
        assert_eq!(next(&deletions, 2, "db-1"), None);
    }

    #[test]
    fn a_stuck_pod_waits_for_the_replacement_of_another_one_unless_it_blocks_that() {
        let status = json!({"observedGeneration": 2, "updateRevision": "db-1"});
        let last = PodRef { name: "db-1".to_owned(), uid: "gone".to_owned() };
        for (pods, expected) in [
            ([(1, "db-1", false), (2, "db-5", false)], None),
            ([(1, "db-1", true), (2, "db-5", false)], Some("db-2")),
            ([(0, "db-5", false), (1, "db-1", false)], Some("db-0")),
            ([(1, "db-5", false), (2, "db-5", false)], Some("db-1")),
        ] {
            let observation = observation(&json!({"template": {}}), &status, &pods);
            let mut deletions = StuckPodDeletions::default();
            deletions.record(&last);
            deletions.observe(&observation, Duration::ZERO);
            let next = deletions.next(&observation, STANDSTILL).map(|pod| pod.name.as_str());
            assert_eq!(next, expected, "{pods:?}");
        }
    }

    /// A pod that becomes ready and unready again and again changes the status each time.
    #[test]
    fn a_change_of_the_status_does_not_delay_a_deletion() {
        let at = |seconds, status: &str, deletions: &mut StuckPodDeletions| {
            let status = json!({"observedGeneration": 2, "updateRevision": "db-1", "readyReplicas": status});
            let observation = observation(&json!({"template": {}}), &status, &[(0, "db-5", false)]);
            deletions.observe(&observation, Duration::from_secs(seconds));
            deletions.next(&observation, Duration::from_secs(seconds)).is_some()
        };
        let mut deletions = StuckPodDeletions::default();
        let moves = [(0, "1"), (1, "2"), (2, "2"), (3, "2")];
        let answers = moves.map(|(seconds, status)| at(seconds, status, &mut deletions));
        assert_eq!(answers, [false, true, true, true]);
    }

    /// Recreate is alpha in Kubernetes 1.37; its controller deletes the pods itself.
    #[test]
    fn no_pod_is_stuck_with_a_strategy_that_is_not_gradual() {
        for type_ in ["Recreate", "Later"] {
            let spec = json!({"updateStrategy": {"type": type_}});
            assert_eq!(stuck_names(&spec, "db-gone", &[(0, "db-2", false)]), [""; 0], "{type_}");
        }
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
