//! How long failed reads are repeated; and one notice that reads fail, and another that they work again.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::cluster::connection::{Connection, RequestError};
use crate::cluster::notice::Notice;
use crate::model::api::resource_type::ResourceType;
use crate::model::engine::TargetId;

/// A shorter outage is not reported.
const NOTICE_AFTER: Duration = Duration::from_secs(5);

/// Outages within this time of each other are reported once.
const MERGE_WINDOW: Duration = Duration::from_secs(60);

/// What reads from the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ReaderId {
    /// The lists and watches of the reflector with this index.
    Reflector(usize),
    /// The refreshes of a target.
    Refresh(TargetId),
}

/// The readers whose requests fail, and whether that was reported.
#[derive(Debug)]
pub(super) struct Outage {
    connection: Arc<Connection>,
    state: Mutex<OutageState>,
}

#[derive(Debug)]
struct OutageState {
    /// The readers whose last request failed.
    failing: BTreeSet<ReaderId>,
    /// Since when at least one reader fails.
    since: Option<Instant>,
    /// When the last failure of a reported outage was recorded.
    notified: Option<Instant>,
    /// Whether the end of the outage is to be reported.
    is_reported: bool,
    /// When the server last answered a request with what it was asked for.
    answered: Instant,
}

impl Outage {
    pub(super) fn new(connection: Arc<Connection>) -> Self {
        let state = OutageState {
            failing: BTreeSet::new(),
            since: None,
            notified: None,
            is_reported: false,
            answered: Instant::now(),
        };
        Self { connection, state: Mutex::new(state) }
    }

    /// Records a failed request of a reader of this resource, and reports the outage when it lasts.
    pub(super) fn record_failure(&self, reader: ReaderId, resource: &'static str, failure: &RequestError) {
        let now = Instant::now();
        let mut state = self.state();
        state.failing.insert(reader);
        if now - *state.since.get_or_insert(now) < NOTICE_AFTER {
            return;
        }
        let was_notified = state.notified.is_some_and(|notified| now < notified + MERGE_WINDOW);
        state.notified = Some(now);
        if !was_notified {
            state.is_reported = true;
            drop(state);
            let (server, reason) = (self.connection.server(), failure.summary());
            self.connection.notify(&Notice::ReadsFail { server, resource, reason });
        }
    }

    /// Records a successful request of a reader, and reports the end of an outage that was reported.
    pub(super) fn record_success(&self, reader: ReaderId) {
        let lasted = self.remove(reader);
        self.state().answered = Instant::now();
        if let Some(lasted) = lasted {
            self.connection.notify(&Notice::ReadsWorkAgain { server: self.connection.server(), lasted });
        }
    }

    /// Records that a reader gave up.
    pub(super) fn forget(&self, reader: ReaderId) {
        let _ = self.remove(reader); // nothing works again
    }

    /// Removes a reader from the failing ones. Returns how long the outage lasted, if it is over and was reported.
    fn remove(&self, reader: ReaderId) -> Option<Duration> {
        let mut state = self.state();
        state.failing.remove(&reader);
        if !state.failing.is_empty() {
            return None;
        }
        let since = state.since.take();
        since.filter(|_| std::mem::take(&mut state.is_reported)).map(|since| since.elapsed())
    }

    /// Returns how long ago the server last answered a request with what it was asked for.
    pub(super) fn since_answer(&self) -> Duration {
        self.state().answered.elapsed()
    }

    fn state(&self) -> MutexGuard<'_, OutageState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A 401 or 403 is final after this long. A server that just started, or whose authenticator fails, may
/// refuse requests for a while.
const REFUSAL_GRACE: Duration = Duration::from_secs(30);

/// The attempts of a reader to read a resource.
#[derive(Debug)]
pub(super) struct Attempts {
    reader: ReaderId,
    resource: &'static str,
    /// How many failed since the last success.
    failed: u32,
    /// Since when all of them were refused.
    refused_since: Option<Instant>,
}

impl Attempts {
    pub(super) fn new(reader: ReaderId, type_: &ResourceType) -> Self {
        Self { reader, resource: type_.plural(), failed: 0, refused_since: None }
    }

    /// Records a success.
    pub(super) fn succeed(&mut self, outage: &Outage) {
        outage.record_success(self.reader);
        (self.failed, self.refused_since) = (0, None);
    }

    /// Records that the attempt that `begun` failed, and waits before the next one.
    ///
    /// # Errors
    /// The failure, if it is final: as the caller says, or because the server has refused for [`REFUSAL_GRACE`].
    pub(super) async fn fail(
        &mut self,
        begun: Instant,
        failure: RequestError,
        is_final: bool,
        outage: &Outage,
    ) -> Result<(), RequestError> {
        self.refused_since = failure.is_refused().then(|| self.refused_since.unwrap_or(begun));
        if is_final || self.refused_since.is_some_and(|since| since.elapsed() >= REFUSAL_GRACE) {
            self.refused_since = None;
            return Err(failure);
        }
        outage.record_failure(self.reader, self.resource, &failure);
        sleep(outage.connection.backoff.after(self.failed, &failure)).await;
        self.failed += 1;
        Ok(())
    }
}
