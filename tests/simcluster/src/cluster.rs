//! The cluster a test holds in its hand.

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

/// A simulated cluster; a clone is the same cluster.
#[derive(Clone, Debug)]
pub struct SimCluster {
    pub(crate) shared: Arc<Shared>,
}

/// What the cluster's handles, services and watches share.
pub(crate) struct Shared {
    store: Mutex<Store>,
    moved: watch::Sender<u64>,
    faults: Mutex<Faults>,
    journal: Mutex<Journal>,
    users: Mutex<Users>,
    connections: AtomicU64,
}

/// A panic in a test's closure leaves the data usable for the other threads of that test.
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

    /// Works on the store and tells the watchers if it moved.
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

    pub(crate) fn note(&self, number: usize, made: std::ops::Range<u64>) {
        lock(&self.journal).note(number, made);
    }

    /// The number of a new connection, from 1.
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
    /// Begins a cluster.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The cluster as a service, for a client in the same process. It is user `admin` unless a request carries a token.
    #[must_use]
    pub fn service(&self) -> SimService {
        self.service_for("admin")
    }

    /// The same, in the name of another user.
    #[must_use]
    pub fn service_for(&self, user: &str) -> SimService {
        SimService::new(Arc::clone(&self.shared), Peer { user: Some(user.to_owned()), ..Peer::default() })
    }

    /// Works on the store; watchers see what it wrote.
    ///
    /// The store is locked meanwhile: `work` must not use the cluster, only the store it is given.
    pub fn store<T>(&self, work: impl FnOnce(&mut Store) -> T) -> T {
        self.shared.write(work)
    }

    /// The newest revision, to wait for changes with.
    #[must_use]
    pub fn revisions(&self) -> watch::Receiver<u64> {
        self.shared.moved()
    }

    /// Adds a fault.
    pub fn fault(&self, fault: Fault) {
        lock(&self.shared.faults).add(fault);
    }

    /// Takes all faults back.
    pub fn clear_faults(&self) {
        lock(&self.shared.faults).clear();
    }

    /// Works on the users and their tokens.
    pub fn users<T>(&self, work: impl FnOnce(&mut Users) -> T) -> T {
        work(&mut self.shared.users())
    }

    /// Every request so far, or since [`SimCluster::forget_requests`].
    #[must_use]
    pub fn requests(&self) -> Vec<RecordedRequest> {
        lock(&self.shared.journal).requests().to_vec()
    }

    /// Empties the record of requests.
    pub fn forget_requests(&self) {
        lock(&self.shared.journal).forget();
    }
}
