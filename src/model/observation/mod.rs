//! Everything read about one workload at one moment.

pub mod pod_stage;
pub mod serving;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::model::api::event::{Event, Events};
use crate::model::api::pod::Pod;
use crate::model::kind::Workload;
use crate::model::kind::verdict::RolloutState;
use crate::model::revision::{Revision, Revisions};

/// A workload with its revisions, pods and events. Verdicts, histories and patches are derived from
/// it.
#[derive(Clone, Debug)]
pub struct Observation {
    /// The workload.
    pub workload: Workload,
    /// Its revisions.
    pub revisions: Revisions,
    /// The pods that its selector matches, possibly including others; none if pods cannot be read.
    pub pods: Option<Vec<Arc<Pod>>>,
    /// The warning events about all of these; none if they were not requested or cannot be read.
    pub events: Option<Events>,
}

/// The number of pods of one revision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PodCount {
    /// The ready pods.
    pub ready: usize,
    /// The pods that the controller counts: not terminating, failed or succeeded.
    pub total: usize,
}

impl PodCount {
    /// Returns the counters of a ReplicaSet; zero for a ControllerRevision.
    #[must_use]
    pub fn of_replica_set(revision: &Revision) -> Self {
        Self { ready: revision.replica_set_counts.ready, total: revision.replica_set_counts.total }
    }
}

/// The role of a revision in the rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The current revision, and no other has pods.
    Current,
    /// The current revision, while others still have pods.
    Updating,
    /// The stable revision: it served before the rollout and still has ready pods.
    Stable,
    /// Neither, and it still has pods: an earlier rollout was undone or replaced.
    Leaving,
}

impl Observation {
    /// Creates the observation of a workload alone, without revisions and pods.
    #[must_use]
    pub fn of_alone(workload: Workload) -> Self {
        Self { revisions: Revisions::of(&workload, []), workload, pods: None, events: None }
    }

    /// Replaces the workload by another state of it.
    pub(in crate::model) fn replace_workload(&mut self, workload: Workload) {
        self.revisions.update_current(&workload);
        self.workload = workload;
    }

    /// Returns the pods that the workload's selector matches; none if they were not read.
    pub(in crate::model) fn all_pods(&self) -> impl Iterator<Item = &Pod> {
        self.pods.iter().flatten().map(AsRef::as_ref)
    }

    /// Returns the pods that run a revision.
    pub fn pods_of<'a>(&'a self, revision: &'a Revision) -> impl Iterator<Item = &'a Pod> {
        self.all_pods().filter(|pod| self.workload.runs(pod, revision))
    }

    /// Returns the active pods of the workload that do not run the current revision: all while no revision has the live
    /// template.
    pub(in crate::model) fn outdated_pods(&self) -> impl Iterator<Item = &Pod> {
        let current = self.revisions.current();
        let runs_current = move |pod: &Pod| current.is_some_and(|current| self.workload.runs(pod, current));
        self.own_pods().filter(move |pod| pod.is_active() && !runs_current(pod))
    }

    /// Groups the pods by the name of their revision, and returns the others separately. One pass,
    /// because there may be thousands of both.
    #[must_use]
    pub fn pods_by_revision(&self) -> (HashMap<&str, Vec<&Pod>>, Vec<&Pod>) {
        let keys = self
            .revisions
            .iter()
            .map(|revision| (self.workload.revision_key(revision), revision.name.as_str()));
        let names: HashMap<&str, &str> = keys.filter(|(key, _)| !key.is_empty()).collect();
        let (mut known, mut unknown) = (HashMap::<&str, Vec<&Pod>>::new(), Vec::new());
        for pod in self.own_pods() {
            match names.get(self.workload.pod_key(pod)) {
                Some(name) => known.entry(name).or_default().push(pod),
                None => unknown.push(pod),
            }
        }
        (known, unknown)
    }

    /// Returns the pods that the workload's controller created, whatever they run.
    pub fn own_pods(&self) -> impl Iterator<Item = &Pod> {
        let replica_sets = self.revisions.iter().map(|revision| revision.uid.as_str());
        let owners: HashSet<&str> = replica_sets.chain([self.workload.object().uid()]).collect();
        self.all_pods()
            .filter(move |pod| !pod.owner_uid.is_empty() && owners.contains(pod.owner_uid.as_str()))
    }

    /// Returns the warning events about an object, newest first; empty if they were not read.
    #[must_use]
    pub fn warnings_about(&self, uid: &str) -> &[Event] {
        self.events.as_ref().map_or(&[], |events| events.about(uid))
    }

