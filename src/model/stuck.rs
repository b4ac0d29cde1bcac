//! The pods that keep a StatefulSet from going anywhere, and the order in which deleting them heals it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::observed::Observed;
use super::pod::Pod;
use super::revision::Revision;
use super::strategy;
use super::workload::Workload;

/// The pods that a StatefulSet waits for and will not replace by itself: not ready, and on another
/// revision than they would come back on. At or above the partition that is the target; below it the
/// current one (`status.currentRevision`), so that a pod of neither is left of an update that was given
/// up, and blocks the way however far the partition lets it go. The lowest ordinal comes first, as they
/// must be deleted: the controller creates pods from the lowest on, so one that is broken below keeps
/// those above from ever being made (design rule 14; highest first never healed).
///
/// None for the other kinds, whose controllers replace unavailable pods first, and none where the
/// controller does not wait: under `OnDelete`, and under `Parallel` without `maxUnavailable`.
#[must_use]
pub fn stuck<'a>(observed: &'a Observed, after: &Workload, target: Option<&Revision>) -> Vec<&'a Pod> {
    if !waits_for_broken_pods(after) {
        return Vec::new();
    }
    let partition = strategy::partition(after);
    let is_stuck = |pod: &&Pod| {
        let on_target = target.is_some_and(|target| observed.workload.runs(pod, target));
        observed.workload.owns(pod) && !pod.ready && !pod.terminating && !on_target
    };
    let pods = observed.pods.iter().flatten().filter(is_stuck);
    let mut pods: Vec<(i64, &Pod)> =
        pods.filter_map(|pod| Some((strategy::index(after, &pod.name)?, pod))).collect();
    let current = revision_in_status(observed, "currentRevision");
    let is_given_up = |pod| current.is_some_and(|current| !observed.workload.runs(pod, current));
    pods.retain(|(index, pod)| *index >= partition || is_given_up(pod));
    pods.sort_by_key(|(index, _)| *index);
    pods.into_iter().map(|(_, pod)| pod).collect()
}

/// The pods whose deletion was asked for on the way to a revision, by uid.
///
/// They are deleted one at a time: none twice, none before the last one is gone, and none before the
/// controller has seen the change: a pod that is deleted earlier comes back on the revision that failed
/// (design rule 14).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Healing(BTreeSet<String>);

impl Healing {
    /// The pod to delete next on the way to the live template, if there is one now.
    #[must_use]
    pub fn next<'a>(&self, observed: &'a Observed) -> Option<&'a Pod> {
        let live = observed.revisions.running()?;
        let workload = &observed.workload;
        let is_seen =
            workload.is_observed() && workload.object().text("/status/updateRevision") == Some(&live.name);
        let is_going = observed.own_pods().any(|pod| self.0.contains(&pod.uid));
        let stuck = stuck(observed, workload, Some(live));
        stuck.into_iter().next().filter(|_| is_seen && !is_going)
    }

    /// Takes note that the deletion of a pod was asked for.
    pub fn note(&mut self, uid: &str) {
        self.0.insert(uid.to_owned());
    }
}

/// A revision that the controller names in its status.
fn revision_in_status<'a>(observed: &'a Observed, name: &str) -> Option<&'a Revision> {
    let name = observed.workload.object().text(&format!("/status/{name}"))?;
    observed.revisions.iter().find(|revision| revision.name == name)
}

fn waits_for_broken_pods(workload: &Workload) -> bool {
    let Workload::StatefulSet(_) = workload else { return false };
    let is_parallel = workload.object().text("/spec/podManagementPolicy") == Some("Parallel");
    let budget =
        strategy::strategy(workload).and_then(|strategy| strategy.pointer("/rollingUpdate/maxUnavailable"));
    let has_budget = budget.is_some_and(|budget| *budget != Value::Null);
    !strategy::is_on_delete(workload) && (!is_parallel || has_budget)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::object::Object;
    use crate::model::revision::Revisions;
    use serde_json::json;

    /// A StatefulSet `db` going to `db-1`, with pods by ordinal, revision and readiness. Its controller
    /// names a current revision, or none that is kept.
    fn stuck_names(spec: &Value, current: &str, pods: &[(i64, &str, bool)]) -> Vec<String> {
        let object = json!({"kind": "StatefulSet", "metadata": {"name": "db", "uid": "u"}, "spec": spec,
            "status": {"currentRevision": current}});
        let workload = Workload::of(Object::read(object).unwrap()).unwrap();
        let revisions = [1, 5].map(|number| {
            let template = if number == 1 { json!({}) } else { json!({"metadata": {"labels": {"a": "b"}}}) };
            let revision = json!({"kind": "ControllerRevision", "revision": number, "data": {"spec": {"template": template}},
                "metadata": {"name": format!("db-{number}"), "ownerReferences": [{"controller": true, "uid": "u"}]}});
            Object::read(revision).unwrap()
        });
        let revisions = Revisions::of(&workload, revisions);
        let pods = pods.iter().map(|(ordinal, revision, ready)| {
            let pod = json!({"kind": "Pod", "metadata": {"name": format!("db-{ordinal}"), "labels": {"controller-revision-hash": revision},
                "ownerReferences": [{"controller": true, "uid": "u"}]},
                "status": {"conditions": [{"type": "Ready", "status": if *ready { "True" } else { "False" }}]}});
            Pod::read(&Object::read(pod).unwrap())
        });
        let observed = Observed { pods: Some(pods.collect()), revisions, events: None, workload };
        let target = observed.revisions.iter().find(|one| one.name == "db-1");
        stuck(&observed, &observed.workload, target).into_iter().map(|pod| pod.name.clone()).collect()
    }

    #[test]
    fn the_lowest_comes_first_and_only_what_the_controller_waits_for() {
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
    fn below_the_partition_what_is_left_of_an_update_that_was_given_up_comes_back_on_the_current_revision() {
        let spec = json!({"updateStrategy": {"rollingUpdate": {"partition": 4}}});
        let pods = [
            (0, "db-5", false), // comes back as it is
            (1, "db-2", true),
            (2, "db-1", false), // went ahead, and is on the target
            (3, "db-2", false),
            (4, "db-2", false),
        ];
        assert_eq!(stuck_names(&spec, "db-5", &pods), ["db-3", "db-4"]);
        assert_eq!(stuck_names(&spec, "db-gone", &pods), ["db-4"]);
    }
}
