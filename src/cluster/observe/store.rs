//! The objects that a reflector has read, and the events that follow from their changes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::update::{Delta, ParsedObject, StoredObject};
use crate::model::api::event::Events;
use crate::model::api::resource_type::{EVENT, POD, ResourceType};
use crate::model::follow::{TargetEvent, TargetId};
use crate::model::kind;
use crate::model::kind::Workload;

/// The objects that a reflector has read.
#[derive(Debug)]
pub(super) struct Store {
    type_: &'static ResourceType,
    /// The targets of the reflector.
    targets: Vec<TargetId>,
    kept: BTreeMap<String, StoredObject>,
    /// The names of the objects that belong to each target.
    by_target: HashMap<TargetId, BTreeSet<String>>,
    is_forbidden: bool,
    /// Whether the first list arrived, or reading failed permanently.
    synced: bool,
    /// The targets with changes that were not emitted yet.
    stale: BTreeSet<TargetId>,
    /// The resourceVersion of each target's workload at its last refresh.
    refreshed: BTreeMap<TargetId, u64>,
}

impl Store {
    pub(super) fn new(type_: &'static ResourceType, targets: Vec<TargetId>) -> Self {
        Self {
            type_,
            targets,
            kept: BTreeMap::new(),
            by_target: HashMap::new(),
            is_forbidden: false,
            synced: false,
            stale: BTreeSet::new(),
            refreshed: BTreeMap::new(),
        }
    }

    /// Whether it holds revisions.
    pub(super) fn holds_revisions(&self) -> bool {
        !self.holds_workloads() && self.type_ != &POD && self.type_ != &EVENT
    }

    /// Whether the first list arrived, or reading failed permanently.
    pub(super) fn has_synced(&self) -> bool {
        self.synced
    }

