//! The targets of an observer, and what is emitted about them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::mem::take;

use super::facts::{Facts, Refresh, Update, key};
use super::store::{Collection, Store};
use crate::error::{Error, Result};
use crate::model::api::resource_type::EVENT;
use crate::model::engine::{TargetEvent, TargetId};
use crate::model::kind::Workload;

/// The events of targets.
pub(super) type TargetEvents = Vec<(TargetId, TargetEvent)>;

/// The targets of an observer, and the objects that belong to them.
#[derive(Debug, Default)]
pub(super) struct Targets {
    pub(super) store: Store,
    pub(super) all: BTreeMap<TargetId, Target>,
    /// The first target.
    pub(super) first: TargetId,
    /// How many targets were added.
    added: usize,
    /// The targets by their collection and key.
    by_key: HashMap<(usize, String), Vec<TargetId>>,
    /// The owners of the objects that changed since the last flush; none if all may have changed.
    changed: Option<HashSet<String>>,
    /// The errors of workloads that cannot be read.
    pub(super) errors: Vec<Error>,
}

/// A workload, and what was emitted about it.
#[derive(Debug)]
pub(super) struct Target {
    /// The collection of its workload.
    collection: usize,
    /// The state that was emitted last, or as it was found.
    workload: Workload,
    /// The states that were not emitted, because something else was not read yet, oldest first.
    unemitted: Vec<Workload>,
    /// Whether everything was read once. Without revisions a workload would look failed, without pods held.
    was_read: bool,
    /// Whether a search found it. It stays a target while it does not exist, as it may be created again.
    is_found: bool,
    /// The resourceVersion of the last state of the watch; none while it does not exist.
    pub(super) version: Option<String>,
}

impl Targets {
    /// Adds a target whose workload is in a collection.
    pub(super) fn add_target(&mut self, collection: usize, workload: Workload, is_found: bool) -> TargetId {
        let id = TargetId { index: self.first.index + self.added, ..self.first };
        self.added += 1;
        self.by_key.entry((collection, key(workload.object()))).or_default().push(id);
        let (unemitted, was_read, version) = (Vec::new(), false, None);
        self.all.insert(id, Target { collection, workload, unemitted, was_read, is_found, version });
        id
    }

    /// Records that the workload of a target does not exist, and forgets a target that no search found: a cluster can delete
    /// any number of them.
    fn delete_target(&mut self, id: TargetId, events: &mut TargetEvents) {
        events.push((id, TargetEvent::Deleted));
        let Some(target) = self.all.get_mut(&id) else { return };
        target.version = None;
        if !target.is_found {
            self.by_key.remove(&(target.collection, key(target.workload.object())));
            self.all.remove(&id);
        }
    }

    /// Applies an update. The states of workloads are emitted at once, since each may have a line of its own, and changes of
    /// other objects by [`Targets::flush`].
    pub(super) fn apply(&mut self, update: Update, events: &mut TargetEvents) {
        match update {
            Update::Refreshed(target, refresh) => self.refresh(target, refresh, events),
            Update::Log(target, lines) => {
                events.extend(lines.map(|lines| (target, TargetEvent::Log(lines))));
            }
            Update::Listed(index, (all, _)) if self.store.holds_workloads(index) => {
                self.store.set_failure(index, None);
                // A list is never older than an earlier refresh, also if a backup of etcd has older versions.
                let listed = all.into_iter().flat_map(|facts| self.apply_state(index, facts, true, events));
                let listed: BTreeSet<_> = listed.collect();
                let of_type = self.all.iter().filter(|(_, target)| target.collection == index);
                let ids: Vec<_> = of_type.map(|(id, _)| *id).filter(|id| !listed.contains(id)).collect();
                for id in ids {
                    self.delete_target(id, events);
                }
            }
            Update::Changed { collection, facts, .. } if self.store.holds_workloads(collection) => {
                self.store.set_failure(collection, None);
                self.apply_state(collection, facts, false, events);
            }
            Update::Removed(index, removed) if self.store.holds_workloads(index) => {
                self.store.set_failure(index, None);
                for id in self.by_key.get(&(index, removed.key)).cloned().unwrap_or_default() {
                    if self.all.get(&id).is_some_and(|target| target.version.is_some()) {
                        self.delete_target(id, events);
                    }
                }
            }
            Update::Unreadable(index, error) if self.store.holds_workloads(index) => {
                for (id, target) in self.all.iter_mut().filter(|(_, target)| target.collection == index) {
                    target.version = None;
                    events.push((*id, TargetEvent::Unreadable(error.clone())));
                }
                self.errors.push(error.clone());
                self.store.set_failure(index, Some(error));
            }
            update => {
                let owners = self.store.apply(update);
                self.changed = self.changed.take().zip(owners).map(|(mut changed, owners)| {
                    changed.extend(owners);
                    changed
                });
            }
        }
    }

