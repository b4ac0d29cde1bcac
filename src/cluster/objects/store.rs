//! What was read of workloads, by owner, and the observations that follow from it. A command that reads once fills a store and
//! stops; one that follows keeps it current.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::facts::{Facts, Listed, Removed, Update};
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::event::Events;
use crate::model::api::pod::Pod;
use crate::model::api::resource_type::{EVENT, POD, ResourceType};
use crate::model::kind::{self, Workload};
use crate::model::observation::Observation;
use crate::model::revision::{Revision, Revisions};

/// What was read of workloads: their revisions, pods and warning events by owner.
#[derive(Debug, Default)]
pub(super) struct Store {
    pub(super) collections: Vec<Collection>,
    /// The indices of the collections by namespace; those of all namespaces by the empty name.
    by_namespace: HashMap<String, Vec<usize>>,
}

impl Store {
    /// Adds a collection, and returns its index.
    pub(super) fn add(&mut self, type_: &'static ResourceType, namespace: Option<&str>) -> usize {
        let index = self.collections.len();
        let reading = Reading::Pending;
        self.collections.push(Collection { type_, reading, version: 0, objects: HashMap::new() });
        self.by_namespace.entry(namespace.unwrap_or_default().to_owned()).or_default().push(index);
        index
    }

    /// Adds a collection whose objects were listed once.
    pub(super) fn fill(
        &mut self,
        type_: &'static ResourceType,
        namespace: Option<&str>,
        listed: Result<Vec<Facts>>,
    ) {
        let index = self.add(type_, namespace);
        self.apply(match listed {
            Ok(facts) => Update::Listed(index, (facts, String::new())),
            Err(error) => Update::Unreadable(index, error),
        });
    }

    /// Returns the observation of a workload. Its parts that cannot be read are none, and no revisions.
    pub(super) fn observe(&self, workload: &Workload) -> Observation {
        self.observe_with(workload, &[])
    }

    /// As [`Store::observe`]; the types in `read` were just read, whatever their collections can read.
    fn observe_with(&self, workload: &Workload, read: &[&ResourceType]) -> Observation {
        let (uid, namespace) = (workload.object().uid(), workload.object().namespace());
        let is_readable = |one: &&Collection| one.failure().is_none() || read.contains(&one.type_);
        let revisions = self.of_revisions(workload).filter(is_readable).into_iter();
        let revisions = Revisions::among(workload, revisions.flat_map(|all| all.revisions_of(uid)));
        let owners = self.owners(workload);
        let pods = self.of(&POD, namespace).filter(is_readable);
        let pods: Option<Vec<_>> =
            pods.map(|pods| owners.iter().flat_map(|owner| pods.pods_of(owner)).collect());
        let about = owners.iter().chain(pods.iter().flatten().map(|pod| &pod.uid));
        let events = self.of(&EVENT, namespace).filter(|events| matches!(events.reading, Reading::Synced));
        let event =
            |facts: &Facts| if let Facts::Event(event) = facts { Some((**event).clone()) } else { None };
        let events = events.map(|events| Events::of(about.flat_map(|uid| events.of(uid)).filter_map(event)));
        Observation { workload: workload.clone(), revisions, pods, events }
    }

    /// Returns the collection of the revisions of a workload; none for a kind that stores none.
    pub(super) fn of_revisions(&self, workload: &Workload) -> Option<&Collection> {
        self.of(workload.kind().revisions().type_()?, workload.object().namespace())
    }

    /// Whether the revisions and pods of a workload were read, or cannot be read.
    pub(super) fn was_read(&self, workload: &Workload) -> bool {
        let types = [workload.kind().revisions().type_(), Some(&POD)].into_iter().flatten();
        let mut collections = types.map(|type_| self.of(type_, workload.object().namespace()));
        collections.all(|all| all.is_some_and(Collection::has_synced))
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
        let is_of_type = |index: &&usize| self.collections.get(**index).is_some_and(|all| all.type_ == type_);
        here.iter().find(is_of_type).copied()
    }

