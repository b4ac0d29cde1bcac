//! Revisions: the templates that a workload has had.

pub mod references;
mod revision_word;
pub mod template;

pub use revision_word::RevisionWord;

use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use self::template::{Template, secrets_in};
use crate::api::object::{Condition, Object};
use crate::api::pod::Pod;
use crate::kind::fields::HOLD_ANNOTATION;
use crate::kind::revision_store::DataHash;
pub use crate::kind::revision_store::RevisionNumber;
use crate::kind::{Kind, Workload};
use crate::text::json::Digest;

/// The annotation for the cause of a change.
pub const CHANGE_CAUSE: &str = "kubernetes.io/change-cause";

/// One template that a workload has had, with the object that stores it.
#[derive(Clone, Debug)]
pub struct Revision {
    /// The number. A rollback changes it.
    pub number: RevisionNumber,
    /// The numbers before rollbacks, oldest first.
    pub past_numbers: Vec<i64>,
    /// The controller hash, as in labels.
    pub hash: String,
    /// When the object was created, at the first use of the template.
    pub created: Option<Timestamp>,
    /// When the controller wrote the number, if that leaves a stamp.
    pub numbered: Option<Timestamp>,
    /// The change-cause, if there is one.
    pub change_cause: Option<String>,
    /// The digest of the template.
    pub digest: Digest,
    /// The name of the ReplicaSet or ControllerRevision.
    pub name: String,
    /// The uid of that object.
    pub uid: String,
    /// The uid of its controller; empty if it has none.
    pub owner_uid: String,
    /// The counters of a ReplicaSet; zero for a ControllerRevision.
    pub replica_set_counts: ReplicaSetCounts,
    /// The annotation of a hold, which the controller copies from the Deployment to its ReplicaSet.
    pub hold: Option<Box<str>>,
    /// The condition `ReplicaFailure` of a ReplicaSet.
    pub refused: Option<Condition>,
    /// The secret-looking values of the template, which other texts may repeat.
    pub secrets: Vec<String>,
    /// The hash over the stored data, for kinds whose hash can be verified.
    data_hash: Option<DataHash>,
    /// The JSON of the template, unknown fields included. Parsed JSON takes ten times the memory of its text, and most
    /// revisions are only counted. So text is kept and parsed on demand.
    template: Box<str>,
    /// The JSON of the whole object; none unless a command prints it.
    document: Option<Box<str>>,
}

/// The number of pods of one revision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PodCount {
    /// The ready pods.
    pub ready: usize,
    /// The pods that the controller counts: not terminating, failed or succeeded.
    pub total: usize,
}

/// The counters in the status of a ReplicaSet, and how they are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplicaSetCounts {
    /// Its `spec.replicas`.
    pub wanted: usize,
    /// Its pods.
    pub pods: PodCount,
    /// The available pods.
    pub available: usize,
    /// Its `spec.minReadySeconds`.
    pub min_ready_seconds: i64,
    /// Whether the controller has seen the spec as it is.
    pub is_observed: bool,
}

impl ReplicaSetCounts {
    fn read(object: &Object) -> Self {
        let counter =
            |pointer| object.int(pointer).and_then(|count| usize::try_from(count).ok()).unwrap_or_default();
        Self {
            wanted: counter("/spec/replicas"),
            pods: PodCount { ready: counter("/status/readyReplicas"), total: counter("/status/replicas") },
            available: counter("/status/availableReplicas"),
            min_ready_seconds: object.int("/spec/minReadySeconds").unwrap_or_default(),
            is_observed: object.generation() <= object.int("/status/observedGeneration").unwrap_or_default(),
        }
    }
}

/// Whether the stored data of a revision matches its hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Integrity {
    /// There is no hash, or the kind's hash cannot be recomputed.
    Unverifiable,
    /// The recomputed hash is equal.
    Verified,
    /// The recomputed hash differs: another client altered the object, or it was restored from
    /// elsewhere.
    Altered {
        /// The hash of the stored data.
        expected: String,
    },
}

