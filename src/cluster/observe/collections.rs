//! Watches everything of some types in one namespace or in all, whatever workload it belongs to.
//!
//! There is one watch for each type. New workloads appear without a new search.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::outage::Outage;
use super::reflector::Reflector;
use super::shared::Shared;
use super::target_index::TargetIndex;
use super::update::{Delta, ParsedObject, ReflectorId, StoredObject, Update};
use crate::cluster::connection::Connection;
use crate::cluster::notice::Notice;
use crate::cluster::page::{label_query, warning_query};
use crate::error::Error;
use crate::model::api::event::Events;
use crate::model::api::pod::Pod;
use crate::model::api::resource_type::{CONTROLLER_REVISION, EVENT, POD, REPLICA_SET, ResourceType};
use crate::model::api::selector::Selector;
use crate::model::kind::{self, Kind, Workload};
use crate::model::observation::Observation;
use crate::model::revision::{Revision, Revisions};

/// The capacity of the queue of updates. When it is full, the watches wait.
const UPDATE_QUEUE: usize = 256;

/// Which workloads to watch.
#[derive(Clone, Debug)]
pub struct CollectionScope {
    /// The kinds.
    pub kinds: Vec<&'static dyn Kind>,
    /// The namespace; none for all.
    pub namespace: Option<String>,
    /// The label selector of the workloads.
    pub selector: Selector,
    /// Whether to keep the managed fields of the workloads.
    pub keeps_managed_fields: bool,
}

/// Watches the workloads of a scope with their revisions and pods. All watches end when it is dropped.
#[derive(Debug)]
pub struct CollectionObserver {
    scope: CollectionScope,
    shared: Arc<Shared>,
    collections: Vec<Collection>,
    tasks: JoinSet<()>,
    sender: mpsc::Sender<Update>,
    updates: mpsc::Receiver<Update>,
    has_reported: bool,
}

/// The objects of one type.
#[derive(Debug)]
struct Collection {
    type_: &'static ResourceType,
    objects: BTreeMap<String, StoredObject>,
    reading: Reading,
}

/// Whether the objects of a type could be read.
#[derive(Debug)]
enum Reading {
    /// The first list has not arrived.
    Pending,
    /// They were listed, and are watched.
    Synced,
    /// RBAC forbids it.
    Forbidden,
    /// The workloads cannot be read. The error was taken or not.
    Lost(Option<Error>),
}

impl CollectionObserver {
    pub(in crate::cluster) fn new(connection: Arc<Connection>, scope: CollectionScope) -> Self {
        let (sender, updates) = mpsc::channel(UPDATE_QUEUE);
        let outage = Outage::new(Arc::clone(&connection));
        let shared = Arc::new(Shared { connection, targets: TargetIndex::of(Vec::new()), outage });
        let (collections, tasks) = (Vec::new(), JoinSet::new());
        let mut observer = Self { scope, shared, collections, tasks, sender, updates, has_reported: false };
        let selector = label_query(&observer.scope.selector.to_query());
        let kinds = observer.scope.kinds.clone();
        for kind in &kinds {
            observer.start(kind.type_(), selector.clone());
        }
        for type_ in [&REPLICA_SET, &CONTROLLER_REVISION] {
            if kinds.iter().any(|kind| kind.revisions().type_() == type_) {
                observer.start(type_, String::new());
            }
        }
        observer.start(&POD, String::new());
        observer
    }

    /// Starts to watch warning events, and returns whether they were not watched yet. Complete rollouts do not need
    /// them.
    pub fn watch_warnings(&mut self) -> bool {
        let is_new = !self.collections.iter().any(|collection| collection.type_ == &EVENT);
        if is_new {
            self.start(&EVENT, warning_query());
        }
        is_new
    }

    fn start(&mut self, type_: &'static ResourceType, query: String) {
        let id = ReflectorId(self.collections.len());
        let namespace = self.scope.namespace.as_deref();
        let keeps_managed_fields = self.scope.keeps_managed_fields && kind::of_type(type_).is_some();
        let shared = Arc::clone(&self.shared);
        let reflector = Reflector::of_all(id, type_, namespace, query, keeps_managed_fields, shared);
        self.collections.push(Collection { type_, objects: BTreeMap::new(), reading: Reading::Pending });
        self.tasks.spawn(reflector.run(self.sender.clone()));
    }

    /// Waits for changes and applies all that have arrived. Dropping the future loses no change.
    pub async fn next(&mut self) {
        let Some(first) = self.updates.recv().await else { return };
        self.apply(first);
        while let Ok(update) = self.updates.try_recv() {
            self.apply(update);
        }
        self.report_forbidden();
    }

