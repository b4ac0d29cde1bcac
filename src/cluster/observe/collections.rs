//! What all reflectors of an observer have read, and the observations that follow from it.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::wanted::{Delta, Facts, Listed};
use crate::model::api::event::{Event, Events};
use crate::model::api::pod::Pod;
use crate::model::api::resource_type::{EVENT, POD, ResourceType};
use crate::model::kind::{self, Workload};
use crate::model::observation::Observation;
use crate::model::revision::{Revision, Revisions};

/// What all reflectors of an observer have read.
#[derive(Debug, Default)]
pub(super) struct Collections {
    pub(super) all: Vec<Collection>,
    /// The indices of the collections by namespace; those of all namespaces by the empty name.
    by_namespace: HashMap<String, Vec<usize>>,
}

impl Collections {
    /// Adds a collection, and returns its index.
    pub(super) fn add(&mut self, type_: &'static ResourceType, namespace: Option<&str>) -> usize {
        let index = self.all.len();
        self.all.push(Collection::new(type_));
        self.by_namespace.entry(namespace.unwrap_or_default().to_owned()).or_default().push(index);
        index
    }

    /// Whether the revisions and pods of a workload were read, or cannot be read.
    pub(super) fn was_read(&self, workload: &Workload) -> bool {
        let types = [workload.kind().revisions().type_(), &POD];
        let namespace = workload.object().namespace();
        types.iter().all(|type_| self.of(type_, namespace).is_some_and(Collection::has_synced))
    }

    /// Returns the observation of a workload. The types in `read` are those that a refresh just read. The warning events are
    /// none if they are not watched, or not readable.
    pub(super) fn observe(&self, workload: &Workload, read: &[&ResourceType]) -> Observation {
        let (uid, namespace) = (workload.object().uid(), workload.object().namespace());
        let is_readable = |one: &&Collection| one.is_readable() || read.contains(&one.type_);
        let revisions = self.of_revisions(workload).filter(is_readable);
        let revisions = revisions.into_iter().flat_map(|readable| readable.revisions_of(uid));
        let revisions = Revisions::among(workload, revisions);
        let owners = self.owners(workload);
        let pods = self.of(&POD, namespace).filter(is_readable);
        let pods: Option<Vec<_>> =
            pods.map(|pods| owners.iter().flat_map(|owner| pods.pods_of(owner)).collect());
        let about = owners.iter().chain(pods.iter().flatten().map(|pod| &pod.uid));
        let events = self.of(&EVENT, namespace).filter(|events| events.reading == Reading::Synced);
        let events = events.map(|events| Events::of(about.flat_map(|uid| events.events_about(uid))));
        Observation { workload: workload.clone(), revisions, pods, events }
    }

    fn of_revisions(&self, workload: &Workload) -> Option<&Collection> {
        self.of(workload.kind().revisions().type_(), workload.object().namespace())
    }

    /// Returns the uids that the controllers of a workload's pods may have: those of its revisions, and its own.
    fn owners(&self, workload: &Workload) -> BTreeSet<String> {
        let uid = workload.object().uid();
        let revisions = self.of_revisions(workload).into_iter().flat_map(|all| all.revisions_of(uid));
        revisions.map(|revision| revision.uid.clone()).chain([uid.to_owned()]).collect()
    }

    /// Returns the index of the collection of a type that has the objects of a namespace.
    pub(super) fn index_of(&self, type_: &ResourceType, namespace: &str) -> Option<usize> {
        let here = self.by_namespace.get(namespace).or_else(|| self.by_namespace.get(""))?;
        let is_of_type = |index: &&usize| self.all.get(**index).is_some_and(|all| all.type_ == type_);
        here.iter().find(is_of_type).copied()
    }

    /// Returns the collection of a type that has the objects of a namespace.
    pub(super) fn of(&self, type_: &ResourceType, namespace: &str) -> Option<&Collection> {
        self.all.get(self.index_of(type_, namespace)?)
    }

    fn of_mut(&mut self, type_: &ResourceType, namespace: &str) -> Option<&mut Collection> {
        let index = self.index_of(type_, namespace)?;
        self.all.get_mut(index)
    }

    /// Whether a workload, or an object that belongs to it, is among the owners of objects that changed.
    pub(super) fn has_changed(&self, workload: &Workload, changed: &HashSet<String>) -> bool {
        if changed.is_empty() {
            return false;
        }
        let owners = self.owners(workload);
        let pods = self.of(&POD, workload.object().namespace()).into_iter();
        let mut pods = pods.flat_map(|pods| owners.iter().flat_map(|owner| pods.pods_of(owner)));
        owners.iter().any(|owner| changed.contains(owner)) || pods.any(|pod| changed.contains(&pod.uid))
    }

    /// Stores the revisions and pods of a refresh, and returns the observation of the workload.
    pub(super) fn refresh(
        &mut self,
        workload: &Workload,
        revisions: Option<Listed>,
        pods: Option<Listed>,
    ) -> Observation {
        let (type_, namespace) = (workload.kind().revisions().type_(), workload.object().namespace());
        let read = [revisions.as_ref().map(|_| type_), pods.as_ref().map(|_| &POD)];
        if let Some(known) = self.of_mut(type_, namespace) {
            known.refresh(&[workload.object().uid().to_owned()].into(), revisions);
        }
        let owners = self.owners(workload);
        if let Some(known) = self.of_mut(&POD, namespace) {
            known.refresh(&owners, pods);
        }
        self.observe(workload, &read.into_iter().flatten().collect::<Vec<_>>())
    }
}

