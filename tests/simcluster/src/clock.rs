//! The clock of a cluster, for timestamps, the `Date` header and the expiry of tokens.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jiff::Timestamp;

/// The clock of a cluster.
#[derive(Clone, Debug)]
pub enum Clock {
    /// The clock of the machine, for a playground.
    System,
    /// Stands still until [`Clock::advance`]. Clones share the time.
    Stepped(Arc<Mutex<Timestamp>>),
    /// Starts at a time and advances with tokio's time, paused or not.
    Tokio {
        /// The time at the creation of the clock.
        start: Timestamp,
        /// Tokio's time at the creation of the clock.
        since: tokio::time::Instant,
    },
}

impl Clock {
    /// Returns a clock that stands still at `start`.
    pub fn stepped(start: Timestamp) -> Self {
        Self::Stepped(Arc::new(Mutex::new(start)))
    }

    /// Returns a clock that begins at `start` and advances with tokio's time.
    pub fn tokio(start: Timestamp) -> Self {
        Self::Tokio { start, since: tokio::time::Instant::now() }
    }

    /// Returns the time.
    pub fn now(&self) -> Timestamp {
        match self {
            Self::System => Timestamp::now(),
            Self::Stepped(hand) => *hand.lock().unwrap_or_else(PoisonError::into_inner),
            Self::Tokio { start, since } => later(*start, since.elapsed()),
        }
    }

    /// Advances a stepped clock. The other clocks ignore it.
    pub fn advance(&self, by: Duration) {
        if let Self::Stepped(hand) = self {
            let mut hand = hand.lock().unwrap_or_else(PoisonError::into_inner);
            *hand = later(*hand, by);
        }
    }
}

/// Returns `time` plus `by`, at most [`Timestamp::MAX`].
pub(crate) fn later(time: Timestamp, by: Duration) -> Timestamp {
    time.checked_add(by).unwrap_or(Timestamp::MAX)
}

/// Returns a time as the API writes it: whole seconds, UTC.
pub fn stamp(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Returns a time as the HTTP header `Date` has it.
pub(crate) fn http_date(time: Timestamp) -> String {
    time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}
