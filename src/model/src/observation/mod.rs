//! Everything read about one workload at one moment; what serves while its rollout is not complete, and which revision served
//! before it.

#[cfg(test)]
pub(crate) mod fixture;
pub mod pod_stage;

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::api::event::{Event, Events};
use crate::api::pod::Pod;
use crate::kind::verdict::RolloutState;
use crate::kind::{Workload, strategy};
use crate::revision::{PodCount, Revision, Revisions};

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
    pub(crate) fn replace_workload(&mut self, workload: Workload) {
        self.revisions.update_current(&workload);
        self.workload = workload;
    }

    /// Returns the pods that the workload's selector matches; none if they were not read.
    pub(crate) fn all_pods(&self) -> impl Iterator<Item = &Pod> {
        self.pods.iter().flatten().map(AsRef::as_ref)
    }

    /// Returns the pods that run a revision.
    pub fn pods_of<'a>(&'a self, revision: &'a Revision) -> impl Iterator<Item = &'a Pod> {
        self.all_pods().filter(|pod| self.workload.runs(pod, revision))
    }

    /// Returns the revision that a pod runs; none if it is not stored.
    #[must_use]
    pub fn revision_of(&self, pod: &Pod) -> Option<&Revision> {
        self.revisions.iter().find(|revision| self.workload.runs(pod, revision))
    }

    /// Whether a pod runs the current revision.
    #[must_use]
    pub fn is_updated(&self, pod: &Pod) -> bool {
        self.revisions.current().is_some_and(|current| self.workload.runs(pod, current))
    }

    /// Returns the active pods of the current revision.
    pub(crate) fn updated_pods(&self) -> impl Iterator<Item = &Pod> {
        self.all_pods().filter(|pod| pod.is_active() && self.is_updated(pod))
    }

    /// Returns the active pods of the workload that do not run the current revision: all while no revision has the live
    /// template.
    pub(crate) fn outdated_pods(&self) -> impl Iterator<Item = &Pod> {
        self.own_pods().filter(|pod| pod.is_active() && !self.is_updated(pod))
    }

    /// Returns the revision that the controller records as the stable one, and the pods that run neither it nor the current
    /// one; none without such pods. While they are held, the controller replaces each of them by a pod of the recorded
    /// revision (`newVersionedStatefulSetPod` in the StatefulSet controller).
    #[must_use]
    pub fn replaced_by_recorded(&self) -> Option<(&Revision, Vec<&Pod>)> {
        let recorded = self.workload.recorded_stable_revision()?;
        let recorded = self.replaced_revisions().find(|revision| revision.name == recorded)?;
        let pods: Vec<_> = self.outdated_pods().filter(|pod| !self.workload.runs(pod, recorded)).collect();
        (!pods.is_empty()).then_some((recorded, pods))
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
        self.pod_counts()(revision)
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
        let stable = self.stable().ok().filter(|stable| self.may_serve(stable) && !is(current, stable));
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
    pub(crate) fn pod_counts_or_status(&self) -> impl Fn(&Revision) -> PodCount {
        let counts = self.pod_counts();
        move |revision| counts(revision).unwrap_or(revision.replica_set_counts.pods)
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

/// Returns the labels of the revisions that have ready pods, in ascending order, and how many pods.
#[must_use]
pub fn ready_by_revision(observation: &Observation) -> Vec<(String, usize)> {
    let counted = observation.pod_counts_or_status();
    let ready = observation.revisions.iter().map(|revision| (revision.label(), counted(revision).ready));
    ready.filter(|(_, ready)| *ready > 0).collect()
}

/// Whether pods are wanted and none is available or ready, of a kind that serves. Ready pods serve, also while a hold of `step` keeps them from
/// counting as available. The first revision of a workload has not served before, so
/// this is an outage only after its rollout failed.
#[must_use]
pub fn is_outage(observation: &Observation, state: RolloutState) -> bool {
    let has_served = observation.revisions.len() > 1 || state == RolloutState::Failed;
    let (counts, serves) = (observation.workload.counts(), !observation.workload.kind().runs_to_completion());
    serves
        && has_served
        && counts.wanted > 0
        && counts.available.unwrap_or_default() == 0
        && counts.ready == 0
}

impl Observation {
    /// Returns the stable revision: the one that served before the rollout began, never one with the live
    /// template.
    ///
    /// It is the revision that the controller recorded when every pod ran it, or else the one from which a plan for the live
    /// template began, while it has ready pods: the batches change which one has most. Without either it is the one with the
    /// most ready pods; none if two have equally many, because a write must not depend on a guess. If no other revision has a
    /// ready pod, ready terminating pods count too: with `Recreate`, only they are left.
    ///
    /// # Errors
    /// Why there is none, as a fragment.
    pub fn stable(&self) -> Result<&Revision, &'static str> {
        let counted = self.pod_counts_or_status();
        let has_ready = self.replaced_revisions().any(|revision| counted(revision).ready > 0);
        let stable = self.stable_by(|revision| {
            let ready = || self.pods_of(revision).filter(|pod| pod.ready).count();
            if has_ready { counted(revision).ready } else { ready() }
        });
        stable.ok_or_else(|| {
            if self.revisions.is_empty() && self.workload.counts().total > 0 {
                "its revisions cannot be read"
            } else if self.replaced_revisions().next().is_none() {
                self.workload.kind().read_only().unwrap_or("it has no other revision")
            } else if self.records_served_revision() {
                "the stable revision is the current one"
            } else if has_ready {
                "several other revisions have equally many ready pods"
            } else {
                "no other revision has a ready pod"
            }
        })
    }

    /// Whether a revision has a ready pod, or no pod that shows that it does not work. The controller also records a first
    /// revision that never served.
    #[must_use]
    pub fn may_serve(&self, revision: &Revision) -> bool {
        self.pod_count(revision).is_none_or(|count| count.total == 0 || count.ready > 0)
    }

    fn stable_by(&self, ready: impl Fn(&Revision) -> usize) -> Option<&Revision> {
        let recorded = self.workload.recorded_stable_revision();
        let recorded = self.replaced_revisions().find(|revision| Some(revision.name.as_str()) == recorded);
        if self.records_served_revision() {
            return recorded;
        }
        let counted = self.replaced_revisions().map(|revision| (ready(revision), revision));
        let mut counted: Vec<_> = counted.filter(|(ready, _)| *ready > 0).collect();
        let start = self.workload.start_of_plan();
        if let Some((_, start)) = counted.iter().find(|(_, one)| start.as_ref() == Some(&one.name)) {
            return Some(*start);
        }
        counted.sort_by_key(|(ready, _)| Reverse(*ready));
        match counted.as_slice() {
            [(most, _), (next, _), ..] if most == next => None,
            [(_, revision), ..] => Some(*revision),
            // With `OnDelete` the controller records only the first revision that every pod ran.
            [] => recorded.filter(|_| {
                !self
                    .workload
                    .original_update_strategy()
                    .as_ref()
                    .is_some_and(strategy::is_on_delete_strategy)
            }),
        }
    }

    /// Whether the controller records the revision that served before the rollout.
    ///
    /// The StatefulSet controller records a revision when every pod runs it (`completeRollingUpdate`). It never records a
    /// revision that a partition keeps from some pods. With `OnDelete` it records only the first one. The original strategy
    /// decides, because the strategy of a hold exists only since the rollout began.
    fn records_served_revision(&self) -> bool {
        let workload = &self.workload;
        if workload.recorded_stable_revision().is_none() {
            return false;
        }
        workload.original_update_strategy().is_none_or(|original| {
            !strategy::is_on_delete_strategy(&original) && strategy::partition_of(workload, &original) == 0
        })
    }

    /// Returns the revisions whose template is not the live one.
    pub(crate) fn replaced_revisions(&self) -> impl DoubleEndedIterator<Item = &Revision> {
        let live = self.revisions.current().map(|current| current.digest);
        self.revisions.iter().filter(move |revision| Some(revision.digest) != live)
    }
}

#[cfg(test)]
mod tests;
