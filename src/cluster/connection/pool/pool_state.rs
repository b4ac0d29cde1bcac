//! The open connections of a pool, by protocol, and its failures to open one.

use std::error::Error as StdError;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Mutex as AsyncMutex, Semaphore};
use tower::BoxError;

use super::http_connection::{Http1, Http2, HttpConnection};
use super::pool_error::PoolError;

/// The number of concurrent requests over HTTP/1.1, and so of connections. Watches are not counted.
pub(super) const MAX_HTTP1_REQUESTS: usize = 4;

/// What the clones of a pool share.
pub(super) struct PoolShared {
    state: Mutex<PoolState>,
    /// Locked while the first connection is opened.
    pub(super) opening: AsyncMutex<()>,
    /// One permit for each request over HTTP/1.1.
    pub(super) http1_exchanges: Arc<Semaphore>,
}

#[derive(Default)]
struct PoolState {
    protocol: Protocol,
    /// The number of connections that could not be opened, and the last error.
    failures: u64,
    last_failure: Option<Arc<dyn StdError + Send + Sync>>,
}

#[derive(Default)]
enum Protocol {
    #[default]
    Unknown,
    /// The idle connections.
    Http1(Vec<Http1>),
    /// One connection, or more where the server lets it carry fewer streams than we have watches.
    Http2(Vec<Http2>),
}

impl Default for PoolShared {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            opening: AsyncMutex::new(()),
            http1_exchanges: Arc::new(Semaphore::new(MAX_HTTP1_REQUESTS)),
        }
    }
}

impl PoolShared {
    fn state(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns an HTTP/2 connection that accepts another request, if there is one.
    pub(super) fn http2(&self) -> Option<Http2> {
        let mut state = self.state();
        let Protocol::Http2(connections) = &mut state.protocol else {
            return None;
        };
        connections.retain(|connection| !connection.is_closed());
        let free = connections.iter().find(|connection| connection.has_room()).cloned();
        if connections.is_empty() {
            state.protocol = Protocol::Unknown;
        }
        free
    }

    pub(super) fn speaks_http1(&self) -> bool {
        matches!(self.state().protocol, Protocol::Http1(_))
    }

    /// Returns an idle HTTP/1.1 connection that the server has not closed.
    pub(super) async fn idle(&self) -> Option<Http1> {
        loop {
            let mut connection = match &mut self.state().protocol {
                Protocol::Http1(idle) => idle.pop()?,
                Protocol::Http2(_) | Protocol::Unknown => return None,
            };
            if connection.is_usable().await {
                return Some(connection);
            }
        }
    }

    pub(super) fn adopt(&self, opened: HttpConnection) {
        let mut state = self.state();
        match (opened, &mut state.protocol) {
            (HttpConnection::Http1(connection), Protocol::Http1(idle)) => idle.push(connection),
            (HttpConnection::Http1(connection), Protocol::Unknown) => {
                state.protocol = Protocol::Http1(vec![connection]);
            }
            (HttpConnection::Http1(_), Protocol::Http2(_)) => {} // the server began to negotiate HTTP/2
            (HttpConnection::Http2(connection), Protocol::Http2(connections)) => connections.push(connection),
            (HttpConnection::Http2(connection), protocol) => *protocol = Protocol::Http2(vec![connection]),
        }
    }

    /// Returns the number of connections that could not be opened.
    pub(super) fn failures(&self) -> u64 {
        self.state().failures
    }

    pub(super) fn record_failure(&self, error: BoxError) -> PoolError {
        let failure: Arc<dyn StdError + Send + Sync> = Arc::from(error);
        let mut state = self.state();
        state.failures += 1;
        state.last_failure = Some(Arc::clone(&failure));
        PoolError::Connect(failure)
    }

    pub(super) fn failure_after(&self, failures: u64) -> Option<Arc<dyn StdError + Send + Sync>> {
        let state = self.state();
        state.last_failure.clone().filter(|_| state.failures > failures)
    }
}
