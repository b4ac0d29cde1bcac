//! All that was seen of one workload at one time.

use std::collections::{HashMap, HashSet};

use super::event::{Event, Events};
use super::pod::Pod;
use super::revision::{Revision, Revisions};
use super::workload::Workload;

/// A workload with its revisions and pods: what verdicts, histories and patches follow from.
#[derive(Clone, Debug)]
pub struct Observed {
    /// The workload.
    pub workload: Workload,
    /// Its revisions.
    pub revisions: Revisions,
    /// Its pods, and possibly others that its selector matches; none when they could not be read,
    /// which is not the same as there being none.
    pub pods: Option<Vec<Pod>>,
    /// The warnings about all of these; none when they were not asked for or could not be read.
    pub events: Option<Events>,
}

/// The pods of one revision, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PodCount {
    /// Those that are ready.
    pub ready: usize,
    /// All of them that their controller counts: neither being deleted nor over.
    pub total: usize,
}

impl PodCount {
    /// What a ReplicaSet says of its own pods; a ControllerRevision says nothing.
    #[must_use]
    pub fn recorded(revision: &Revision) -> Self {
        Self { ready: revision.recorded.ready, total: revision.recorded.total }
    }
}

/// What a revision is to the rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It runs, and nothing else does.
    Current,
    /// It is being rolled out while another still has pods.
    Updating,
    /// It carried the service before the one being rolled out, and carries what is left of it.
    Stable,
    /// It still has pods, and is neither: a release that was undone, or one between the two.
    Leaving,
}

impl Observed {
    /// A workload alone, where nothing depends on its revisions and pods.
    #[must_use]
    pub fn of_alone(workload: Workload) -> Self {
        Self { revisions: Revisions::of(&workload, []), workload, pods: None, events: None }
    }

    /// The pods that run a revision.
    pub fn pods_of<'a>(&'a self, revision: &'a Revision) -> impl Iterator<Item = &'a Pod> {
        self.pods.iter().flatten().filter(|pod| self.workload.runs(pod, revision))
    }

    /// The pods of every revision, by its name, and those whose revision is not known. All at once,
    /// because there may be thousands of both.
    #[must_use]
    pub fn pods_by_revision(&self) -> (HashMap<&str, Vec<&Pod>>, Vec<&Pod>) {
        let marks =
            self.revisions.iter().map(|revision| (self.workload.mark_of(revision), revision.name.as_str()));
        let names: HashMap<&str, &str> = marks.filter(|(mark, _)| !mark.is_empty()).collect();
        let (mut known, mut unknown) = (HashMap::<&str, Vec<&Pod>>::new(), Vec::new());
        for pod in self.own_pods() {
            match names.get(self.workload.mark_on(pod)) {
                Some(name) => known.entry(name).or_default().push(pod),
                None => unknown.push(pod),
            }
        }
        (known, unknown)
    }

    /// The pods that the workload's controller made, whatever they run.
    pub fn own_pods(&self) -> impl Iterator<Item = &Pod> {
        let replica_sets = self.revisions.iter().map(|revision| revision.uid.as_str());
        let owners: HashSet<&str> = replica_sets.chain([self.workload.object().uid()]).collect();
        self.pods
            .iter()
            .flatten()
            .filter(move |pod| !pod.owner_uid.is_empty() && owners.contains(pod.owner_uid.as_str()))
    }

    /// The warnings about an object, the newest first; none that is known of when they were not read.
    #[must_use]
    pub fn warnings_about(&self, uid: &str) -> &[Event] {
        self.events.as_ref().map_or(&[], |events| events.about(uid))
    }

    /// How many pods of a revision there are; none when the pods could not be read.
    ///
    /// Pods that a node put out stay behind for days, with the ReplicaSet that had them as their owner:
    /// they run nothing, and would make an old revision look as if it still carried the service.
    #[must_use]
    pub fn count(&self, revision: &Revision) -> Option<PodCount> {
        self.pods.as_ref()?;
        let active = || self.pods_of(revision).filter(|pod| pod.is_active());
        Some(PodCount { ready: active().filter(|pod| pod.ready).count(), total: active().count() })
    }

