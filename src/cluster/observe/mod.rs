//! Watches workloads, their revisions, their pods and the warnings about them.
//!
//! There is one watch for each resource and namespace, shared by all targets in it. A reflector reopens a
//! watch that ends, from its last resourceVersion or from a new list. The observer emits complete states,
//! so its users need not handle interrupted watches.

mod collections;
mod outage;
mod poll;
mod reflector;
mod refresh;
mod shared;
mod store;
mod target_index;
mod update;
pub mod watch;
mod watched_target;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;

pub use self::collections::{CollectionObserver, CollectionScope};

use self::outage::Outage;
use self::reflector::Reflector;
use self::shared::Shared;
use self::store::Store;
use self::target_index::TargetIndex;
use self::update::{ReflectorId, Update};
use self::watched_target::WatchedTarget;
use super::connection::Connection;
use crate::cluster::notice::Notice;
use crate::model::api::resource_type::{EVENT, POD, ResourceType};
use crate::model::follow::{TargetEvent, TargetId};
use crate::model::kind::Workload;

/// The capacity of the queue of updates. When it is full, the watches wait. The server closes a watch that
/// is too slow, and its reflector reopens it.
const UPDATE_QUEUE: usize = 256;

/// Watches a set of workloads. All watches end when it is dropped.
#[derive(Debug)]
pub struct Observer {
    shared: Arc<Shared>,
    stores: Vec<Store>,
    tasks: JoinSet<()>,
    sender: mpsc::Sender<Update>,
    updates: mpsc::Receiver<Update>,
    /// The resources that were reported as forbidden.
    reported_forbidden: BTreeSet<&'static str>,
}

impl Observer {
    /// Starts to watch workloads with their revisions and pods, from the state in which they were read.
    pub(super) fn new(connection: Arc<Connection>, found: &[Workload]) -> Self {
        let (sender, updates) = mpsc::channel(UPDATE_QUEUE);
        let outage = Outage::new(Arc::clone(&connection));
        let watched =
            found.iter().enumerate().map(|(index, found)| WatchedTarget::of(TargetId(index), found));
        let shared = Arc::new(Shared { connection, targets: TargetIndex::of(watched.collect()), outage });
        let (tasks, reported_forbidden) = (JoinSet::new(), BTreeSet::new());
        let mut observer = Self { shared, stores: Vec::new(), tasks, sender, updates, reported_forbidden };
        observer.start_reflectors(|watched| watched.kind.type_(), found);
        observer.start_reflectors(|watched| watched.kind.revisions().type_(), &[]);
        observer.start_reflectors(|_| &POD, &[]);
        observer
    }

    /// Starts to watch the warnings about the workloads, which most rollouts do not need.
    pub fn watch_warnings(&mut self) {
        self.start_reflectors(|_| &EVENT, &[]);
    }

    /// Starts a refresh of a target. [`Observer::next`] returns its result.
    pub fn refresh(&mut self, target: TargetId) {
        let (shared, sender) = (Arc::clone(&self.shared), self.sender.clone());
        self.tasks.spawn(async move {
            if let Some(watched) = shared.targets.get(target) {
                let event = refresh::refresh(&shared, watched).await;
                let _ = sender.send(Update::Refreshed(target, Box::new(event))).await; // the observer may have been dropped
            }
        });
    }

    /// Returns how long ago the server last answered a read.
    #[must_use]
    pub fn since_answer(&self) -> Duration {
        self.shared.outage.since_answer()
    }

    /// Waits for changes and returns all of them: each state of a workload, since each may print a line, and
    /// the latest state of everything else. Dropping the future loses no change.
    pub async fn next(&mut self) -> Vec<(TargetId, TargetEvent)> {
        let Some(first) = self.updates.recv().await else {
            return Vec::new();
        };
        let mut events = Vec::new();
        self.apply(first, &mut events);
        while let Ok(update) = self.updates.try_recv() {
            self.apply(update, &mut events);
        }
        for store in &mut self.stores {
            store.flush(&mut events);
        }
        self.report_forbidden();
        events
    }

    /// Reports all forbidden resources in one notice, once every reflector has synced.
    fn report_forbidden(&mut self) {
        if !self.stores.iter().all(Store::has_synced) {
            return;
        }
        let before = self.reported_forbidden.len();
        let forbidden = self.stores.iter().filter_map(Store::forbidden_type);
        let new: Vec<_> = forbidden.filter(|type_| self.reported_forbidden.insert(type_)).collect();
        // Events are watched later than pods. One notice about forbidden resources is enough.
        let is_one_more = before > 0 && new == [EVENT.plural()];
        if !new.is_empty() && !is_one_more {
            self.shared.connection.notify(&Notice::Forbidden(new));
        }
    }

    /// Starts one reflector for a type in each namespace that has a target. A reflector of a single workload
    /// starts from its state in `found`.
    fn start_reflectors(&mut self, type_of: fn(&WatchedTarget) -> &'static ResourceType, found: &[Workload]) {
        let watched_targets = self.shared.targets.iter();
        let wanted: Vec<_> =
            watched_targets.map(|watched| (type_of(watched), watched.namespace.clone())).collect();
        let mut begun = BTreeSet::new();
        for (type_, namespace) in wanted {
            if begun.insert((type_.plural(), namespace.clone())) {
                self.start_reflector(type_, &namespace, found);
            }
        }
    }

    fn start_reflector(&mut self, type_: &'static ResourceType, namespace: &str, found: &[Workload]) {
        let id = ReflectorId(self.stores.len());
        let mut reflector = Reflector::new(id, type_, namespace, Arc::clone(&self.shared));
        self.stores.push(Store::new(type_, reflector.targets()));
        if let [target] = reflector.targets()[..]
            && let Some(found) = found.get(target.0)
        {
            reflector.start_from(found, &self.sender);
        }
        let sender = self.sender.clone();
        self.tasks.spawn(reflector.run(sender));
    }

    fn apply(&mut self, update: Update, events: &mut Vec<(TargetId, TargetEvent)>) {
        match update {
            Update::Reflected(ReflectorId(index), delta) => {
                // The verdict on a workload uses the revisions that arrived before it.
                for store in self.stores.iter_mut().filter(|store| store.holds_revisions()) {
                    store.flush(events);
                }
                if let Some(store) = self.stores.get_mut(index) {
                    store.apply(delta, events);
                }
            }
            Update::Refreshed(target, event) => {
                if let TargetEvent::Refreshed(observed) = &*event {
                    for store in &mut self.stores {
                        store.record_refresh(target, &observed.workload);
                    }
                }
                events.push((target, *event));
            }
        }
    }
}
