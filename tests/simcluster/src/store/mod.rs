//! The objects, the revisions and the history; no I/O. What may be written is decided in [`crate::rules`].

mod history;
mod ids;
mod key;
mod logs;

use std::{collections::BTreeMap, ops::Bound, sync::Arc};

use jiff::Timestamp;
use serde_json::Value;

pub use self::{
    history::Change,
    key::Key,
    logs::{Logs, Output},
};
use self::{history::History, ids::Ids};
use crate::{clock::Clock, object, refusal::Refusal, resource::Resource};

/// Who finishes what a deletion begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Finalization {
    /// The server stands in: a deleted pod goes at once, and what an object owned goes with it.
    #[default]
    ByServer,
    /// Kubelets and a garbage collector that write to the store, as in a real cluster.
    ByControllers,
}

/// Everything the cluster keeps.
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
    serves_kruise: bool,
}

impl Store {
    /// An empty store that can answer watches for the last `history` changes.
    #[must_use]
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
            serves_kruise: false,
        }
    }

    /// The time, as the cluster's clock shows it.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The cluster's clock, to move it.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Stops keeping `managedFields`.
    pub(crate) fn stop_attributing(&mut self) {
        self.attributes_writes = false;
    }

    /// Turns the gate `MaxUnavailableStatefulSet` on.
    pub(crate) fn allow_max_unavailable_stateful_set(&mut self) {
        self.max_unavailable_stateful_set = true;
    }

    /// Whether the gate `MaxUnavailableStatefulSet` is on.
    pub(crate) fn allows_max_unavailable_stateful_set(&self) -> bool {
        self.max_unavailable_stateful_set
    }

    /// Serves the resources of `OpenKruise`.
    pub(crate) fn serve_kruise(&mut self) {
        self.serves_kruise = true;
    }

    /// Whether a resource is served.
    pub(crate) fn serves(&self, resource: &Resource) -> bool {
        self.serves_kruise || !resource.is_custom()
    }

    /// Whether `managedFields` are kept.
    pub(crate) fn attributes_writes(&self) -> bool {
        self.attributes_writes
    }

    /// Who finishes deletions.
    #[must_use]
    pub fn finalization(&self) -> Finalization {
        self.finalization
    }

    /// The newest resourceVersion.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The object under a key.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<&Arc<Value>> {
        self.objects.get(key)
    }

    /// The object under a key, or the 404 that says it is not there.
    ///
    /// # Errors
    /// When there is none.
    pub fn find(&self, key: &Key) -> Result<&Arc<Value>, Refusal> {
        self.get(key).ok_or_else(|| Refusal::not_found(key.resource, &key.name))
    }

    /// The objects of a resource, in one namespace or in all, in the order of a LIST.
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

    /// What a LIST would have answered at an earlier revision.
    ///
    /// # Errors
    /// The oldest revision that can still be asked for, when history does not reach back to `revision`.
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
    ///
    /// # Errors
    /// The oldest revision that can still be asked for, when history does not reach back to `revision`.
    pub fn changes_after(&self, revision: u64) -> Result<impl Iterator<Item = &Change>, u64> {
        self.history.after(revision)
    }

    /// Forgets the history, so that every older resourceVersion and continue token is answered with 410.
    pub fn compact(&mut self) {
        self.history.compact(self.revision);
    }

    /// What containers have written.
    #[must_use]
    pub fn logs(&self) -> &Logs {
        &self.logs
    }

    /// What containers have written, to add to it.
    pub fn logs_mut(&mut self) -> &mut Logs {
        &mut self.logs
    }

    /// Stores an object as it is, with its own resourceVersion, uid and stamps: how recorded objects come back.
    ///
    /// It is no write: no rule applies, and watches that are open do not see it.
    pub fn restore(&mut self, resource: &'static Resource, value: Value) {
        self.revision = self.revision.max(object::resource_version(&value));
        self.history.compact(self.revision);
        self.objects.insert(Key::of(resource, &value), Arc::new(value));
    }

    /// Commits a recorded state of a key under the next revision, or its removal. No rule applies, and watches
    /// see it: how a recording is played again.
    pub fn replay(&mut self, key: &Key, state: Option<Value>) {
        match state {
            Some(state) => drop(self.put(key, state)),
            None => drop(self.take(key)),
        }
    }

    /// Commits a new state of a key under the next revision, with which it is stamped.
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

    /// Commits the removal of a key; the object as it was, if there was one.
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

    pub(crate) fn new_suffix(&mut self) -> String {
        self.ids.suffix()
    }
}
