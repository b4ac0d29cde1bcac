//! What the reflectors and refreshes of an observer have read, and the observations that follow from it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::mem::take;
use std::sync::Arc;

use super::collection::{Collection, Delta, Reading, Refresh};
use super::wanted::{Facts, Stored, key};
use crate::error::Error;
use crate::model::api::event::Events;
use crate::model::api::resource_type::{EVENT, POD, ResourceType};
use crate::model::follow::{TargetEvent, TargetId};
use crate::model::kind::Workload;
use crate::model::observation::Observation;
use crate::model::revision::{Revision, Revisions};

/// The events of targets.
pub(super) type TargetEvents = Vec<(TargetId, TargetEvent)>;

/// The objects of all reflectors, and the targets that they belong to.
#[derive(Debug, Default)]
pub(super) struct Cache {
    /// Whether each workload that is read becomes a target.
    takes_all: bool,
    pub(super) collections: Vec<Collection>,
    /// The indices of the collections by namespace; those of all namespaces by the empty name.
    by_namespace: HashMap<String, Vec<usize>>,
    targets: BTreeMap<TargetId, Target>,
    /// The targets by their collection and key.
    by_key: HashMap<(usize, String), Vec<TargetId>>,
    next_id: usize,
    stale: Stale,
    /// How many refreshes are in flight.
    refreshes: usize,
    errors: Vec<Error>,
}

/// A workload, and what was emitted about it.
#[derive(Debug)]
struct Target {
    /// The collection of its workload.
    collection: usize,
    /// The state that was emitted last, or as it was found.
    workload: Workload,
    /// The states that were not emitted, because something else was not read yet, oldest first.
    pending: VecDeque<Workload>,
    /// Whether everything was read once. Without revisions a workload would look failed, without pods held.
    is_complete: bool,
    /// The resourceVersion of the last state of the watch; none while it does not exist.
    version: Option<String>,
    /// The resourceVersion at the last refresh. Older states of the watch are dropped.
    refreshed: Option<u64>,
}

/// Which objects changed since the last flush.
#[derive(Debug, Default)]
struct Stale {
    /// The collections that changed as a whole.
    collections: BTreeSet<usize>,
    /// The owners of single objects that changed, by collection.
    owners: HashMap<usize, HashSet<Arc<str>>>,
}

impl Cache {
    /// Creates an empty cache. `takes_all` says that each workload that is read becomes a target.
    pub(super) fn new(takes_all: bool) -> Self {
        Self { takes_all, ..Self::default() }
    }

    /// Adds a collection, and returns its index.
    pub(super) fn add_collection(&mut self, type_: &'static ResourceType, namespace: Option<&str>) -> usize {
        let index = self.collections.len();
        self.collections.push(Collection::new(type_));
        self.by_namespace.entry(namespace.unwrap_or_default().to_owned()).or_default().push(index);
        index
    }

    /// Adds a target whose workload is in a collection.
    pub(super) fn add_target(&mut self, collection: usize, workload: Workload) -> TargetId {
        let id = TargetId(self.next_id);
        self.next_id += 1;
        self.by_key.entry((collection, key(workload.object()))).or_default().push(id);
        let target = Target {
            collection,
            workload,
            pending: VecDeque::new(),
            is_complete: false,
            version: None,
            refreshed: None,
        };
        self.targets.insert(id, target);
        id
    }

    /// Returns the observation of each workload.
    pub(super) fn observations(&self) -> impl Iterator<Item = Observation> {
        self.targets.values().map(|target| self.observation(target))
    }

    /// Returns the errors of workloads that cannot be read, each once.
    pub(super) fn take_errors(&mut self) -> Vec<Error> {
        take(&mut self.errors)
    }