    /// Whether everything was read once, or cannot be read.
    #[must_use]
    pub fn is_synced(&self) -> bool {
        self.collections.iter().all(|collection| !matches!(collection.reading, Reading::Pending))
    }

    /// Returns the errors of workloads that cannot be read, each once.
    pub fn take_errors(&mut self) -> Vec<Error> {
        let collections = self.collections.iter_mut();
        let errors = collections.filter_map(|collection| match &mut collection.reading {
            Reading::Lost(error) => error.take(),
            Reading::Pending | Reading::Synced | Reading::Forbidden => None,
        });
        errors.collect()
    }

    /// Whether no kind of workload can be read.
    #[must_use]
    pub fn can_read_no_kind(&self) -> bool {
        let mut workloads = self.collections.iter().filter(|collection| collection.holds_workloads());
        workloads.all(|collection| matches!(collection.reading, Reading::Lost(_)))
    }

    /// Returns the observation of every workload.
    #[must_use]
    pub fn observations(&self) -> Vec<Observation> {
        let mut revisions = HashMap::<&str, Vec<&Arc<Revision>>>::new();
        let mut pods = HashMap::<&str, Vec<&Arc<Pod>>>::new();
        let mut workloads = Vec::new();
        for stored in self.collections.iter().flat_map(|collection| collection.objects.values()) {
            match &stored.parsed {
                ParsedObject::Workload(workload) => workloads.push(workload),
                ParsedObject::Revision(revision) => {
                    revisions.entry(&revision.owner_uid).or_default().push(revision);
                }
                ParsedObject::Pod(pod) => pods.entry(&pod.owner_uid).or_default().push(pod),
                ParsedObject::Event(_) | ParsedObject::Seen => {}
            }
        }
        let (events, has_pods) = (self.events(), self.can_read(&POD));
        let observe = |workload: &Workload| {
            let uid = workload.object().uid();
            let own: Vec<_> = revisions.get(uid).into_iter().flatten().map(|one| Arc::clone(one)).collect();
            let owners = own.iter().map(|revision| revision.uid.as_str()).chain([uid]);
            let own_pods = owners.filter_map(|owner| pods.get(owner)).flatten().map(|pod| Arc::clone(pod));
            let own_pods = has_pods.then(|| own_pods.collect());
            let revisions = Revisions::among(workload, own);
            Observation { workload: workload.clone(), revisions, pods: own_pods, events: events.clone() }
        };
        workloads.into_iter().map(|workload| observe(workload)).collect()
    }

    /// Returns the warning events; none if they are not watched or not readable.
    fn events(&self) -> Option<Events> {
        let collection = self.collections.iter().find(|collection| collection.type_ == &EVENT)?;
        let events = collection.objects.values().filter_map(|stored| match &stored.parsed {
            ParsedObject::Event(event) => Some((**event).clone()),
            _ => None,
        });
        matches!(collection.reading, Reading::Synced).then(|| Events::of(events))
    }

    fn can_read(&self, type_: &ResourceType) -> bool {
        let mut collections = self.collections.iter().filter(|collection| collection.type_ == type_);
        collections.any(|collection| matches!(collection.reading, Reading::Synced))
    }

    /// Reports all forbidden types in one notice, once everything is synced.
    fn report_forbidden(&mut self) {
        let is_forbidden = |collection: &&Collection| matches!(collection.reading, Reading::Forbidden);
        let forbidden: Vec<_> = self
            .collections
            .iter()
            .filter(is_forbidden)
            .map(|collection| collection.type_.plural())
            .collect();
        if self.is_synced() && !forbidden.is_empty() && !self.has_reported {
            self.has_reported = true;
            self.shared.connection.notify(&Notice::Forbidden(forbidden));
        }
    }

    fn apply(&mut self, update: Update) {
        let Update::Reflected(ReflectorId(index), delta) = update else { return };
        let Some(collection) = self.collections.get_mut(index) else { return };
        match delta {
            Delta::Listed(all) => {
                collection.reading = Reading::Synced;
                collection.objects = all.into_iter().map(|stored| (stored.name.clone(), stored)).collect();
            }
            Delta::Changed(stored) => {
                collection.objects.insert(stored.name.clone(), *stored);
            }
            Delta::Removed(name) => {
                collection.objects.remove(&name);
            }
            Delta::Forbidden => collection.reading = Reading::Forbidden,
            Delta::Lost(error) => {
                collection.objects.clear();
                collection.reading = Reading::Lost(Some(error));
            }
        }
    }
}

impl Collection {
    fn holds_workloads(&self) -> bool {
        kind::of_type(self.type_).is_some()
    }
}
