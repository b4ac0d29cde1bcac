//! Retries failed reads, and reports an outage at its start, once a minute, and at its end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::cluster::connection::{Cluster, RequestError};
use crate::cluster::notice::{NOTICE_AFTER, OUTAGE_NOTE_INTERVAL, seconds};
use crate::model::api::resource_type::ResourceType;
use crate::model::finding::{Finding, Reason};

/// How many readers fail, and whether that was reported.
#[derive(Debug)]
pub(super) struct Outage {
    cluster: Arc<Cluster>,
    state: Mutex<OutageState>,
}

#[derive(Debug)]
struct OutageState {
    /// The number of readers whose last request failed.
    failing: usize,
    /// When an outage was last reported.
    notified: Option<Instant>,
    /// Whether the end of the outage is to be reported.
    is_reported: bool,
    /// When the server last answered a request with what it was asked for.
    answered: Instant,
}

impl Outage {
    pub(super) fn new(cluster: Arc<Cluster>) -> Self {
        let state = OutageState { failing: 0, notified: None, is_reported: false, answered: Instant::now() };
        Self { cluster, state: Mutex::new(state) }
    }

    /// Records that a reader fails no more, or gave up. Returns whether this ends an outage that was reported.
    fn end_failure(&self) -> bool {
        let mut state = self.state();
        state.failing = state.failing.saturating_sub(1);
        state.failing == 0 && std::mem::take(&mut state.is_reported)
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
    resource: &'static str,
    outage: Arc<Outage>,
    /// How many failed since the last success.
    failed: u32,
    /// When the first attempt and the last one failed since the last answer.
    failures: Option<(Instant, Instant)>,
    /// Since when all of them were refused.
    refused_since: Option<Instant>,
}

impl Attempts {
    pub(super) fn new(type_: &ResourceType, outage: &Arc<Outage>) -> Self {
        let (resource, outage) = (type_.plural, Arc::clone(outage));
        Self { resource, outage, failed: 0, failures: None, refused_since: None }
    }

    /// Records an answer of the server, after which the attempt can still fail. Reports the end of an outage that was
    /// reported.
    pub(super) fn record_answer(&mut self) {
        self.outage.state().answered = Instant::now();
        if let Some((first, last)) = self.failures.take()
            && self.outage.end_failure()
        {
            // The pause before this attempt is no part of the outage.
            let (cluster, lasted) = (&self.outage.cluster, seconds(last - first));
            let text = format!("reads work again, after failing for {lasted}");
            cluster.notify(&Finding::note(Reason::Recovered, text).about(cluster.server()));
        }
    }

    /// Records a success.
    pub(super) fn succeed(&mut self) {
        self.record_answer();
        (self.failed, self.refused_since) = (0, None);
    }

    /// Records that there is no further attempt.
    pub(super) fn give_up(&mut self) {
        if self.failures.take().is_some() {
            self.outage.end_failure(); // nothing works again
        }
    }

    /// Records that an attempt failed, and waits before the next one.
    ///
    /// # Errors
    /// The failure, if it is final: as the caller says, or because the server has refused for [`REFUSAL_GRACE`].
    pub(super) async fn fail(&mut self, failure: RequestError, is_final: bool) -> Result<(), RequestError> {
        // From the end of the first attempt: a credential plugin alone may take a minute.
        self.refused_since = failure.is_refused().then(|| self.refused_since.unwrap_or_else(Instant::now));
        if is_final || self.refused_since.is_some_and(|since| since.elapsed() >= REFUSAL_GRACE) {
            self.refused_since = None;
            return Err(failure);
        }
        self.record_failure(&failure);
        sleep(self.outage.cluster.backoff.after(self.failed, &failure)).await;
        self.failed += 1;
        Ok(())
    }

    /// Records that the server gave no answer, and reports the outage when it lasts, or will because of a `Retry-After`.
    fn record_failure(&mut self, failure: &RequestError) {
        let (now, mut state) = (Instant::now(), self.outage.state());
        state.failing += usize::from(self.failures.is_none());
        let first = self.failures.map_or(now, |(first, _)| first);
        self.failures = Some((first, now));
        let lasted = now - first;
        if lasted + failure.retry_delay().unwrap_or_default().min(NOTICE_AFTER) < NOTICE_AFTER {
            return;
        }
        if state.notified.is_none_or(|notified| now >= notified + OUTAGE_NOTE_INTERVAL) {
            (state.notified, state.is_reported) = (Some(now), true);
            drop(state);
            let (cluster, resource) = (&self.outage.cluster, self.resource);
            let text = format!("cannot read {resource}: {}; trying again", cluster.explain(failure));
            cluster.notify(&Finding::note(Reason::Retrying, text));
        }
    }
}
