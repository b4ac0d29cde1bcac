//! The objects, the revisions and the history; no I/O. [`crate::rules`] decides which writes are allowed.

mod history;
mod ids;
mod key;
mod logs;

use std::{collections::BTreeMap, ops::Bound, sync::Arc};

use jiff::Timestamp;
use serde_json::{Value, json};

pub use self::{
    history::Change,
    key::Key,
    logs::{Logs, Output},
};
use self::{history::History, ids::Ids};
use crate::{
    clock::Clock,
    object,
    refusal::Refusal,
    resource::{KruiseRelease, Resource},
};

/// Whether the server or the controllers complete deletions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Finalization {
    /// The server removes a deleted object immediately. Its dependents stay.
    #[default]
    ByServer,
    /// Simulated kubelets and a simulated garbage collector do, as in a real cluster.
    ByControllers,
}

/// The state of the cluster.
#[derive(Debug)]
pub struct Store {
    clock: Clock,
    finalization: Finalization,
    revision: u64,
    objects: BTreeMap<Key, Arc<Value>>,
    history: History,
    ids: Ids,
    logs: Logs,
    attributes_writes: bool,
    max_unavailable_stateful_set: bool,
    kruise: Option<KruiseRelease>,
}

impl Store {
    /// Returns an empty store that can resume watches over the last `history` changes.
    pub fn new(clock: Clock, finalization: Finalization, history: usize, seed: u64) -> Self {
        Self {
            clock,
            finalization,
            revision: 1,
            objects: BTreeMap::new(),
            history: History::new(history),
            ids: Ids::new(seed),
            logs: Logs::default(),
            attributes_writes: true,
            max_unavailable_stateful_set: false,
            kruise: None,
        }
    }

    /// Returns the time of the cluster's clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns the cluster's clock, so that a test can advance it.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Stops keeping `managedFields`.
    pub(crate) fn stop_attributing(&mut self) {
        self.attributes_writes = false;
    }

    /// Enables the feature gate `MaxUnavailableStatefulSet`.
    pub(crate) fn allow_max_unavailable_stateful_set(&mut self) {
        self.max_unavailable_stateful_set = true;
    }

    /// Whether the feature gate `MaxUnavailableStatefulSet` is enabled.
    pub(crate) fn allows_max_unavailable_stateful_set(&self) -> bool {
        self.max_unavailable_stateful_set
    }

    /// Serves the resources of `OpenKruise`.
    pub(crate) fn serve_kruise(&mut self, release: KruiseRelease) {
        self.kruise = Some(release);
    }

    /// Whether the resources of `OpenKruise` are served.
    pub(crate) fn serves_kruise(&self) -> bool {
        self.kruise.is_some()
    }

    /// Whether a resource is served.
    pub(crate) fn serves(&self, resource: &Resource) -> bool {
        !resource.is_custom() || self.kruise.is_some_and(|release| release.serves(resource))
    }

    /// Whether `managedFields` are kept.
    pub(crate) fn attributes_writes(&self) -> bool {
        self.attributes_writes
    }

    /// Returns what completes deletions.
    pub fn finalization(&self) -> Finalization {
        self.finalization
    }

    /// The newest resourceVersion.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The object under a key.
    pub fn get(&self, key: &Key) -> Option<&Arc<Value>> {
        self.objects.get(key)
    }

    /// Returns the object under a key, or the error 404.
    pub fn find(&self, key: &Key) -> Result<&Arc<Value>, Refusal> {
        self.get(key).ok_or_else(|| Refusal::not_found(key.resource, &key.name))
    }