    /// Counts the pods of a revision; none if pods cannot be read.
    ///
    /// Evicted pods stay for days and still belong to their ReplicaSet. They do not count, because
    /// an old revision would look as if it still served.
    #[must_use]
    pub fn pod_count(&self, revision: &Revision) -> Option<PodCount> {
        self.pods.as_ref()?;
        let active = || self.pods_of(revision).filter(|pod| pod.is_active());
        Some(PodCount { ready: active().filter(|pod| pod.ready).count(), total: active().count() })
    }

    /// Counts the pods of every revision in one pass; none if pods cannot be read. There may be
    /// thousands of both.
    pub fn pod_counts(&self) -> impl Fn(&Revision) -> Option<PodCount> {
        let mut counts = self.pods.is_some().then(HashMap::<&str, PodCount>::new);
        for pod in self.pods.iter().flatten().filter(|pod| pod.is_active()) {
            let key = self.workload.pod_key(pod);
            if let Some(counts) = counts.as_mut().filter(|_| !key.is_empty()) {
                let count = counts.entry(key).or_default();
                count.total += 1;
                count.ready += usize::from(pod.ready);
            }
        }
        move |revision| {
            let count = counts.as_ref()?.get(self.workload.revision_key(revision));
            Some(count.copied().unwrap_or_default())
        }
    }

    /// Returns the role of each revision, if it has one. None is current while no revision has the live template. The stable revision depends on all
    /// revisions and pods, so it is determined once.
    pub fn roles(&self) -> impl Fn(&Revision) -> Option<Role> {
        let is = |one: Option<&Revision>, other: &Revision| one.is_some_and(|one| one.name == other.name);
        let counted = self.pod_counts_or_status();
        let current = self.revisions.current();
        // A controller also records a first revision of which no pod was ever ready.
        let has_served = |stable: &&Revision| counted(stable).total == 0 || counted(stable).ready > 0;
        let stable = self.stable().filter(|stable| !is(current, stable)).filter(has_served);
        let has_pods = |revision: &&Revision| counted(revision).total > 0;
        let others = self.revisions.iter().filter(|revision| !is(current, revision) && !is(stable, revision));
        let leaving: HashSet<&str> = others.filter(has_pods).map(|revision| revision.name.as_str()).collect();
        move |revision| {
            if is(stable, revision) {
                Some(Role::Stable)
            } else if is(current, revision) {
                let alone = stable.is_none() && leaving.is_empty();
                Some(if alone { Role::Current } else { Role::Updating })
            } else {
                leaving.contains(revision.name.as_str()).then_some(Role::Leaving)
            }
        }
    }

    /// Returns the number of the current revision, once the controller numbered it.
    ///
    /// The number on a Deployment comes first, as in kubectl: its controller writes it together with
    /// `observedGeneration`, while a ReplicaSet of the same observation may be older or newer. Other kinds have the number
    /// on the revision only.
    #[must_use]
    pub fn current_number(&self) -> Option<i64> {
        let recorded = self.workload.recorded_revision(); // 0 without the annotation
        let numbered = || self.revisions.current()?.number.known();
        recorded.filter(|number| *number > 0).or_else(numbered).or(recorded)
    }

    /// Returns the counted pods of each revision, or the counters of its ReplicaSet if pods cannot
    /// be read.
    pub(super) fn pod_counts_or_status(&self) -> impl Fn(&Revision) -> PodCount {
        let counts = self.pod_counts();
        move |revision| counts(revision).unwrap_or_else(|| PodCount::of_replica_set(revision))
    }

