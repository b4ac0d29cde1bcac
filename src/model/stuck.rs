//! The pods that keep a StatefulSet from going anywhere, and the order in which deleting them heals it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::observed::Observed;
use super::pod::Pod;
use super::revision::Revision;
use super::strategy;
use super::workload::Workload;

/// The pods that a StatefulSet waits for and will not replace by itself: not ready, not on the
/// target, at or above the partition. The lowest ordinal comes first, as they must be deleted: the
/// controller creates pods from the lowest on, so one that is broken below keeps those above from
/// ever being made (design rule 14; highest first never healed).
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
    pods.retain(|(index, _)| *index >= partition);
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

    /// A StatefulSet `db` going to `db-1`, with pods by ordinal, revision and readiness.
    fn stuck_names(spec: &Value, pods: &[(i64, &str, bool)]) -> Vec<String> {
        let object = json!({"kind": "StatefulSet", "metadata": {"name": "db", "uid": "u"}, "spec": spec});
        let workload = Workload::of(Object::read(object).unwrap()).unwrap();
        let revision = json!({"kind": "ControllerRevision", "revision": 1, "data": {"spec": {"template": {}}}, "metadata": {"name": "db-1",
            "ownerReferences": [{"controller": true, "uid": "u"}]}});
        let revisions = Revisions::of(&workload, [Object::read(revision).unwrap()]);
        let pods = pods.iter().map(|(ordinal, revision, ready)| {
            let pod = json!({"kind": "Pod", "metadata": {"name": format!("db-{ordinal}"), "labels": {"controller-revision-hash": revision},
                "ownerReferences": [{"controller": true, "uid": "u"}]},
                "status": {"conditions": [{"type": "Ready", "status": if *ready { "True" } else { "False" }}]}});
            Pod::read(&Object::read(pod).unwrap())
        });
        let observed = Observed { pods: Some(pods.collect()), revisions, events: None, workload };
        let target = observed.revisions.iter().next();
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
            assert_eq!(stuck_names(&spec, &pods), expected, "{spec}");
        }
    }
}