    /// Applies a change of a collection. The states of workloads are emitted at once, since each may have a line of its
    /// own, and changes of other objects by [`Cache::flush`].
    pub(super) fn apply(&mut self, index: usize, delta: Delta, events: &mut TargetEvents) {
        let Some(collection) = self.collections.get_mut(index) else { return };
        collection.reading = match &delta {
            Delta::Listed(_) | Delta::Changed(..) | Delta::Removed(_) => Reading::Synced,
            Delta::Forbidden => Reading::Forbidden,
            Delta::Lost(_) => Reading::Lost,
        };
        if collection.holds_workloads() {
            return self.apply_to_workloads(index, delta, events);
        }
        let changed = match delta {
            Delta::Listed(all) => {
                collection.replace(all);
                None
            }
            Delta::Forbidden | Delta::Lost(_) => None,
            Delta::Changed(key, stored) => {
                if self.refreshes > 0 {
                    collection.record_reported(key.clone());
                }
                Some(collection.insert(key, stored))
            }
            Delta::Removed(key) => {
                let owner = collection.remove(&key);
                if self.refreshes > 0 {
                    collection.record_reported(key);
                }
                Some(owner.into_iter().collect())
            }
        };
        match changed {
            _ if self.takes_all => {} // all observations are read at once
            None => drop(self.stale.collections.insert(index)),
            Some(owners) => self.stale.owners.entry(index).or_default().extend(owners),
        }
    }

    /// Whether a collection holds workloads.
    pub(super) fn holds_workloads(&self, index: usize) -> bool {
        self.collections.get(index).is_some_and(Collection::holds_workloads)
    }

    fn apply_to_workloads(&mut self, index: usize, delta: Delta, events: &mut TargetEvents) {
        match delta {
            Delta::Listed(all) => {
                let mut there = BTreeSet::new();
                for target in self.targets.values_mut().filter(|target| target.collection == index) {
                    target.refreshed = None; // a list is never older than an earlier refresh
                }
                for (key, stored) in all {
                    there.extend(self.apply_state(index, key, stored, events));
                }
                let here = self.targets.iter().filter(|(_, target)| target.collection == index);
                let gone: Vec<_> = here.map(|(id, _)| *id).filter(|id| !there.contains(id)).collect();
                for id in gone {
                    self.remove(id, events);
                }
            }
            Delta::Changed(key, stored) => drop(self.apply_state(index, key, stored, events)),
            Delta::Removed(key) => {
                let ids = self.by_key.get(&(index, key)).cloned().unwrap_or_default();
                let is_there =
                    |id: &TargetId| self.targets.get(id).is_some_and(|target| target.version.is_some());
                let gone: Vec<_> = ids.into_iter().filter(is_there).collect();
                for id in gone {
                    self.remove(id, events);
                }
            }
            Delta::Lost(error) => {
                let here = self.targets.iter().filter(|(_, target)| target.collection == index);
                let lost: Vec<_> = here.map(|(id, _)| *id).collect();
                if self.takes_all {
                    for id in lost {
                        self.remove(id, events);
                    }
                    return self.errors.push(error);
                }
                events.extend(lost.into_iter().map(|id| (id, TargetEvent::Unreadable(error.clone()))));
            }
            Delta::Forbidden => {}
        }
    }

    /// Applies the state of a workload, and returns its targets.
    fn apply_state(
        &mut self,
        index: usize,
        key: String,
        stored: Stored,
        events: &mut TargetEvents,
    ) -> Vec<TargetId> {
        let Facts::Workload(workload) = stored.facts else { return Vec::new() };
        let mut ids = self.by_key.get(&(index, key)).cloned().unwrap_or_default();
        if ids.is_empty() && self.takes_all {
            ids.push(self.add_target(index, (*workload).clone()));
        }
        let version = workload.object().resource_version().map(str::to_owned);
        for id in &ids {
            let Some(target) = self.targets.get_mut(id) else { continue };
            let is_known = version.is_some() && target.version == version;
            target.version.clone_from(&version);
            if is_known || target.knows_newer(&workload) {
                continue;
            }
            if self.takes_all {
                target.workload = (*workload).clone();
                continue;
            }
            target.pending.push_back((*workload).clone());
            self.emit_pending(*id, events);
        }
        ids
    }

    /// Removes a workload that does not exist. One that was found stays a target, as it may be created again.
    fn remove(&mut self, id: TargetId, events: &mut TargetEvents) {
        if let Some(target) = self.targets.get_mut(&id).filter(|_| !self.takes_all) {
            target.version = None;
            return events.push((id, TargetEvent::Deleted));
        }
        if let Some(target) = self.targets.remove(&id) {
            self.by_key.remove(&(target.collection, key(target.workload.object())));
        }
    }

    /// Records that a target is being refreshed.
    pub(super) fn begin_refresh(&mut self) {
        if self.refreshes == 0 {
            self.collections.iter_mut().for_each(Collection::forget_reported);
        }
        self.refreshes += 1;
    }

