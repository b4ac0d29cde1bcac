//! How long we wait for what.

use std::time::Duration;

/// A connection that is not there by then will not come: a packet's round trip around the world takes
/// a third of a second. kubectl waits three times as long.
const CONNECT: Duration = Duration::from_secs(10);

/// An API server that works says something at least this often; its own limit for a request is a minute.
const SILENCE: Duration = Duration::from_secs(30);

/// What fails in passing has passed by then, or is no passing matter: an API server restarts in less.
const WHOLE: Duration = Duration::from_secs(60);

/// Nobody should wait longer without being told what for.
const UNTOLD: Duration = Duration::from_secs(4);

/// A limit that is further ahead is none, and a clock cannot count to all of them.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// How long we wait for what. Without limits of our own a silent server would hold us for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Patience {
    /// For a TCP connection.
    pub(super) connect: Duration,
    /// For the next byte of an answer.
    pub(super) silence: Duration,
    /// For a whole read, its retries included.
    pub(super) whole: Duration,
    /// For a credential plugin that talks to nobody.
    pub(super) plugin: Duration,
    /// Before we say what we are waiting for.
    pub(super) untold: Duration,
}

impl Patience {
    /// Our own limits, or for each of them the one that `--request-timeout` sets.
    pub(super) fn new(request_timeout: Option<Duration>) -> Self {
        let request_timeout = request_timeout.map(|asked| asked.min(LONGEST));
        Self {
            connect: request_timeout.unwrap_or(CONNECT),
            silence: request_timeout.unwrap_or(SILENCE),
            whole: request_timeout.unwrap_or(WHOLE),
            plugin: request_timeout.unwrap_or(WHOLE),
            untold: UNTOLD,
        }
    }
}
