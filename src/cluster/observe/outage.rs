//! Reports an outage in one notice for all reflectors.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::update::ReflectorId;
use crate::cluster::connection::{Connection, RequestError};
use crate::cluster::notice::Notice;

/// A shorter outage is not reported.
const NOTICE_AFTER: Duration = Duration::from_secs(4);

/// Outages within this time of each other are reported once.
const MERGE_WINDOW: Duration = Duration::from_secs(60);

/// The reflectors whose requests fail, and when the outage was reported.
#[derive(Debug)]
pub(super) struct Outage {
    connection: Arc<Connection>,
    state: Mutex<OutageState>,
}

#[derive(Debug, Default)]
struct OutageState {
    failing: BTreeSet<ReflectorId>,
    since: Option<Instant>,
    notified: Option<Instant>,
}

impl Outage {
    pub(super) fn new(connection: Arc<Connection>) -> Self {
        Self { connection, state: Mutex::default() }
    }

    /// Records a failed request of a reflector, and reports the outage when it lasts.
    pub(super) fn record_failure(&self, reflector: ReflectorId, failure: &RequestError) {
        let now = Instant::now();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.failing.insert(reflector);
        let elapsed = now - *state.since.get_or_insert(now);
        let was_notified = state.notified.is_some_and(|notified| now < notified + MERGE_WINDOW);
        if elapsed >= NOTICE_AFTER {
            state.notified = Some(now);
        }
        drop(state);
        if elapsed >= NOTICE_AFTER && !was_notified {
            let (server, reason) = (self.connection.server(), failure.summary());
            self.connection.notify(&Notice::Unreachable { server, reason });
        }
    }

    /// Records a successful request of a reflector.
    pub(super) fn record_success(&self, reflector: ReflectorId) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.failing.remove(&reflector);
        if state.failing.is_empty() {
            state.since = None;
        }
    }
}
