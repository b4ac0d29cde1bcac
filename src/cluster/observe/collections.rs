//! What all reflectors of an observer have read, and the observations that follow from it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::wanted::{Delta, Facts, Stored};
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

    /// Returns the observation of a workload.
    pub(super) fn observation(&self, workload: &Workload) -> Observation {
        let revisions = Revisions::among(workload, self.revisions_of(workload));
        let mut observed = Observation { workload: workload.clone(), revisions, pods: None, events: None };
        let pods = self.of(&POD, workload.object().namespace()).filter(|pods| pods.is_readable());
        observed.pods = pods.map(|pods| owners(&observed).flat_map(|owner| pods.pods_of(owner)).collect());
        observed.events = self.events(&observed);
        observed
    }

    fn revisions_of(&self, workload: &Workload) -> Vec<Arc<Revision>> {
        let collection = self.of(workload.kind().revisions().type_(), workload.object().namespace());
        let readable = collection.filter(|collection| collection.is_readable());
        readable.map(|readable| readable.revisions_of(workload.object().uid()).collect()).unwrap_or_default()
    }

    /// Returns the warning events about a workload and its pods; none if they are not watched, or not readable.
    pub(super) fn events(&self, observed: &Observation) -> Option<Events> {
        let events = self.of(&EVENT, observed.workload.object().namespace())?;
        let about = owners(observed).chain(observed.pods.iter().flatten().map(|pod| pod.uid.as_str()));
        let all = about.flat_map(|uid| events.events_about(uid));
        (events.reading == Reading::Synced).then(|| Events::of(all))
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
    pub(super) fn has_changed(&self, workload: &Workload, changed: &HashSet<Arc<str>>) -> bool {
        if changed.is_empty() {
            return false;
        }
        let (namespace, uid) = (workload.object().namespace(), workload.object().uid());
        let own = self.revisions_of(workload);
        let owners = || own.iter().map(|revision| revision.uid.as_str()).chain([uid]);
        let pods = self.of(&POD, namespace).into_iter();
        let mut pods = pods.flat_map(|pods| owners().flat_map(|owner| pods.pods_of(owner)));
        owners().any(|owner| changed.contains(owner)) || pods.any(|pod| changed.contains(pod.uid.as_str()))
    }

    /// Stores the revisions and pods of a refresh. Returns whether newer ones are known.
    pub(super) fn merge(
        &mut self,
        observed: &Observation,
        revisions: Vec<(String, Stored)>,
        pods: Option<Vec<(String, Stored)>>,
    ) -> bool {
        let (workload, namespace) = (&observed.workload, observed.workload.object().namespace());
        let of_revisions = self.of_mut(workload.kind().revisions().type_(), namespace);
        let uid = workload.object().uid();
        let mut has_newer = of_revisions.is_some_and(|known| known.merge([uid].into_iter(), revisions));
        if let Some(known) = self.of_mut(&POD, namespace) {
            match pods {
                Some(pods) => has_newer |= known.merge(owners(observed), pods),
                None if known.reading == Reading::Pending => known.reading = Reading::Forbidden,
                None => {}
            }
        }
        has_newer
    }
}

/// Returns the observation that a refresh read, without events.
pub(super) fn observation(
    workload: &Workload,
    revisions: &[(String, Stored)],
    pods: Option<&[(String, Stored)]>,
) -> Observation {
    let revisions = revisions.iter().filter_map(|(_, stored)| stored.facts.revision());
    let pods = pods.map(|pods| pods.iter().filter_map(|(_, stored)| stored.facts.pod()).collect());
    Observation {
        workload: workload.clone(),
        revisions: Revisions::among(workload, revisions),
        pods,
        events: None,
    }
}