    /// Returns the objects of a resource, in one namespace or in all, in the order of a LIST.
    pub fn list<'s>(
        &'s self,
        resource: &'static Resource,
        namespace: Option<&'s str>,
    ) -> impl Iterator<Item = (&'s Key, &'s Arc<Value>)> {
        let from = Key::new(resource, namespace.unwrap_or_default(), "");
        self.objects.range((Bound::Included(from), Bound::Unbounded)).take_while(move |(key, _)| {
            key.resource == resource && namespace.is_none_or(|wanted| key.namespace == wanted)
        })
    }

    /// Every object of every resource.
    pub fn all(&self) -> impl Iterator<Item = (&Key, &Arc<Value>)> {
        self.objects.iter()
    }

    /// Returns the objects with an owner reference to `uid`.
    pub fn owned_by(&self, uid: &str) -> Vec<Key> {
        self.all()
            .filter(|(_, value)| object::owner_uids(value).any(|owner| owner == uid))
            .map(|(key, _)| key.clone())
            .collect()
    }

    /// Returns a copy of every object as a list, which `Builder::snapshot` reads.
    pub fn snapshot(&self) -> Value {
        let items: Vec<Value> = self.all().map(|(_, object)| Value::clone(object)).collect();
        json!({"items": items})
    }

    /// Returns the objects that a LIST would have returned at an earlier revision.
    pub fn list_at(
        &self,
        revision: u64,
        resource: &'static Resource,
        namespace: Option<&str>,
    ) -> Result<BTreeMap<Key, Arc<Value>>, u64> {
        let mut then: BTreeMap<Key, Arc<Value>> =
            self.list(resource, namespace).map(|(key, value)| (key.clone(), Arc::clone(value))).collect();
        let concerned =
            |key: &Key| key.resource == resource && namespace.is_none_or(|wanted| key.namespace == wanted);
        for change in self.history.after(revision)?.rev().filter(|change| concerned(&change.key)) {
            match &change.before {
                Some(value) => then.insert(change.key.clone(), Arc::clone(value)),
                None => then.remove(&change.key),
            };
        }
        Ok(then)
    }

    /// The changes after a revision, oldest first.
    pub fn changes_after(&self, revision: u64) -> Result<impl Iterator<Item = &Change>, u64> {
        self.history.after(revision)
    }

    /// Drops the history, so that every older resourceVersion and continue token gets a 410.
    pub fn compact(&mut self) {
        self.history.compact(self.revision);
    }

    /// Returns the output of the containers.
    pub fn logs(&self) -> &Logs {
        &self.logs
    }

    /// Returns the output of the containers, for changes.
    pub fn logs_mut(&mut self) -> &mut Logs {
        &mut self.logs
    }

    /// Stores a recorded object unchanged, with its own resourceVersion, uid and timestamps.
    ///
    /// This is no write: no rule applies, and open watches do not see it.
    pub fn restore(&mut self, resource: &'static Resource, value: Value) {
        self.revision = self.revision.max(object::resource_version(&value));
        self.history.compact(self.revision);
        self.objects.insert(Key::of(resource, &value), Arc::new(value));
    }

    /// Commits a recorded state of an object, or its removal, under the next revision. No rule applies. Watches see it.
    pub fn replay(&mut self, key: &Key, state: Option<Value>) {
        match state {
            Some(state) => drop(self.put(key, state)),
            None => drop(self.take(key)),
        }
    }

    /// Commits a new state of an object under the next revision, which becomes its resourceVersion.
    pub(crate) fn put(&mut self, key: &Key, mut value: Value) -> Arc<Value> {
        self.revision += 1;
        object::metadata(&mut value).insert("resourceVersion".to_owned(), self.revision.to_string().into());
        let after = Arc::new(value);
        let before = self.objects.insert(key.clone(), Arc::clone(&after));
        self.history.push(Change {
            revision: self.revision,
            at: self.clock.now(),
            key: key.clone(),
            before,
            after: Some(Arc::clone(&after)),
        });
        after
    }

    /// Commits the removal of an object and returns the object, if there was one.
    pub(crate) fn take(&mut self, key: &Key) -> Option<Arc<Value>> {
        let before = self.objects.remove(key)?;
        self.revision += 1;
        self.history.push(Change {
            revision: self.revision,
            at: self.clock.now(),
            key: key.clone(),
            before: Some(Arc::clone(&before)),
            after: None,
        });
        Some(before)
    }

    pub(crate) fn new_uid(&mut self) -> String {
        self.ids.uid()
    }
}