    /// Returns the plural name of the resource if RBAC forbids reading it.
    pub(super) fn forbidden_type(&self) -> Option<&'static str> {
        self.is_forbidden.then(|| self.type_.plural())
    }

    /// Applies a change. States of workloads are emitted at once.
    pub(super) fn apply(&mut self, delta: Delta, events: &mut Vec<(TargetId, TargetEvent)>) {
        self.synced = true;
        match delta {
            Delta::Lost(error) => {
                events.extend(
                    self.targets.iter().map(|target| (*target, TargetEvent::Unreadable(error.clone()))),
                );
            }
            Delta::Forbidden => {
                self.is_forbidden = true;
                self.stale.extend(&self.targets);
            }
            Delta::Listed(all) => self.replace(all, events),
            Delta::Changed(kept) => self.change(*kept, events),
            Delta::Removed(name) => self.remove(&name, events),
        }
    }

    /// Emits the changes that were not emitted yet.
    pub(super) fn flush(&mut self, events: &mut Vec<(TargetId, TargetEvent)>) {
        for target in std::mem::take(&mut self.stale) {
            events.push((target, self.current_event(target)));
        }
    }

    /// Records a refresh of a target. Older states from the watch are dropped afterwards.
    pub(super) fn record_refresh(&mut self, target: TargetId, workload: &Workload) {
        if let (true, Some(version)) = (self.holds_workloads(), workload.object().version_number()) {
            self.refreshed.insert(target, version);
        }
    }

    fn replace(&mut self, all: Vec<StoredObject>, events: &mut Vec<(TargetId, TargetEvent)>) {
        self.refreshed.clear(); // a list is never older than an earlier refresh
        let before = std::mem::take(&mut self.kept);
        self.by_target.clear();
        for kept in all {
            let is_known = before.get(&kept.name).is_some_and(|known| known.version == kept.version);
            if is_known && self.holds_workloads() {
                self.insert(StoredObject { parsed: ParsedObject::Seen, ..kept });
            } else {
                self.change(kept, events);
            }
        }
        if self.holds_workloads() {
            let there: BTreeSet<_> =
                self.kept.values().flat_map(|kept| kept.targets.iter().copied()).collect();
            let gone = self.targets.iter().filter(|target| !there.contains(target));
            events.extend(gone.map(|target| (*target, TargetEvent::Deleted)));
        } else {
            self.stale.extend(&self.targets);
        }
    }

    fn change(&mut self, kept: StoredObject, events: &mut Vec<(TargetId, TargetEvent)>) {
        if let ParsedObject::Workload(workload) = kept.parsed {
            for target in &kept.targets {
                if !self.is_older_than_refresh(*target, &workload) {
                    events.push((*target, TargetEvent::Workload(workload.clone())));
                }
            }
            self.insert(StoredObject { parsed: ParsedObject::Seen, ..kept });
            return;
        }
        self.stale.extend(&kept.targets);
        if let Some(before) = self.insert(kept) {
            self.stale.extend(&before.targets); // targets that it no longer belongs to
        }
    }

    /// Stores an object, and returns the earlier one with its name.
    fn insert(&mut self, kept: StoredObject) -> Option<StoredObject> {
        let before = self.take(&kept.name);
        for target in &kept.targets {
            self.by_target.entry(*target).or_default().insert(kept.name.clone());
        }
        self.kept.insert(kept.name.clone(), kept);
        before
    }

    fn take(&mut self, name: &str) -> Option<StoredObject> {
        let taken = self.kept.remove(name)?;
        for target in &taken.targets {
            if let Some(names) = self.by_target.get_mut(target) {
                names.remove(name);
            }
        }
        Some(taken)
    }

    fn remove(&mut self, name: &str, events: &mut Vec<(TargetId, TargetEvent)>) {
        let Some(gone) = self.take(name) else {
            return;
        };
        if self.holds_workloads() {
            events.extend(gone.targets.into_iter().map(|target| (target, TargetEvent::Deleted)));
        } else {
            self.stale.extend(gone.targets);
        }
    }

    /// Whether a state is older than the last refresh. A version that is not a number counts as new.
    fn is_older_than_refresh(&self, target: TargetId, workload: &Workload) -> bool {
        let version = workload.object().version_number();
        self.refreshed.get(&target).zip(version).is_some_and(|(refreshed, version)| version < *refreshed)
    }

    fn current_event(&self, target: TargetId) -> TargetEvent {
        let mine = || {
            let names = self.by_target.get(&target).into_iter().flatten();
            names.filter_map(|name| self.kept.get(name)).map(|kept| &kept.parsed)
        };
        if self.type_ == &POD {
            let pods = mine().filter_map(|parsed| match parsed {
                ParsedObject::Pod(pod) => Some(Arc::clone(pod)),
                _ => None,
            });
            return TargetEvent::Pods((!self.is_forbidden).then(|| pods.collect()));
        }
        if self.type_ == &EVENT {
            let events = mine().filter_map(|parsed| match parsed {
                ParsedObject::Event(event) => Some((**event).clone()),
                _ => None,
            });
            return TargetEvent::Warnings((!self.is_forbidden).then(|| Events::of(events)));
        }
        let revisions = mine().filter_map(|parsed| match parsed {
            ParsedObject::Revision(revision) => Some(Arc::clone(revision)),
            _ => None,
        });
        TargetEvent::Revisions((!self.is_forbidden).then(|| revisions.collect()))
    }

    fn holds_workloads(&self) -> bool {
        kind::of_type(self.type_).is_some()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::api::object::Object;
    use crate::model::api::pod::Pod;

    fn pod(targets: &[TargetId]) -> StoredObject {
        let object = Object::read(json!({"kind": "Pod", "metadata": {"name": "web-1"}})).unwrap();
        StoredObject {
            name: "web-1".to_owned(),
            version: "1".to_owned(),
            targets: targets.to_vec(),
            parsed: ParsedObject::Pod(Arc::new(Pod::read(&object))),
        }
    }

    fn workload(version: u64, target: TargetId) -> StoredObject {
        let object = json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "uid": "u", "resourceVersion": version.to_string()}});
        StoredObject {
            name: "web".to_owned(),
            version: version.to_string(),
            targets: vec![target],
            parsed: ParsedObject::Workload(Box::new(Workload::of_json(&object).unwrap())),
        }
    }

    /// Returns the targets of the events that a change causes, and how many pods each has then.
    fn pods_after(store: &mut Store, delta: Delta) -> Vec<(TargetId, usize)> {
        let mut events = Vec::new();
        store.apply(delta, &mut events);
        store.flush(&mut events);
        let pods = events.into_iter().filter_map(|event| match event {
            (target, TargetEvent::Pods(Some(pods))) => Some((target, pods.len())),
            _ => None,
        });
        pods.collect()
    }

    #[test]
    fn a_pod_that_changes_its_owner_leaves_the_first_target() {
        let [one, other] = [TargetId(0), TargetId(1)];
        let mut store = Store::new(&POD, vec![one, other]);
        assert_eq!(pods_after(&mut store, Delta::Changed(Box::new(pod(&[one])))), [(one, 1)]);
        assert_eq!(pods_after(&mut store, Delta::Changed(Box::new(pod(&[other])))), [(one, 0), (other, 1)]);
        assert_eq!(pods_after(&mut store, Delta::Removed("web-1".to_owned())), [(other, 0)]);
    }

    #[test]
    fn states_that_are_older_than_a_refresh_or_known_are_no_events() {
        let target = TargetId(0);
        let ParsedObject::Workload(refreshed) = workload(7, target).parsed else { return };
        let mut store = Store::new(refreshed.kind().type_(), vec![target]);
        let count = |store: &mut Store, delta| {
            let mut events = Vec::new();
            store.apply(delta, &mut events);
            events.len()
        };
        assert_eq!(count(&mut store, Delta::Listed(vec![workload(3, target)])), 1);
        assert_eq!(count(&mut store, Delta::Listed(vec![workload(3, target)])), 0);
        store.record_refresh(target, &refreshed);
        assert_eq!(count(&mut store, Delta::Changed(Box::new(workload(5, target)))), 0);
        assert_eq!(count(&mut store, Delta::Changed(Box::new(workload(8, target)))), 1);
        // A backup of etcd has older versions, which a list returns.
        assert_eq!(count(&mut store, Delta::Listed(vec![workload(2, target)])), 1);
        assert_eq!(count(&mut store, Delta::Listed(Vec::new())), 1, "it is deleted");
    }
}
