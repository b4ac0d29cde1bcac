//! Watches workloads, their revisions, their pods and the warnings about them, and reads the logs of their containers.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

use super::facts::{Update, Wanted, all_of, narrow_query};
use super::outage::Outage;
use super::reflector::Reflector;
use super::refresh::Shared;
use super::store::Collection;
use super::targets::{TargetEvents, Targets};
use crate::cluster::connection::Cluster;
use crate::cluster::list::ListQuery;
use crate::cluster::notice::ONE_NOTE;
use crate::error::{Error, ErrorKind};
use crate::model::api::resource_type::{CONTROLLER_REVISION, EVENT, POD, REPLICA_SET, ResourceType};
use crate::model::cause::container_logs::LogRef;
use crate::model::engine::{TargetEvent, TargetId};
use crate::model::finding::{Finding, Reason};
use crate::model::kind::{self, Workload};
use crate::model::text::plural::joined;

/// The capacity of the queue of updates. When it is full, the watches wait. The server closes a watch that
/// is too slow, and its reflector reopens it.
const UPDATE_QUEUE: usize = 256;

/// Up to this many namespaces have watches of their own, which needs no right to read the whole cluster. With four types they
/// stay below the 100 streams of an HTTP/2 connection to kube-apiserver, above which a request waits for the end of a watch.
const MOST_NAMESPACES: usize = 24;

/// At a timeout each container that is not ready is asked for its log. So many requests are sent at one time.
const MAX_LOG_REQUESTS: usize = 16;

/// Watches workloads with their revisions and pods. All watches end when it is dropped.
#[derive(Debug)]
pub struct Observer {
    shared: Arc<Shared>,
    /// The namespace of a scope; none for all, and if the workloads were found.
    namespace: Option<String>,
    pub(super) targets: Targets,
    pub(super) tasks: JoinSet<()>,
    pub(super) sender: mpsc::Sender<Update>,
    updates: mpsc::Receiver<Update>,
    /// How many logs are being read.
    logs: usize,
    /// Lets [`MAX_LOG_REQUESTS`] of them be sent.
    log_room: Arc<Semaphore>,
    watches_warnings: bool,
}

impl Observer {
    /// Starts to watch workloads from the state in which they were found. `first` is the target of the first one, and the
    /// others follow.
    #[must_use]
    pub fn of_found(cluster: Arc<Cluster>, first: TargetId, found: &[Workload]) -> Self {
        let mut observer = Self::new(cluster, Wanted::of_found(found.to_vec()), None);
        observer.targets.first = first;
        observer.start_in_each_namespace(|found| Some(found.kind().type_()));
        for found in found {
            let type_ = found.kind().type_();
            if let Some(collection) = observer.targets.store.index_of(type_, found.object().namespace()) {
                observer.targets.add_target(collection, found.clone(), true);
            }
        }
        observer.start_in_each_namespace(|found| found.kind().revisions().type_());
        observer.start_in_each_namespace(|_| Some(&POD));
        observer
    }

    /// Starts to watch the workloads that queries of one scope select, also those that are created later.
    /// `with_managed_fields` says that they keep their managed fields.
    #[must_use]
    pub fn of_scope(cluster: Arc<Cluster>, workloads: Vec<ListQuery>, with_managed_fields: bool) -> Self {
        let namespace = workloads.first().and_then(|query| query.namespace.clone());
        let mut observer = Self::new(cluster, Wanted::Scope { with_managed_fields }, namespace);
        let kinds: Vec<_> = workloads.iter().filter_map(|query| kind::of_type(query.type_)).collect();
        for query in workloads {
            observer.start(query);
        }
        let stores = [&REPLICA_SET, &CONTROLLER_REVISION].into_iter();
        let stores = stores.filter(|type_| kinds.iter().any(|kind| kind.revisions().type_() == Some(*type_)));
        for type_ in stores.chain([&POD]) {
            observer.start(ListQuery::of(type_, observer.namespace.as_deref()));
        }
        observer
    }

    fn new(cluster: Arc<Cluster>, wanted: Wanted, namespace: Option<String>) -> Self {
        let (sender, updates) = mpsc::channel(UPDATE_QUEUE);
        let outage = Arc::new(Outage::new(Arc::clone(&cluster)));
        let tasks = JoinSet::new();
        let shared = Arc::new(Shared { cluster, wanted, outage });
        Self {
            shared,
            namespace,
            targets: Targets::default(),
            tasks,
            sender,
            updates,
            logs: 0,
            watches_warnings: false,
            log_room: Arc::new(Semaphore::new(MAX_LOG_REQUESTS)),
        }
    }

    /// Starts to watch the warnings about the workloads, which most rollouts do not need, unless they are watched.
    pub fn watch_warnings(&mut self) {
        if std::mem::replace(&mut self.watches_warnings, true) {
            return;
        }
        match self.shared.wanted {
            Wanted::Found(_) => self.start_in_each_namespace(|_| Some(&EVENT)),
            Wanted::Scope { .. } => self.start(ListQuery::events(self.namespace.as_deref())),
        }
    }

    /// Starts a refresh of a target. [`Observer::next`] returns its result.
    pub fn refresh(&mut self, target: TargetId) {
        while self.tasks.try_join_next().is_some() {} // the refreshes that ended
        let (shared, sender) = (Arc::clone(&self.shared), self.sender.clone());
        let first = self.targets.first.index;
        self.tasks.spawn(async move {
            let index = target.index.checked_sub(first);
            if let Some(found) = index.and_then(|index| shared.wanted.found().get(index)) {
                let refresh = shared.refresh(found).await.map(|refresh| refresh.map(Box::new));
                let _ = sender.send(Update::Refreshed(target, refresh)).await; // the observer may have been dropped
            }
        });
    }