    /// Returns the collection of a type that has the objects of a namespace.
    pub(super) fn of(&self, type_: &ResourceType, namespace: &str) -> Option<&Collection> {
        self.collections.get(self.index_of(type_, namespace)?)
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

    /// Applies an update of revisions, pods or events, and returns the owners of what changed; none if all may have changed.
    pub(super) fn apply(&mut self, update: Update) -> Option<Vec<String>> {
        match update {
            Update::Listed(index, (facts, version)) => {
                let collection = self.collections.get_mut(index)?;
                collection.reading = Reading::Synced;
                collection.version = version.parse().unwrap_or_default();
                collection.objects.clear();
                for facts in facts {
                    collection.objects.entry(facts.owner().to_owned()).or_default().push(facts);
                }
                for all in collection.objects.values_mut() {
                    all.sort_by(|one, other| one.id().cmp(&other.id()));
                }
                None
            }
            Update::Changed { collection, facts, version, is_added } => {
                Some(self.synced(collection, version)?.insert(facts, is_added))
            }
            Update::Removed(index, Removed { name, uid, owner, version, .. }) => {
                let collection = self.synced(index, version)?;
                Some(collection.remove((&name, &uid), &owner).into_iter().collect())
            }
            Update::Unreadable(index, error) => {
                self.collections.get_mut(index)?.reading = Reading::Failed(error);
                None
            }
            Update::Refreshed(..) | Update::Log(..) => Some(Vec::new()),
        }
    }

    /// Whether a collection holds workloads.
    pub(super) fn holds_workloads(&self, index: usize) -> bool {
        self.collections.get(index).is_some_and(Collection::holds_workloads)
    }

    /// Records whether the workloads of a collection could be read.
    pub(super) fn set_failure(&mut self, index: usize, failure: Option<Error>) {
        if let Some(collection) = self.collections.get_mut(index) {
            collection.reading = failure.map_or(Reading::Synced, Reading::Failed);
        }
    }

    /// Returns a collection that is watched, with every change up to this resourceVersion.
    fn synced(&mut self, index: usize, version: u64) -> Option<&mut Collection> {
        let collection = self.collections.get_mut(index)?;
        (collection.reading, collection.version) = (Reading::Synced, version.max(collection.version));
        Some(collection)
    }

    /// Stores the revisions and pods of a refresh, and returns the observation of the workload.
    pub(super) fn refresh(&mut self, workload: &Workload, listed: [Option<Listed>; 2]) -> Observation {
        let all_types = [workload.kind().revisions().type_(), Some(&POD)];
        let mut owners = BTreeSet::from([workload.object().uid().to_owned()]);
        let mut read = Vec::new();
        for (type_, listed) in all_types.into_iter().zip(listed) {
            let Some(type_) = type_ else { continue };
            read.extend(listed.as_ref().map(|_| type_));
            let index = self.index_of(type_, workload.object().namespace());
            if let Some(known) = index.and_then(|index| self.collections.get_mut(index)) {
                known.refresh(&owners, listed);
            }
            owners = self.owners(workload);
        }
        self.observe_with(workload, &read)
    }
}

/// Whether the objects of a collection could be read.
#[derive(Clone, Debug)]
pub(super) enum Reading {
    /// The first list has not arrived.
    Pending,
    /// They were listed, and may be watched.
    Synced,
    /// They cannot be read.
    Failed(Error),
}

/// The revisions, pods or events of a namespace, or of all, by owner: the uid of the controller, or of the object that an
/// event is about. Of workloads it has only the reading.
#[derive(Debug)]
pub(super) struct Collection {
    pub(super) type_: &'static ResourceType,
    reading: Reading,
    /// The resourceVersion of the last list or watch event: every change up to it is known.
    version: u64,
    /// The objects of each owner, by name.
    objects: HashMap<String, Vec<Facts>>,
}

impl Collection {
    /// Whether it holds workloads.
    pub(super) fn holds_workloads(&self) -> bool {
        kind::of_type(self.type_).is_some()
    }