/// Whether the objects of a type could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// The first list has not arrived.
    Pending,
    /// They were listed, and are watched.
    Synced,
    /// RBAC forbids it.
    Forbidden,
    /// The workloads cannot be read.
    Unreadable,
}

/// The revisions, pods or events that one reflector has read, by owner: the uid of the controller, or of the object that an
/// event is about. Of workloads it has only the reading.
#[derive(Debug)]
pub(super) struct Collection {
    pub(super) type_: &'static ResourceType,
    pub(super) reading: Reading,
    /// The resourceVersion of the last list or watch event: every change up to it is known.
    version: u64,
    /// The objects by key.
    objects: HashMap<Arc<str>, Facts>,
    /// The keys of the objects of each owner.
    keys: HashMap<String, BTreeSet<Arc<str>>>,
}

impl Collection {
    pub(super) fn new(type_: &'static ResourceType) -> Self {
        let reading = Reading::Pending;
        Self { type_, reading, version: 0, objects: HashMap::new(), keys: HashMap::new() }
    }

    /// Whether it holds workloads.
    pub(super) fn holds_workloads(&self) -> bool {
        kind::of_type(self.type_).is_some()
    }

    /// Whether the first list arrived, or reading failed permanently.
    pub(super) fn has_synced(&self) -> bool {
        self.reading != Reading::Pending
    }

    /// Whether the objects can be read; until the first list, they may be.
    pub(super) fn is_readable(&self) -> bool {
        matches!(self.reading, Reading::Pending | Reading::Synced)
    }

    /// Applies a change of revisions, pods or events, and returns the owners of what changed; none if all may have
    /// changed.
    pub(super) fn apply(&mut self, delta: Delta) -> Option<Vec<String>> {
        match delta {
            Delta::Listed(listed) => {
                self.version = listed.version;
                self.objects.clear();
                self.keys.clear();
                for (key, facts) in listed.objects {
                    self.insert(key, facts);
                }
                None
            }
            Delta::Changed(key, facts, version) => {
                self.version = version.max(self.version);
                Some(self.insert(key, facts))
            }
            Delta::Removed(key, version) => {
                self.version = version.max(self.version);
                Some(self.remove(&key).into_iter().collect())
            }
            Delta::Forbidden | Delta::Unreadable(_) => None,
        }
    }

    /// Stores an object, and returns its owner, and the owner that it had before.
    fn insert(&mut self, key: String, facts: Facts) -> Vec<String> {
        let mut changed: Vec<_> = self.remove(&key).into_iter().collect();
        let Some(owner) = facts.owner().map(str::to_owned) else { return changed };
        let key = Arc::<str>::from(key);
        self.keys.entry(owner.clone()).or_default().insert(Arc::clone(&key));
        self.objects.insert(key, facts);
        changed.push(owner);
        changed
    }

    /// Removes an object, and returns its owner.
    fn remove(&mut self, key: &str) -> Option<String> {
        let owner = self.objects.remove(key)?.owner()?.to_owned();
        let keys = self.keys.get_mut(&owner)?;
        keys.remove(key);
        if keys.is_empty() {
            self.keys.remove(&owner);
        }
        Some(owner)
    }

    /// Replaces the objects of some owners by those of a refresh, unless the reflector knows all later changes too. None of
    /// them if RBAC forbids to list them.
    fn refresh(&mut self, owners: &BTreeSet<String>, refreshed: Option<Listed>) {
        let Some(refreshed) = refreshed else {
            if self.reading == Reading::Pending {
                self.reading = Reading::Forbidden;
            }
            return;
        };
        if self.version > refreshed.version {
            return;
        }
        for key in owners.iter().flat_map(|owner| self.keys.remove(owner).unwrap_or_default()) {
            self.objects.remove(&key);
        }
        for (key, facts) in refreshed.objects {
            self.insert(key, facts);
        }
    }

    pub(super) fn revisions_of(&self, owner: &str) -> impl Iterator<Item = Arc<Revision>> {
        self.of(owner).filter_map(Facts::revision)
    }

    pub(super) fn pods_of(&self, owner: &str) -> impl Iterator<Item = Arc<Pod>> {
        self.of(owner).filter_map(Facts::pod)
    }

    pub(super) fn events_about(&self, uid: &str) -> impl Iterator<Item = Event> {
        self.of(uid).filter_map(|facts| match facts {
            Facts::Event(event) => Some((**event).clone()),
            _ => None,
        })
    }

    fn of(&self, owner: &str) -> impl Iterator<Item = &Facts> {
        self.keys.get(owner).into_iter().flatten().filter_map(|key| self.objects.get(key))
    }
}

impl Facts {
    pub(super) fn revision(&self) -> Option<Arc<Revision>> {
        if let Self::Revision(revision) = self { Some(Arc::clone(revision)) } else { None }
    }

    pub(super) fn pod(&self) -> Option<Arc<Pod>> {
        if let Self::Pod(pod) = self { Some(Arc::clone(pod)) } else { None }
    }

    /// Returns the uid of the object's controller, or of the object that an event is about.
    fn owner(&self) -> Option<&str> {
        match self {
            Self::Workload(_) => None,
            Self::Revision(revision) => Some(&revision.owner_uid),
            Self::Pod(pod) => Some(&pod.owner_uid),
            Self::Event(event) => Some(&event.about),
        }
    }
}
