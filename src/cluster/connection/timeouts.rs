//! The time limits of a connection.

use std::time::Duration;

/// The limit for a TCP connection. A round trip around the world takes 0.3s; kubectl waits 30s.
const CONNECT: Duration = Duration::from_secs(10);

/// The longest silence of the server within a response.
const READ: Duration = Duration::from_secs(30);

/// The limit for a read with its retries. An API server restarts in less time.
const REQUEST: Duration = Duration::from_secs(60);

/// The user sees a notice after waiting this long.
const NOTICE_AFTER: Duration = Duration::from_secs(4);

/// The upper bound of `--request-timeout`; a larger one would overflow the clock.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The time limits of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Timeouts {
    /// For a TCP connection.
    pub(super) connect: Duration,
    /// For the next byte of a response.
    pub(super) read: Duration,
    /// For a complete read, including its retries.
    pub(super) request: Duration,
    /// For a credential plugin that does not prompt the user.
    pub(super) plugin: Duration,
    /// Before a notice about a slow response.
    pub(super) notice_after: Duration,
}

impl Timeouts {
    /// Returns the default limits, or `request_timeout` for each of them but the notice.
    pub(super) fn new(request_timeout: Option<Duration>) -> Self {
        let request_timeout = request_timeout.map(|asked| asked.min(LONGEST));
        Self {
            connect: request_timeout.unwrap_or(CONNECT),
            read: request_timeout.unwrap_or(READ),
            request: request_timeout.unwrap_or(REQUEST),
            plugin: request_timeout.unwrap_or(REQUEST),
            notice_after: NOTICE_AFTER,
        }
    }
}
