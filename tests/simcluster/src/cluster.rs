//! The handle of a simulated cluster.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use jiff::Timestamp;
use tokio::sync::watch;

use crate::{
    builder::Builder,
    fault::{Fault, FaultAction, Faults},
    journal::{Journal, RecordedRequest},
    request::Route,
    service::{Peer, SimService},
    store::Store,
    users::Users,
};

/// A simulated cluster. A clone is the same cluster.
#[derive(Clone, Debug)]
pub struct SimCluster {
    pub(crate) shared: Arc<Shared>,
}

/// The state that handles, services and watches share.
pub(crate) struct Shared {
    store: Mutex<Store>,
    moved: watch::Sender<u64>,
    faults: Mutex<Faults>,
    journal: Mutex<Journal>,
    users: Mutex<Users>,
    connections: AtomicU64,
}

/// After a panic in a test's closure, the other threads of the test can still use the data.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(crate) fn new(store: Store, users: Users) -> Self {
        let (moved, _) = watch::channel(store.revision());
        Self {
            store: Mutex::new(store),
            moved,
            faults: Mutex::default(),
            journal: Mutex::default(),
            users: Mutex::new(users),
            connections: AtomicU64::new(0),
        }
    }

    /// Changes the store and notifies the watchers if there is a new revision.
    pub(crate) fn write<T>(&self, work: impl FnOnce(&mut Store) -> T) -> T {
        let mut store = lock(&self.store);
        let result = work(&mut store);
        let revision = store.revision();
        drop(store);
        self.moved.send_if_modified(|known| std::mem::replace(known, revision) != revision);
        result
    }

    pub(crate) fn now(&self) -> Timestamp {
        lock(&self.store).now()
    }

    pub(crate) fn moved(&self) -> watch::Receiver<u64> {
        self.moved.subscribe()
    }

    pub(crate) fn strike(&self, route: &Route, continued: bool) -> Vec<FaultAction> {
        lock(&self.faults).strike(route, continued)
    }

    pub(crate) fn record(&self, request: RecordedRequest) -> usize {
        lock(&self.journal).record(request)
    }

    pub(crate) fn record_revisions(&self, number: usize, made: std::ops::Range<u64>) {
        lock(&self.journal).record_revisions(number, made);
    }

    /// Returns the number of a new connection, from 1.
    pub(crate) fn next_connection(&self) -> u64 {
        self.connections.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn users(&self) -> MutexGuard<'_, Users> {
        lock(&self.users)
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("revision", &*self.moved.borrow()).finish_non_exhaustive()
    }
}

impl SimCluster {
    /// Returns the settings of a new cluster.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Returns the cluster as a service, for a client in the same process. Requests without a token are from user
    /// `admin`.
    pub fn service(&self) -> SimService {
        self.service_for("admin")
    }

    /// Returns the cluster as a service for another user.
    pub fn service_for(&self, user: &str) -> SimService {
        SimService::new(Arc::clone(&self.shared), Peer { user: Some(user.to_owned()), ..Peer::default() })
    }

    /// Reads or changes the store. Watchers see the changes.
    ///
    /// The store is locked meanwhile, so `work` must not use the cluster.
    pub fn store<T>(&self, work: impl FnOnce(&mut Store) -> T) -> T {
        self.shared.write(work)
    }

    /// Returns the newest revision, so that a task can wait for changes.
    pub fn revisions(&self) -> watch::Receiver<u64> {
        self.shared.moved()
    }

    /// Adds a fault.
    pub fn fault(&self, fault: Fault) {
        lock(&self.shared.faults).add(fault);
    }

    /// Returns the faults for a number of requests that applied to none.
    pub fn unused_faults(&self) -> Vec<Fault> {
        lock(&self.shared.faults).unused()
    }

    /// Removes all faults.
    pub fn clear_faults(&self) {
        lock(&self.shared.faults).clear();
    }

    /// Reads or changes the users and their tokens.
    pub fn users<T>(&self, work: impl FnOnce(&mut Users) -> T) -> T {
        work(&mut self.shared.users())
    }

    /// Returns every request so far, or since [`SimCluster::forget_requests`].
    pub fn requests(&self) -> Vec<RecordedRequest> {
        lock(&self.shared.journal).requests().to_vec()
    }

    /// Removes all recorded requests.
    pub fn forget_requests(&self) {
        lock(&self.shared.journal).forget();
    }
}