    /// Applies a refresh, which is emitted as it was read. If a watch reported something newer meanwhile, that is emitted
    /// again.
    pub(super) fn apply_refresh(&mut self, id: TargetId, refresh: Refresh, events: &mut TargetEvents) {
        self.refreshes = self.refreshes.saturating_sub(1);
        self.flush(events);
        let (workload, revisions, pods) = match refresh {
            Refresh::Read { workload, revisions, pods } => (workload, revisions, pods),
            Refresh::Deleted => return events.push((id, TargetEvent::Deleted)),
            Refresh::Unreadable(error) => return events.push((id, TargetEvent::Unreadable(error))),
        };
        let mut observed = observation(&workload, &revisions, pods.as_deref());
        observed.events = self.events(&observed);
        let mut has_newer = self.merge(&observed, revisions, pods);
        let Some(target) = self.targets.get_mut(&id) else { return };
        let refreshed = workload.object().version_number();
        let known = target.workload.object().version_number().filter(|_| target.is_complete);
        let is_known_newer = known.zip(refreshed).is_some_and(|(known, refreshed)| known > refreshed);
        if !is_known_newer {
            target.workload = workload;
        }
        has_newer |= is_known_newer;
        (target.is_complete, target.refreshed) = (true, refreshed);
        target.pending.clear(); // these are older
        events.push((id, TargetEvent::Refreshed(Box::new(observed))));
        if has_newer {
            self.emit(id, events);
        }
    }

    /// Stores the revisions and pods of a refresh. Returns whether newer ones are known.
    fn merge(
        &mut self,
        observed: &Observation,
        revisions: Vec<(String, Stored)>,
        pods: Option<Vec<(String, Stored)>>,
    ) -> bool {
        let (workload, namespace) = (&observed.workload, observed.workload.object().namespace());
        let of_revisions = self.collection_mut(workload.kind().revisions().type_(), namespace);
        let uid = workload.object().uid();
        let mut has_newer = of_revisions.is_some_and(|known| known.merge([uid].into_iter(), revisions));
        if let Some(known) = self.collection_mut(&POD, namespace) {
            match pods {
                Some(pods) => has_newer |= known.merge(owners(observed), pods),
                None if known.reading == Reading::Pending => known.reading = Reading::Forbidden,
                None => {}
            }
        }
        has_newer
    }

    /// Emits the observation of each target of which something changed since the last flush.
    pub(super) fn flush(&mut self, events: &mut TargetEvents) {
        let stale = take(&mut self.stale);
        if stale.collections.is_empty() && stale.owners.is_empty() {
            return;
        }
        let changed = self.targets.iter().filter(|(_, target)| self.is_stale(target, &stale));
        let changed: Vec<_> = changed.map(|(id, _)| *id).collect();
        for id in changed {
            if self.targets.get(&id).is_some_and(|target| target.is_complete) {
                self.emit(id, events);
            } else {
                self.emit_pending(id, events);
            }
        }
    }

    fn is_stale(&self, target: &Target, stale: &Stale) -> bool {
        let (namespace, uid) = (target.workload.object().namespace(), target.workload.object().uid());
        let indices = [target.workload.kind().revisions().type_(), &POD, &EVENT]
            .map(|type_| self.index_of(type_, namespace));
        if indices.iter().flatten().any(|index| stale.collections.contains(index)) {
            return true;
        }
        let [revisions, pods, events] = indices.map(|index| stale.owners.get(&index?));
        let own = self.revisions_of(&target.workload);
        let owners = || own.iter().map(|revision| revision.uid.as_str()).chain([uid]);
        let has_stale_event = |events: &HashSet<Arc<str>>| {
            let pods = self.collection(&POD, namespace).into_iter();
            let pods = pods.flat_map(|pods| owners().flat_map(|owner| pods.pods_of(owner)));
            owners().any(|uid| events.contains(uid)) || pods.into_iter().any(|pod| events.contains(&*pod.uid))
        };
        revisions.is_some_and(|changed| changed.contains(uid))
            || pods.is_some_and(|changed| owners().any(|owner| changed.contains(owner)))
            || events.is_some_and(has_stale_event)
    }