    /// Starts to read the last lines of the log of a target's container. [`Observer::next`] returns them.
    pub fn read_log(&mut self, target: TargetId, namespace: &str, log: LogRef) {
        self.logs += 1;
        let (shared, sender, namespace) =
            (Arc::clone(&self.shared), self.sender.clone(), namespace.to_owned());
        let room = Arc::clone(&self.log_room);
        self.tasks.spawn(async move {
            let _turn = room.acquire().await; // an error only if it was closed, which nothing does
            let lines = shared.cluster.log_lines(&namespace, log).await;
            let _ = sender.send(Update::Log(target, lines)).await; // the observer may have been dropped
        });
    }

    /// Whether a log is being read.
    #[must_use]
    pub fn is_reading_logs(&self) -> bool {
        self.logs > 0
    }

    /// Returns how long ago the server last answered a read.
    #[must_use]
    pub fn since_answer(&self) -> Duration {
        self.shared.outage.since_answer()
    }

    /// Waits for changes and logs, and returns all of them: each state of a workload, since each may print a line, and its latest
    /// observation after other changes. The first observation of a workload comes once its revisions and pods
    /// were read, or are forbidden. Dropping the future loses no change.
    pub async fn next(&mut self) -> Vec<(TargetId, TargetEvent)> {
        let mut events = TargetEvents::new();
        let mut updates: Vec<_> = self.updates.recv().await.into_iter().collect();
        while let Ok(update) = self.updates.try_recv() {
            updates.push(update);
        }
        // Reflectors that receive something at the same moment report it in any order. A state of a workload is emitted
        // with the pods and revisions of that moment, and a list may be older than a refresh.
        let store = &self.targets.store;
        updates.sort_by_key(|update| match update {
            Update::Refreshed(target, _) => (2, target.index),
            Update::Log(target, _) => (4, target.index),
            Update::Listed(index, _) if store.holds_workloads(*index) => (1, *index),
            Update::Listed(index, _)
            | Update::Changed { collection: index, .. }
            | Update::Removed(index, _)
            | Update::Unreadable(index, _) => (if store.holds_workloads(*index) { 3 } else { 0 }, *index),
        });
        for update in updates {
            self.logs -= usize::from(matches!(update, Update::Log(..)));
            self.targets.apply(update, &mut events);
        }
        self.report_forbidden();
        self.targets.flush(&mut events);
        events
    }

    /// Whether everything was read once, or cannot be read.
    #[must_use]
    pub fn is_synced(&self) -> bool {
        self.targets.store.collections.iter().all(Collection::has_synced)
    }

    /// Returns the errors of the kinds of a scope that cannot be read, each once.
    pub fn take_errors(&mut self) -> Vec<Error> {
        std::mem::take(&mut self.targets.errors)
    }

    /// Whether no kind of workload can be read.
    #[must_use]
    pub fn can_read_no_kind(&self) -> bool {
        let mut workloads = self.targets.store.collections.iter().filter(|one| one.holds_workloads());
        workloads.all(|collection| collection.failure().is_some())
    }

    /// Reports all forbidden resources in one notice, once every reflector has synced. Events, which are watched later, may
    /// follow without another notice.
    fn report_forbidden(&mut self) {
        if !self.is_synced() {
            return;
        }
        let is_forbidden = |one: &&Collection| {
            one.failure().is_some_and(|error| error.kind() == ErrorKind::NotReadable)
                && !one.holds_workloads()
        };
        let forbidden = self.targets.store.collections.iter().filter(is_forbidden);
        let forbidden: BTreeSet<_> = forbidden.map(|collection| collection.type_.plural).collect();
        if !forbidden.is_empty() {
            let forbidden = joined(&forbidden.into_iter().collect::<Vec<_>>(), "and");
            let text = format!("causes are incomplete: cannot list {forbidden}");
            let note = Finding::note(Reason::Incomplete, text);
            self.shared.cluster.notify_once("forbidden", &note, ONE_NOTE);
        }
    }

    /// Starts one reflector for a type in each namespace of the workloads that were found, or one for the whole cluster. A
    /// reflector of a single workload reads only its objects, and starts from its state.
    fn start_in_each_namespace(&mut self, type_of: fn(&Workload) -> Option<&'static ResourceType>) {
        let shared = Arc::clone(&self.shared);
        let namespaces: BTreeSet<_> =
            shared.wanted.found().iter().map(|found| found.object().namespace()).collect();
        for first in shared.wanted.found() {
            let Some(type_) = type_of(first) else { continue };
            let namespace = first.object().namespace();
            if self.targets.store.index_of(type_, namespace).is_some() {
                continue;
            }
            if namespaces.len() > MOST_NAMESPACES {
                self.start(all_of(type_, None));
                continue;
            }
            let is_here =
                |found: &&Workload| type_of(found) == Some(type_) && found.object().namespace() == namespace;
            let here: Vec<_> = shared.wanted.found().iter().filter(is_here).collect();
            let mut reflector = self.reflector(narrow_query(type_, namespace, &here));
            if let [only] = here[..]
                && kind::of_type(type_).is_some()
            {
                reflector.start_from(only, &self.sender);
            }
            self.tasks.spawn(reflector.run(self.sender.clone()));
        }
    }

    /// Starts a reflector of all objects that a query selects.
    fn start(&mut self, query: ListQuery) {
        let reflector = self.reflector(query);
        self.tasks.spawn(reflector.run(self.sender.clone()));
    }

    fn reflector(&mut self, query: ListQuery) -> Reflector {
        let index = self.targets.store.add(query.type_, query.namespace.as_deref());
        Reflector::new(index, query, Arc::clone(&self.shared))
    }
}