impl Revision {
    /// Reads a revision from the object that stores it.
    #[must_use]
    pub fn read(kind: &dyn Kind, object: &Object) -> Self {
        let store = kind.revisions();
        let template = Template::new(object.at(store.template()).unwrap_or(&Value::Null));
        Self {
            number: store.number(object),
            past_numbers: store.past_numbers(object),
            hash: store.hash(object).unwrap_or_default().to_owned(),
            created: object.created(),
            numbered: store.numbered(object),
            change_cause: object
                .annotation(CHANGE_CAUSE)
                .filter(|cause| !cause.is_empty())
                .map(str::to_owned),
            name: object.name().to_owned(),
            uid: object.uid().to_owned(),
            owner_uid: object.controller().map(|owner| owner.uid.to_owned()).unwrap_or_default(),
            replica_set_counts: ReplicaSetCounts::read(object),
            hold: object.annotation(HOLD_ANNOTATION).map(Into::into),
            refused: Condition::read(object, "ReplicaFailure"),
            secrets: secrets_in(template.json()),
            data_hash: store.hashed_data(object).map(DataHash::of),
            template: text(template.json()),
            document: None,
            digest: template.digest(),
        }
    }

    /// Compares the stored data with the hash.
    ///
    /// The revision does not store its collision count, so every count up to the current one is
    /// tried.
    #[must_use]
    pub fn integrity(&self, workload: &Workload) -> Integrity {
        let Some(data) = self.data_hash else { return Integrity::Unverifiable };
        let collisions = workload.object().int("/status/collisionCount").unwrap_or_default().clamp(0, 100);
        if (0..=collisions).any(|count| data.with(count) == self.hash) {
            Integrity::Verified
        } else {
            Integrity::Altered { expected: data.with(0) }
        }
    }

    /// Returns the images of its containers, init containers first.
    #[must_use]
    pub fn images(&self) -> Vec<String> {
        self.template().images().into_iter().map(str::to_owned).collect()
    }

    /// Returns every known number that it had, and the present one last.
    pub fn numbers(&self) -> impl Iterator<Item = i64> {
        self.past_numbers.iter().copied().chain(self.number.known())
    }

    /// Keeps the whole object, for commands that print it.
    #[must_use]
    pub fn with_document(self, object: &Object) -> Self {
        Self { document: Some(text(object.json())), ..self }
    }

    /// Returns the stored object; null unless [`Revision::with_document`] kept it.
    #[must_use]
    pub fn json(&self) -> Value {
        parsed(self.document.as_deref().unwrap_or_default())
    }

    /// Returns the template; null if it was not kept.
    #[must_use]
    pub fn template(&self) -> Template {
        Template::of(parsed(&self.template))
    }

    /// Returns the number, or the name of the object if there is no number.
    #[must_use]
    pub fn label(&self) -> String {
        self.number.known().map_or_else(|| self.name.clone(), |number| number.to_string())
    }
}

impl Workload {
    /// Whether a pod runs a revision of this workload, by owner reference and hash. A label alone proves nothing: any
    /// client can set one.
    #[must_use]
    pub fn runs(&self, pod: &Pod, revision: &Revision) -> bool {
        let key = self.revision_key(revision);
        !key.is_empty() && self.pod_key(pod) == key
    }

    /// Returns the key that the pods of a revision have.
    pub(crate) fn revision_key<'a>(&self, revision: &'a Revision) -> &'a str {
        self.kind().revisions().key_of_revision(&revision.name, &revision.uid)
    }

    /// Returns the key of a pod; empty for pods of other workloads.
    pub(crate) fn pod_key<'a>(&self, pod: &'a Pod) -> &'a str {
        self.kind().revisions().key_of_pod(pod, self.owns(pod))
    }

    /// Returns the name of a new revision with the live template, as the API server stores it. None for
    /// kinds whose hash depends on the Go structs of their controller (Deployments, DaemonSets).
    #[must_use]
    pub fn name_of_next_revision(&self) -> Option<String> {
        self.kind().revisions().name_of_new(self.object())
    }
}

/// Returns the text of a value, which always has one.
fn text(value: &Value) -> Box<str> {
    serde_json::to_string(value).unwrap_or_default().into()
}