/// Returns the uids that the controllers of a workload's pods may have: those of its revisions, and its own.
fn owners(observed: &Observation) -> impl Iterator<Item = &str> {
    let revisions = observed.revisions.iter().map(|revision| revision.uid.as_str());
    revisions.chain([observed.workload.object().uid()])
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

impl Reading {
    /// Returns whether the objects could be read, as a change says.
    pub(super) fn of(delta: &Delta) -> Self {
        match delta {
            Delta::Listed(_) | Delta::Changed(..) | Delta::Removed(_) => Self::Synced,
            Delta::Forbidden => Self::Forbidden,
            Delta::Unreadable(_) => Self::Unreadable,
        }
    }
}

/// The revisions, pods or events that one reflector has read, by owner: the uid of the controller, or of the object that an
/// event is about. Of workloads it has only the reading.
#[derive(Debug)]
pub(super) struct Collection {
    pub(super) type_: &'static ResourceType,
    pub(super) reading: Reading,
    /// The objects of each owner, sorted by key.
    owned: HashMap<Arc<str>, Vec<(Arc<str>, Stored)>>,
    owners: HashMap<Arc<str>, Arc<str>>,
    /// The objects that the watch reported since a refresh began.
    reported: HashSet<String>,
}

impl Collection {
    pub(super) fn new(type_: &'static ResourceType) -> Self {
        Self {
            type_,
            reading: Reading::Pending,
            owned: HashMap::new(),
            owners: HashMap::new(),
            reported: HashSet::new(),
        }
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

    /// Forgets what the watch reported, because no refresh is in flight.
    pub(super) fn forget_reported(&mut self) {
        self.reported.clear();
    }

    /// Applies a change of revisions, pods or events, and returns the owners of what changed; none if all may have
    /// changed. `is_refreshing` says that a refresh is in flight.
    pub(super) fn apply(&mut self, delta: Delta, is_refreshing: bool) -> Option<Vec<Arc<str>>> {
        let (key, owners) = match delta {
            Delta::Listed(all) => {
                self.owned.clear();
                self.owners.clear();
                for (key, stored) in all {
                    self.insert(key, stored);
                }
                return None;
            }
            Delta::Forbidden | Delta::Unreadable(_) => return None,
            Delta::Changed(key, stored) => (key.clone(), self.insert(key, stored)),
            Delta::Removed(key) => {
                let owner = self.remove(&key);
                (key, owner.into_iter().collect())
            }
        };
        if is_refreshing {
            self.reported.insert(key);
        }
        Some(owners)
    }

    /// Stores an object, and returns its owner, and the owner that it had before.
    fn insert(&mut self, key: String, stored: Stored) -> Vec<Arc<str>> {
        let mut changed: Vec<_> = self.remove(&key).into_iter().collect();
        let Some(owner) = stored.facts.owner() else { return changed };
        let key = Arc::<str>::from(key);
        let owner = match self.owned.get_key_value(owner) {
            Some((owner, _)) => Arc::clone(owner),
            None => Arc::from(owner),
        };
        let all = self.owned.entry(Arc::clone(&owner)).or_default();
        let index = all.partition_point(|(other, _)| *other < key);
        all.insert(index, (Arc::clone(&key), stored));
        self.owners.insert(key, Arc::clone(&owner));
        changed.push(owner);
        changed
    }

    /// Removes an object, and returns its owner.
    fn remove(&mut self, key: &str) -> Option<Arc<str>> {
        let owner = self.owners.remove(key)?;
        if let Some(all) = self.owned.get_mut(&owner) {
            let index = all.partition_point(|(other, _)| **other < *key);
            if all.get(index).is_some_and(|(other, _)| **other == *key) {
                all.remove(index);
            }
            if all.is_empty() {
                self.owned.remove(&owner);
            }
        }
        Some(owner)
    }

    /// Replaces the objects of some owners by those of a refresh, and keeps what the watch reported meanwhile if it is newer.
    /// Returns whether something is.
    pub(super) fn merge<'a>(
        &mut self,
        owners: impl Iterator<Item = &'a str>,
        refreshed: Vec<(String, Stored)>,
    ) -> bool {
        let mut known = HashMap::new();
        for (key, stored) in owners.flat_map(|owner| self.owned.remove(owner).unwrap_or_default()) {
            self.owners.remove(&key);
            known.insert(key, stored);
        }
        let mut has_newer = false;
        for (key, refreshed) in refreshed {
            match known.remove(key.as_str()) {
                Some(stored) if stored.version > refreshed.version => {
                    has_newer = true;
                    self.insert(key, stored);
                }
                None if self.reported.contains(&key) => has_newer = true, // it was deleted
                _ => drop(self.insert(key, refreshed)),
            }
        }
        known.retain(|key, _| self.reported.contains(&**key)); // those were created
        has_newer |= !known.is_empty();
        for (key, stored) in known {
            self.insert(key.as_ref().to_owned(), stored);
        }
        has_newer
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
        self.owned.get(owner).into_iter().flatten().map(|(_, stored)| &stored.facts)
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