    /// Whether the first list arrived, or reading failed permanently.
    pub(super) fn has_synced(&self) -> bool {
        !matches!(self.reading, Reading::Pending)
    }

    /// Returns why the objects cannot be read; none until the first list.
    pub(super) fn failure(&self) -> Option<&Error> {
        if let Reading::Failed(error) = &self.reading { Some(error) } else { None }
    }

    /// Stores an object, and returns its owner, and the owner that it had before, unless a watch says that it `is_added`.
    fn insert(&mut self, facts: Facts, is_added: bool) -> Vec<String> {
        let owner = facts.owner().to_owned();
        let is_known = |all: &Vec<Facts>| position(all, facts.id()).is_ok();
        let may_have_moved = !is_added && !self.objects.get(&owner).is_some_and(is_known);
        let before = if may_have_moved { self.remove(facts.id(), &owner) } else { None };
        let all = self.objects.entry(owner.clone()).or_default();
        let at = position(all, facts.id());
        all.splice(at.unwrap_or_else(|at| at)..at.map_or_else(|at| at, |at| at + 1), [facts]);
        before.into_iter().chain([owner]).collect()
    }

    /// Removes an object, and returns its owner: the one that it has now, or else the one that it had before.
    fn remove(&mut self, id: (&str, &str), owner: &str) -> Option<String> {
        let has_it = |all: &Vec<Facts>| position(all, id).is_ok();
        let before = || Some(self.objects.iter().find(|(_, all)| has_it(all))?.0.clone());
        let owner = if self.objects.get(owner).is_some_and(has_it) { owner.to_owned() } else { before()? };
        let all = self.objects.get_mut(&owner)?;
        all.remove(position(all, id).ok()?);
        if all.is_empty() {
            self.objects.remove(&owner);
        }
        Some(owner)
    }

    /// Replaces the objects of some owners by those of a refresh, unless all later changes are known too. None of them if
    /// RBAC forbids to list them.
    fn refresh(&mut self, owners: &BTreeSet<String>, refreshed: Option<Listed>) {
        let Some((facts, version)) = refreshed else {
            if !self.has_synced() {
                self.reading = Reading::Failed(Error::new(ErrorKind::NotReadable, "forbidden"));
            }
            return;
        };
        if self.version > version.parse().unwrap_or_default() {
            return;
        }
        // An object that moved to one of these owners is removed from the owner that it had before.
        let known: HashSet<String> = owners
            .iter()
            .filter_map(|owner| self.objects.remove(owner))
            .flatten()
            .map(|facts| facts.id().1.to_owned())
            .collect();
        for facts in facts {
            let is_added = known.contains(facts.id().1);
            self.insert(facts, is_added);
        }
    }

    pub(super) fn revisions_of(&self, owner: &str) -> impl Iterator<Item = Arc<Revision>> {
        self.of(owner).iter().filter_map(|facts| match facts {
            Facts::Revision(revision) => Some(Arc::clone(revision)),
            _ => None,
        })
    }

    pub(super) fn pods_of(&self, owner: &str) -> impl Iterator<Item = Arc<Pod>> {
        self.of(owner)
            .iter()
            .filter_map(|facts| if let Facts::Pod(pod) = facts { Some(Arc::clone(pod)) } else { None })
    }

    fn of(&self, owner: &str) -> &[Facts] {
        self.objects.get(owner).map_or(&[], Vec::as_slice)
    }
}

/// Returns where the object with this name and uid is, or belongs.
fn position(all: &[Facts], id: (&str, &str)) -> Result<usize, usize> {
    all.binary_search_by(|facts| facts.id().cmp(&id))
}