    /// Emits the states of a workload that were not emitted, once everything else was read.
    fn emit_pending(&mut self, id: TargetId, events: &mut TargetEvents) {
        let Some(target) = self.targets.get(&id) else { return };
        if !target.is_complete && !self.was_read(target) {
            return;
        }
        loop {
            let Some(target) = self.targets.get_mut(&id) else { return };
            let Some(workload) = target.pending.pop_front() else { return };
            (target.workload, target.is_complete) = (workload, true);
            self.emit(id, events);
        }
    }

    fn emit(&self, id: TargetId, events: &mut TargetEvents) {
        let Some(target) = self.targets.get(&id).filter(|_| !self.takes_all) else { return };
        let warnings = self.collection(&EVENT, target.workload.object().namespace());
        let knows_warnings = warnings.is_some_and(Collection::was_read);
        let observation = Box::new(self.observation(target));
        events.push((id, TargetEvent::Observed { observation, knows_warnings }));
    }

    /// Whether the revisions and pods of a target were read, or cannot be read.
    fn was_read(&self, target: &Target) -> bool {
        let types = [target.workload.kind().revisions().type_(), &POD];
        let namespace = target.workload.object().namespace();
        types.iter().all(|type_| self.collection(type_, namespace).is_some_and(Collection::was_read))
    }

    fn observation(&self, target: &Target) -> Observation {
        let workload = &target.workload;
        let revisions = Revisions::among(workload, self.revisions_of(workload));
        let mut observed = Observation { workload: workload.clone(), revisions, pods: None, events: None };
        let pods = self.collection(&POD, workload.object().namespace()).filter(|pods| pods.is_readable());
        observed.pods = pods.map(|pods| owners(&observed).flat_map(|owner| pods.pods_of(owner)).collect());
        observed.events = self.events(&observed);
        observed
    }

    fn revisions_of(&self, workload: &Workload) -> Vec<Arc<Revision>> {
        let all = self.collection(workload.kind().revisions().type_(), workload.object().namespace());
        let all = all.filter(|all| all.is_readable());
        all.map(|all| all.revisions_of(workload.object().uid()).collect()).unwrap_or_default()
    }

    /// Returns the warning events about a target; none if they are not watched, or not readable.
    fn events(&self, observed: &Observation) -> Option<Events> {
        let events = self.collection(&EVENT, observed.workload.object().namespace())?;
        let about = owners(observed).chain(observed.pods.iter().flatten().map(|pod| pod.uid.as_str()));
        let all = about.flat_map(|uid| events.events_about(uid));
        (events.reading == Reading::Synced).then(|| Events::of(all))
    }

    /// Returns the collection of a type that has the objects of a namespace.
    pub(super) fn index_of(&self, type_: &ResourceType, namespace: &str) -> Option<usize> {
        let here = self.by_namespace.get(namespace).or_else(|| self.by_namespace.get(""))?;
        let is_of_type = |index: &&usize| self.collections.get(**index).is_some_and(|all| all.type_ == type_);
        here.iter().find(is_of_type).copied()
    }

    fn collection(&self, type_: &ResourceType, namespace: &str) -> Option<&Collection> {
        self.collections.get(self.index_of(type_, namespace)?)
    }

    fn collection_mut(&mut self, type_: &ResourceType, namespace: &str) -> Option<&mut Collection> {
        let index = self.index_of(type_, namespace)?;
        self.collections.get_mut(index)
    }
}

impl Target {
    /// Whether the last refresh has a newer state. A version that is not a number counts as new.
    fn knows_newer(&self, workload: &Workload) -> bool {
        let version = workload.object().version_number();
        self.refreshed.zip(version).is_some_and(|(refreshed, version)| version < refreshed)
    }
}