    /// Applies the state of a workload, and returns its targets. A state of a watch is dropped if a refresh has read a newer one.
    fn apply_state(
        &mut self,
        index: usize,
        facts: Facts,
        is_listed: bool,
        events: &mut TargetEvents,
    ) -> Vec<TargetId> {
        let Facts::Workload(workload) = facts else { return Vec::new() };
        let mut ids = self.by_key.get(&(index, key(workload.object()))).cloned().unwrap_or_default();
        if ids.is_empty() {
            ids.push(self.add_target(index, (*workload).clone(), false));
        }
        let version = workload.object().resource_version().map(str::to_owned);
        for id in &ids {
            let Some(target) = self.all.get_mut(id) else { continue };
            let is_known = version.is_some() && target.version == version;
            target.version.clone_from(&version);
            let [known, new] = [&target.workload, &*workload].map(|one| one.object().version_number());
            let is_old = !is_listed && known.zip(new).is_some_and(|(known, new)| new < known);
            if is_known || is_old {
                continue;
            }
            target.unemitted.push((*workload).clone());
            self.emit(*id, events);
        }
        ids
    }

    /// Applies a refresh. Of the workload, its revisions and its pods, each part is emitted as it was read, or as a watch
    /// has reported it if that is newer: no older state may decide.
    fn refresh(&mut self, id: TargetId, refresh: Result<Option<Box<Refresh>>>, events: &mut TargetEvents) {
        self.flush(events);
        let (workload, listed) = match refresh {
            Ok(Some(refresh)) => *refresh,
            Ok(None) => return events.push((id, TargetEvent::Deleted)),
            Err(error) => return events.push((id, TargetEvent::Unreadable(error))),
        };
        let Some(target) = self.all.get_mut(&id) else { return };
        let known = target.unemitted.drain(..).next_back().unwrap_or_else(|| target.workload.clone());
        let [known_version, read] = [&known, &workload].map(|one| one.object().version_number());
        let is_older = known_version.zip(read).is_some_and(|(known, read)| known > read);
        target.workload = if is_older { known } else { workload };
        target.was_read = true;
        let observed = self.store.refresh(&target.workload, listed);
        events.push((id, TargetEvent::Refreshed(Box::new(observed))));
    }

    /// Emits the observation of each target of which something changed since the last flush.
    pub(super) fn flush(&mut self, events: &mut TargetEvents) {
        let owners = self.changed.replace(HashSet::new());
        let is_changed = |target: &Target| {
            owners.as_ref().is_none_or(|owners| self.store.has_changed(&target.workload, owners))
        };
        let changed = self.all.iter().filter(|(_, target)| is_changed(target));
        let changed: Vec<_> = changed.map(|(id, _)| *id).collect();
        for id in changed {
            self.emit(id, events);
        }
    }

    /// Emits the observation of a workload, once its revisions and pods were read too: then one for each of its states so far.
    fn emit(&mut self, id: TargetId, events: &mut TargetEvents) {
        let Some(target) = self.all.get_mut(&id) else { return };
        let mut states = take(&mut target.unemitted);
        if target.was_read && states.is_empty() {
            states.push(target.workload.clone());
        }
        if !target.was_read && !self.store.was_read(&target.workload) {
            target.unemitted = states;
            return;
        }
        for workload in states {
            (target.workload, target.was_read) = (workload, true);
            let warnings = self.store.of(&EVENT, target.workload.object().namespace());
            let events_answered = warnings.is_some_and(Collection::has_synced);
            let observation = Box::new(self.store.observe(&target.workload));
            events.push((id, TargetEvent::Observed { observation, events_answered }));
        }
    }
}