    /// Returns the types that could not be read, for a workload in a state: `revisions`, `pods`, `events`. Without
    /// them the list of causes is incomplete. The events of a complete rollout are not read.
    #[must_use]
    pub fn unread_types(&self, state: RolloutState) -> Vec<&'static str> {
        let is_unknown = [
            ("revisions", self.revisions.is_empty()),
            ("pods", self.pods.is_none()),
            ("events", self.events.is_none() && state != RolloutState::Complete),
        ];
        is_unknown.into_iter().filter(|(_, is_unknown)| *is_unknown).map(|(type_, _)| type_).collect()
    }

    /// Whether the controller has observed the workload as it is now, and its revision has the live template.
    /// Some controllers also name that revision (`status.updateRevision` of a StatefulSet).
    #[must_use]
    pub fn is_observed(&self) -> bool {
        let Some(current) = self.revisions.current() else { return false };
        self.workload.is_observed() && self.workload.reports_update_to(Some(&current.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api::object::Object;
    use serde_json::{Value, json};

    fn template(image: &str) -> Value {
        json!({"spec": {"containers": [{"name": "c", "image": image}]}})
    }

    fn object(kind: &str, name: &str, rest: &Value) -> Object {
        let mut object = json!({"kind": kind, "metadata": {"name": name, "uid": name}});
        for (member, value) in rest.as_object().into_iter().flatten() {
            match (object.get_mut(member).and_then(Value::as_object_mut), value) {
                (Some(members), Value::Object(more)) => members.extend(more.clone()),
                _ => object[member] = value.clone(),
            }
        }
        Object::read(object).unwrap()
    }

    fn owned_by(uid: &str) -> Value {
        json!([{"controller": true, "uid": uid}])
    }

    /// The observation of a workload with the live template `x:2` and these revisions.
    fn observation(kind: &str, revisions: [Object; 2], pods: &[Object]) -> Observation {
        let workload =
            Workload::of(object(kind, "w", &json!({"spec": {"template": template("x:2")}}))).unwrap();
        let revisions = Revisions::of(&workload, revisions);
        Observation {
            workload,
            revisions,
            pods: Some(pods.iter().map(Pod::read).map(Into::into).collect()),
            events: None,
        }
    }

    #[test]
    fn pods_of_another_owner_with_the_same_hash_do_not_count() {
        for kind in ["StatefulSet", "DaemonSet"] {
            let pod = |name, owner| {
                let rest = json!({"metadata": {"labels": {"controller-revision-hash": "w-2"}, "ownerReferences": owned_by(owner)}});
                object("Pod", name, &rest)
            };
            let revision = |number: i64| {
                let rest = json!({"revision": number, "data": {"spec": {"template": template(&format!("x:{number}"))}},
                    "metadata": {"ownerReferences": owned_by("w"), "labels": {"controller-revision-hash": format!("w-{number}")}}});
                object("ControllerRevision", &format!("w-{number}"), &rest)
            };
            let pods = [pod("w-0", "w"), pod("w-1", "other")];
            let observed = observation(kind, [revision(1), revision(2)], &pods);
            let current = observed.revisions.current().unwrap();
            let names: Vec<_> = observed.pods_of(current).map(|pod| pod.name.as_str()).collect();
            assert_eq!(names, ["w-0"], "{kind}");
        }
    }

    fn counts_and_roles(observation: &Observation) -> Vec<(usize, usize, Option<Role>)> {
        let role = observation.roles();
        let each = |revision| {
            let count = observation.pod_count(revision).unwrap();
            (count.ready, count.total, role(revision))
        };
        observation.revisions.iter().map(each).collect()
    }

    #[test]
    fn failed_and_succeeded_pods_are_not_counted() {
        let replica_set = |number: &str| {
            let annotations = json!({"deployment.kubernetes.io/revision": number});
            let metadata = json!({"ownerReferences": owned_by("w"), "annotations": annotations});
            let spec = json!({"template": template(&format!("x:{number}"))});
            object("ReplicaSet", &format!("r{number}"), &json!({"metadata": metadata, "spec": spec}))
        };
        let pod = |name: &str, owner: &str, status: &Value| {
            object("Pod", name, &json!({"metadata": {"ownerReferences": owned_by(owner)}, "status": status}))
        };
        let ready = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]});
        let pods = [
            pod("old", "r1", &json!({"phase": "Failed", "reason": "Evicted"})),
            pod("new", "r2", &ready),
            pod("gone", "r2", &json!({"phase": "Succeeded"})),
        ];
        let observation = observation("Deployment", ["1", "2"].map(replica_set), &pods);
        assert_eq!(counts_and_roles(&observation), [(0, 0, None), (1, 1, Some(Role::Current))]);
    }

    #[test]
    fn a_revision_without_ready_pods_is_not_stable() {
        let replica_set = |number: &str| {
            let annotations = json!({"deployment.kubernetes.io/revision": number});
            let metadata = json!({"ownerReferences": owned_by("w"), "annotations": annotations});
            object(
                "ReplicaSet",
                &format!("r{number}"),
                &json!({"metadata": metadata, "spec": {"template": template(&format!("x:{number}"))}}),
            )
        };
        let pod = |owner: &str, ready: &str| {
            let rest = json!({"metadata": {"ownerReferences": owned_by(owner)},
                "status": {"conditions": [{"type": "Ready", "status": ready}]}});
            object("Pod", owner, &rest)
        };
        // `x:2` is current after the release of `x:1` was undone; the pod of `x:1` is ready or not.
        for (ready, role) in [("True", Role::Stable), ("False", Role::Leaving)] {
            let pods = [pod("r1", ready), pod("r2", "True")];
            let observation = observation("Deployment", ["1", "2"].map(replica_set), &pods);
            let roles: Vec<_> = counts_and_roles(&observation).into_iter().map(|(.., role)| role).collect();
            assert_eq!(roles, [Some(role), Some(Role::Updating)]);
        }
    }

    /// The StatefulSet controller names its first revision as the current one before any pod is ready.
    #[test]
    fn a_first_revision_that_was_never_ready_is_not_stable() {
        let revision = |number: i64| {
            let data = json!({"spec": {"template": template(&format!("x:{number}"))}});
            let rest =
                json!({"metadata": {"ownerReferences": owned_by("w")}, "data": data, "revision": number});
            object("ControllerRevision", &format!("w-{number}"), &rest)
        };
        for (ready, role) in [("True", Role::Stable), ("False", Role::Leaving)] {
            let metadata =
                json!({"ownerReferences": owned_by("w"), "labels": {"controller-revision-hash": "w-1"}});
            let conditions = json!([{"type": "Ready", "status": ready}]);
            let pod =
                object("Pod", "w-0", &json!({"metadata": metadata, "status": {"conditions": conditions}}));
            let mut observation = observation("StatefulSet", [1, 2].map(revision), &[pod]);
            let mut workload = observation.workload.object().json().clone();
            workload["status"] = json!({"currentRevision": "w-1", "updateRevision": "w-2"});
            observation.workload = Workload::of(Object::read(workload).unwrap()).unwrap();
            assert_eq!(counts_and_roles(&observation)[0].2, Some(role), "{ready}");
        }
    }

    /// A ReplicaSet that was read later than its Deployment has a newer number already.
    #[test]
    fn the_number_on_the_workload_comes_first() {
        for (kind, recorded, expected) in [
            ("Deployment", Some("5"), Some(5)),
            ("Deployment", Some("five"), Some(6)),
            ("Deployment", None, Some(6)),
            ("StatefulSet", Some("5"), Some(6)),
        ] {
            let revision = |number: i64| {
                let template = template(&format!("x:{}", number - 4));
                let annotations = json!({"deployment.kubernetes.io/revision": number.to_string()});
                let metadata = json!({"ownerReferences": owned_by("w"), "annotations": annotations});
                let data = json!({"spec": {"template": template}});
                let rest = json!({"metadata": metadata, "spec": {"template": template}, "data": data, "revision": number});
                object("X", &format!("r{number}"), &rest)
            };
            let mut observation = observation(kind, [5, 6].map(revision), &[]);
            let mut workload = observation.workload.object().json().clone();
            workload["metadata"]["annotations"] = json!({"deployment.kubernetes.io/revision": recorded});
            observation.workload = Workload::of(Object::read(workload).unwrap()).unwrap();
            assert_eq!(observation.current_number(), expected, "{kind} {recorded:?}");
        }
    }

    /// The ControllerRevision of the live template was deleted, or the controller has not created it yet.
    #[test]
    fn without_the_live_revision_none_is_current() {
        let revision = |number: i64| {
            let data = json!({"spec": {"template": template(&format!("y:{number}"))}});
            let rest =
                json!({"metadata": {"ownerReferences": owned_by("w")}, "data": data, "revision": number});
            object("ControllerRevision", &format!("w-{number}"), &rest)
        };
        let pod = |hash: &str, ready: &str| {
            let metadata =
                json!({"ownerReferences": owned_by("w"), "labels": {"controller-revision-hash": hash}});
            let conditions = json!([{"type": "Ready", "status": ready}]);
            object("Pod", "w-0", &json!({"metadata": metadata, "status": {"conditions": conditions}}))
        };
        for (pods, expected) in [
            (vec![], [None, None]),
            (vec![pod("w-3", "True")], [None, None]),
            (vec![pod("w-2", "True")], [None, Some(Role::Stable)]),
            (vec![pod("w-2", "False")], [None, Some(Role::Leaving)]),
        ] {
            let mut observation = observation("StatefulSet", [1, 2].map(revision), &pods);
            let roles: Vec<_> = counts_and_roles(&observation).into_iter().map(|(.., role)| role).collect();
            assert_eq!(roles, expected, "{pods:?}");
            observation.pods = None; // not readable: still none is current
            let role = observation.roles();
            assert!(observation.revisions.iter().all(|revision| role(revision).is_none()));
        }
    }

    #[test]
    fn two_absent_hashes_do_not_match() {
        let revision = |number: i64| {
            let data = json!({"spec": {"template": template(&format!("x:{number}"))}});
            let rest =
                json!({"metadata": {"ownerReferences": owned_by("w")}, "data": data, "revision": number});
            object("ControllerRevision", &format!("w-{number}"), &rest)
        };
        let pods = [object("Pod", "p", &json!({"metadata": {"ownerReferences": owned_by("w")}}))];
        for kind in ["DaemonSet", "StatefulSet"] {
            let observation = observation(kind, [1, 2].map(revision), &pods);
            assert_eq!(counts_and_roles(&observation), [(0, 0, None), (0, 0, Some(Role::Current))], "{kind}");
        }
    }
}