/// Parses text that was serialized from JSON.
fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// The revisions of one workload by number; those without a number come first.
#[derive(Clone, Debug)]
pub struct Revisions {
    list: Vec<Arc<Revision>>,
    current: Option<usize>,
}

impl Revisions {
    /// Returns the revisions among `objects`: those controlled by the workload, by uid. Names are
    /// reused, uids are not.
    #[must_use]
    pub fn of(workload: &Workload, objects: impl IntoIterator<Item = Object>) -> Self {
        let read = |object: Object| Arc::new(Revision::read(workload.kind(), &object));
        Self::among(workload, objects.into_iter().map(read))
    }

    /// As [`Revisions::of`], with revisions that are already read. A workload without a store of revisions is its only one.
    #[must_use]
    pub fn among(workload: &Workload, revisions: impl IntoIterator<Item = Arc<Revision>>) -> Self {
        let uid = workload.object().uid();
        if workload.kind().revisions().type_().is_none() {
            let only =
                Revision { owner_uid: uid.to_owned(), ..Revision::read(workload.kind(), workload.object()) };
            return Self { list: vec![Arc::new(only)], current: Some(0) };
        }
        let owned = |revision: &Arc<Revision>| !uid.is_empty() && revision.owner_uid == uid;
        let mut list: Vec<_> = revisions.into_iter().filter(owned).collect();
        list.sort_by(|a, b| {
            (a.number.known(), a.created, &a.name).cmp(&(b.number.known(), b.created, &b.name))
        });
        let current = find_current(workload, &list);
        Self { list, current }
    }

    /// Finds the current revision again, because the live template may have changed.
    pub fn update_current(&mut self, workload: &Workload) {
        self.current = find_current(workload, &self.list);
    }

    /// Iterates in ascending order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Revision> + Clone {
        self.list.iter().map(Arc::as_ref)
    }

    /// Returns the number of revisions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the revision whose template equals the live template; none while the change has no
    /// revision yet.
    #[must_use]
    pub fn current(&self) -> Option<&Revision> {
        self.at(self.current?)
    }

    /// Returns the current revision, or the newest while the live template has none: the workload
    /// was changed while paused, or the change is not observed yet. The pods run this revision.
    #[must_use]
    pub fn current_or_newest(&self) -> Option<&Revision> {
        self.current().or(self.last())
    }

    /// Whether this is the current revision.
    #[must_use]
    pub fn is_current(&self, revision: &Revision) -> bool {
        self.current().is_some_and(|current| current.name == revision.name)
    }

    /// Returns the number of the revision with the live template after the controller observed it. `existing` is that
    /// revision if it exists. Every controller numbers it above all others (`getNewReplicaSet`,
    /// `getStatefulSetRevisions` and `constructHistory` of the DaemonSet controller).
    #[must_use]
    pub fn number_of_next(&self, existing: Option<&Revision>) -> i64 {
        let is_other = |revision: &&Revision| existing.is_none_or(|existing| existing.name != revision.name);
        let others = self.iter().filter(is_other).filter_map(|revision| revision.number.known());
        let last = others.max().unwrap_or_default();
        let own = existing.and_then(|existing| existing.number.known());
        own.filter(|own| *own > last).unwrap_or(last.saturating_add(1))
    }

    fn last(&self) -> Option<&Revision> {
        self.list.last().map(Arc::as_ref)
    }

    fn at(&self, index: usize) -> Option<&Revision> {
        self.list.get(index).map(Arc::as_ref)
    }
}

/// Returns the index of the revision with the live template. Several can have it, of which the controller uses one.
fn find_current(workload: &Workload, list: &[Arc<Revision>]) -> Option<usize> {
    if list.is_empty() {
        return None; // the digest needs a copy of the template
    }
    let live = workload.template_digest();
    let alike = list.iter().enumerate().filter(|(_, revision)| revision.digest == live);
    let (indices, alike): (Vec<_>, Vec<_>) =
        alike.map(|(index, revision)| (index, (revision.created, revision.name.as_str()))).unzip();
    indices.get(workload.kind().revisions().current(&alike)?).copied()
}

#[cfg(test)]
mod tests;
