//! One line for an outage, however many watches it hits.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::fact::FeedId;
use crate::cluster::connection::{Connection, Failure};
use crate::model::notice::Notice;

/// What is over sooner is not worth a word.
const UNTOLD: Duration = Duration::from_secs(4);

/// Outages that follow each other more closely are one.
const SAME: Duration = Duration::from_secs(60);

/// Which feeds are cut off, and what was said of it.
#[derive(Debug)]
pub(super) struct Outage {
    connection: Arc<Connection>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    cut_off: BTreeSet<FeedId>,
    since: Option<Instant>,
    told: Option<Instant>,
}

impl Outage {
    pub(super) fn new(connection: Arc<Connection>) -> Self {
        Self { connection, state: Mutex::default() }
    }

    /// A feed is cut off, still or for the first time.
    pub(super) fn goes_on(&self, feed: FeedId, failure: &Failure) {
        let now = Instant::now();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.cut_off.insert(feed);
        let lasts = now - *state.since.get_or_insert(now);
        let was_told = state.told.is_some_and(|told| now < told + SAME);
        if lasts >= UNTOLD {
            state.told = Some(now);
        }
        drop(state);
        if lasts >= UNTOLD && !was_told {
            let (server, reason) = (self.connection.server(), failure.in_short());
            self.connection.tell(&Notice::OutOfSight { server, reason });
        }
    }

    /// A feed hears from the server again.
    pub(super) fn is_over(&self, feed: FeedId) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.cut_off.remove(&feed);
        if state.cut_off.is_empty() {
            state.since = None;
        }
    }
}