    /// How many pods each revision has; none when the pods could not be read. All counted at once, because
    /// there may be thousands of both.
    pub fn counts(&self) -> impl Fn(&Revision) -> Option<PodCount> {
        let mut counts = self.pods.is_some().then(HashMap::<&str, PodCount>::new);
        for pod in self.pods.iter().flatten().filter(|pod| pod.is_active()) {
            let mark = self.workload.mark_on(pod);
            if let Some(counts) = counts.as_mut().filter(|_| !mark.is_empty()) {
                let count = counts.entry(mark).or_default();
                count.total += 1;
                count.ready += usize::from(pod.ready);
            }
        }
        move |revision| {
            let count = counts.as_ref()?.get(self.workload.mark_of(revision));
            Some(count.copied().unwrap_or_default())
        }
    }

    /// What each revision is to the rollout, if anything. To know which one is stable takes a look at
    /// every revision and every pod, so it is found out once for all of them.
    pub fn roles(&self) -> impl Fn(&Revision) -> Option<Role> {
        let is = |one: Option<&Revision>, other: &Revision| one.is_some_and(|one| one.name == other.name);
        let current = self.revisions.current();
        let counted = self.counted();
        let is_recorded = |stable: &Revision| self.workload.recorded_stable_revision() == Some(&stable.name);
        let carries = |stable: &&Revision| is_recorded(stable) || counted(stable).ready > 0;
        let stable = self.stable().filter(carries);
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

    /// The pods of each revision as seen, or as it says of itself when they could not be.
    fn counted(&self) -> impl Fn(&Revision) -> PodCount {
        let counts = self.counts();
        move |revision| counts(revision).unwrap_or_else(|| PodCount::recorded(revision))
    }

    /// The revision that carries the service while another is rolled out: the one the controller
    /// names, or the one with the most ready pods, then pods, then the newest.
    #[must_use]
    pub fn stable(&self) -> Option<&Revision> {
        let current = self.revisions.current()?;
        let others = || self.revisions.iter().filter(|revision| revision.name != current.name);
        if let Some(name) = self.workload.recorded_stable_revision() {
            return others().find(|revision| revision.name == name);
        }
        let counted = self.counted();
        let with_pods = others().filter_map(|revision| {
            let count = counted(revision);
            (count.total > 0).then_some((count, revision))
        });
        with_pods.max_by_key(|(count, _)| (count.ready, count.total)).map(|(_, revision)| revision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::object::Object;
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

    /// What was seen of a workload that runs `x:2` and has these revisions.
    fn observed(kind: &str, revisions: [Object; 2], pods: &[Object]) -> Observed {
        let workload =
            Workload::of(object(kind, "w", &json!({"spec": {"template": template("x:2")}}))).unwrap();
        let revisions = Revisions::of(&workload, revisions);
        Observed { workload, revisions, pods: Some(pods.iter().map(Pod::read).collect()), events: None }
    }

    fn seen(observed: &Observed) -> Vec<(usize, usize, Option<Role>)> {
        let role = observed.roles();
        let each = |revision| {
            let count = observed.count(revision).unwrap();
            (count.ready, count.total, role(revision))
        };
        observed.revisions.iter().map(each).collect()
    }

    #[test]
    fn pods_that_are_over_count_for_nothing() {
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
        let observed = observed("Deployment", ["1", "2"].map(replica_set), &pods);
        assert_eq!(seen(&observed), [(0, 0, None), (1, 1, Some(Role::Current))]);
    }

    #[test]
    fn what_carries_nothing_is_leaving_and_not_stable() {
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
        // `x:2` runs: the release of `x:1` was undone, and what is left of it is ready or not.
        for (ready, role) in [("True", Role::Stable), ("False", Role::Leaving)] {
            let pods = [pod("r1", ready), pod("r2", "True")];
            let observed = observed("Deployment", ["1", "2"].map(replica_set), &pods);
            let roles: Vec<_> = seen(&observed).into_iter().map(|(.., role)| role).collect();
            assert_eq!(roles, [Some(role), Some(Role::Updating)]);
        }
    }

    #[test]
    fn no_hash_on_either_side_is_no_equal_hash() {
        let revision = |number: i64| {
            let data = json!({"spec": {"template": template(&format!("x:{number}"))}});
            let rest =
                json!({"metadata": {"ownerReferences": owned_by("w")}, "data": data, "revision": number});
            object("ControllerRevision", &format!("w-{number}"), &rest)
        };
        let pods = [object("Pod", "p", &json!({"metadata": {"ownerReferences": owned_by("w")}}))];
        for kind in ["DaemonSet", "StatefulSet"] {
            let observed = observed(kind, [1, 2].map(revision), &pods);
            assert_eq!(seen(&observed), [(0, 0, None), (0, 0, Some(Role::Current))], "{kind}");
        }
    }
}