/// Returns the observation that a refresh read, without events.
fn observation(
    workload: &Workload,
    revisions: &[(String, Stored)],
    pods: Option<&[(String, Stored)]>,
) -> Observation {
    let revisions = revisions.iter().filter_map(|(_, stored)| match &stored.facts {
        Facts::Revision(revision) => Some(Arc::clone(revision)),
        _ => None,
    });
    let pod = |(_, stored): &(String, Stored)| match &stored.facts {
        Facts::Pod(pod) => Some(Arc::clone(pod)),
        _ => None,
    };
    let pods = pods.map(|pods| pods.iter().filter_map(pod).collect());
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::model::api::object::Object;
    use crate::model::api::pod::Pod;
    use crate::model::api::resource_type::REPLICA_SET;
    use crate::model::kind::Kind;
    use crate::model::kind::deployment::Deployment;

    const WORKLOADS: usize = 0;
    const REVISIONS: usize = 1;
    const PODS: usize = 2;

    fn workload(name: &str, version: u64) -> Workload {
        Workload::of_json(&json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"template": {}},
            "metadata": {"name": name, "namespace": "n", "uid": name, "resourceVersion": version.to_string()}}))
        .unwrap()
    }

    fn owned(kind: &str, name: &str, owner: &str) -> Object {
        let owner = json!([{"kind": "Deployment", "controller": true, "uid": owner}]);
        let metadata = json!({"name": name, "namespace": "n", "uid": name, "ownerReferences": owner});
        Object::read(json!({"kind": kind, "metadata": metadata, "spec": {"template": Value::Null}})).unwrap()
    }

    fn stored(name: &str, version: u64, facts: Facts) -> (String, Stored) {
        (format!("n/{name}"), Stored { version, facts })
    }

    fn state(name: &str, version: u64) -> (String, Stored) {
        stored(name, version, Facts::Workload(Box::new(workload(name, version))))
    }

    fn revision(name: &str, owner: &str) -> (String, Stored) {
        let revision = Revision::read(&Deployment, owned("ReplicaSet", name, owner));
        stored(name, 1, Facts::Revision(Arc::new(revision)))
    }

    fn pod(name: &str, owner: &str, version: u64) -> (String, Stored) {
        stored(name, version, Facts::Pod(Arc::new(Pod::read(&owned("Pod", name, owner)))))
    }

    /// Returns a cache of these workloads, of which nothing was read.
    fn cache(names: &[&str]) -> Cache {
        let mut cache = Cache::new(false);
        for type_ in [Deployment.type_(), &REPLICA_SET, &POD] {
            cache.add_collection(type_, Some("n"));
        }
        for name in names {
            cache.add_target(WORKLOADS, workload(name, 1));
        }
        cache
    }

    /// Applies a change, and returns each target that was emitted, with the names of its pods.
    fn emitted(cache: &mut Cache, index: usize, delta: Delta) -> Vec<(usize, Vec<String>)> {
        let mut events = TargetEvents::new();
        cache.apply(index, delta, &mut events);
        cache.flush(&mut events);
        let pods = |observed: &Observation| {
            observed.pods.iter().flatten().map(|pod| pod.name.clone()).collect::<Vec<_>>()
        };
        let observed = events.iter().filter_map(|(id, event)| match event {
            TargetEvent::Observed { observation, .. } => Some((id.0, pods(observation))),
            _ => None,
        });
        observed.collect()
    }

    fn changed((key, stored): (String, Stored)) -> Delta {
        Delta::Changed(key, stored)
    }

    #[test]
    fn each_state_of_a_workload_is_emitted_once_everything_else_was_read() {
        let mut cache = cache(&["web"]);
        assert_eq!(emitted(&mut cache, WORKLOADS, Delta::Listed(vec![state("web", 3)])), []);
        assert_eq!(emitted(&mut cache, WORKLOADS, changed(state("web", 4))), []);
        assert_eq!(emitted(&mut cache, PODS, Delta::Listed(vec![pod("web-1", "r", 1)])), []);
        let pods = vec!["web-1".to_owned()];
        let both = [(0, pods.clone()), (0, pods.clone())];
        assert_eq!(emitted(&mut cache, REVISIONS, Delta::Listed(vec![revision("r", "web")])), both);
        assert_eq!(emitted(&mut cache, WORKLOADS, changed(state("web", 5))), [(0, pods)]);
    }

    #[test]
    fn a_pod_belongs_to_the_owner_of_its_replica_set_only() {
        let mut cache = cache(&["web", "api"]);
        emitted(&mut cache, WORKLOADS, Delta::Listed(vec![state("web", 1), state("api", 1)]));
        emitted(&mut cache, PODS, Delta::Listed(Vec::new()));
        let revisions = vec![revision("r", "web"), revision("s", "api")];
        assert_eq!(emitted(&mut cache, REVISIONS, Delta::Listed(revisions)).len(), 2);
        let of = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(emitted(&mut cache, PODS, changed(pod("p", "r", 1))), [(0, of(&["p"]))]);
        assert_eq!(emitted(&mut cache, PODS, changed(pod("p", "s", 1))), [(0, of(&[])), (1, of(&["p"]))]);
        assert_eq!(emitted(&mut cache, PODS, changed(pod("q", "t", 1))), [], "the owner is not known yet");
        assert_eq!(emitted(&mut cache, REVISIONS, changed(revision("t", "web"))), [(0, of(&["q"]))]);
        assert_eq!(emitted(&mut cache, PODS, Delta::Removed("n/p".to_owned())), [(1, of(&[]))]);
    }

    /// Returns a cache of a workload that was read with one ReplicaSet.
    fn read_cache() -> Cache {
        let mut cache = cache(&["web"]);
        emitted(&mut cache, PODS, Delta::Listed(Vec::new()));
        emitted(&mut cache, REVISIONS, Delta::Listed(vec![revision("r", "web")]));
        assert_eq!(emitted(&mut cache, WORKLOADS, Delta::Listed(vec![state("web", 3)])).len(), 1);
        cache
    }

    fn refresh(cache: &mut Cache, version: u64, pods: &[(&str, u64)]) -> TargetEvents {
        let pods = pods.iter().map(|(name, version)| pod(name, "r", *version)).collect();
        let workload = workload("web", version);
        let read = Refresh::Read { workload, revisions: vec![revision("r", "web")], pods: Some(pods) };
        let mut events = TargetEvents::new();
        cache.apply_refresh(TargetId(0), read, &mut events);
        events
    }

    #[test]
    fn states_that_are_older_than_a_refresh_or_known_are_no_events() {
        let mut cache = read_cache();
        let count = |cache: &mut Cache, delta| {
            let mut events = TargetEvents::new();
            cache.apply(WORKLOADS, delta, &mut events);
            events.len()
        };
        assert_eq!(count(&mut cache, Delta::Listed(vec![state("web", 3)])), 0);
        cache.begin_refresh();
        refresh(&mut cache, 7, &[]);
        assert_eq!(count(&mut cache, changed(state("web", 5))), 0);
        assert_eq!(count(&mut cache, changed(state("web", 8))), 1);
        // A backup of etcd has older versions, which a list returns.
        assert_eq!(count(&mut cache, Delta::Listed(vec![state("web", 2)])), 1);
        assert_eq!(count(&mut cache, Delta::Listed(Vec::new())), 1, "it is deleted");
    }

    /// Seen on a real control plane: the refresh began before the controller created a pod, and ended after the watch had
    /// reported it. What is older than the refresh does not come back.
    #[test]
    fn a_refresh_does_not_hide_what_a_watch_reported_meanwhile() {
        let pods_of = |events: &TargetEvents| {
            let observed = events.iter().filter_map(|(_, event)| match event {
                TargetEvent::Observed { observation, .. } | TargetEvent::Refreshed(observation) => {
                    let pods = observation.pods.iter().flatten();
                    Some(pods.map(|pod| pod.name.clone()).collect::<Vec<_>>())
                }
                _ => None,
            });
            observed.collect::<Vec<_>>()
        };
        let mut cache = read_cache();
        cache.begin_refresh();
        assert_eq!(emitted(&mut cache, PODS, changed(pod("new", "r", 5))).len(), 1);
        assert_eq!(pods_of(&refresh(&mut cache, 3, &[])), [vec![], vec!["new".to_owned()]]);
        cache.begin_refresh();
        assert_eq!(emitted(&mut cache, PODS, changed(pod("new", "r", 6))).len(), 1);
        assert_eq!(pods_of(&refresh(&mut cache, 3, &[("new", 7)])).len(), 1, "the refresh is newer");
        cache.begin_refresh();
        assert_eq!(emitted(&mut cache, PODS, Delta::Removed("n/new".to_owned())).len(), 1);
        assert_eq!(pods_of(&refresh(&mut cache, 3, &[("new", 7)])), [vec!["new".to_owned()], vec![]]);
        // Without a report of the watch, later events change what was refreshed.
        cache.begin_refresh();
        assert_eq!(refresh(&mut cache, 3, &[("a", 8), ("b", 8)]).len(), 1);
        let pods = emitted(&mut cache, PODS, Delta::Removed("n/a".to_owned()));
        assert_eq!(pods, [(0, vec!["b".to_owned()])]);
    }
}
