//! The time of an event.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

/// One moment, on both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// The time since the follower started, from a monotonic clock. All waiting is measured by it.
    pub elapsed: Duration,
    /// The API server's time of day. It is only compared with timestamps in objects.
    pub server_time: Timestamp,
}

impl Now {
    /// Returns the time of day in whole seconds, as the API server writes timestamps.
    #[must_use]
    pub fn stamp(&self) -> String {
        Timestamp::from_second(self.server_time.as_second()).unwrap_or(self.server_time).to_string()
    }
}
