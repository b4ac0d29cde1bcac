//! Notices about requests: retries, slow responses, warnings and credential plugins.

use std::time::Duration;

/// A notice for the user. It never contains a header, a token or a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A read failed and is retried.
    Retrying {
        /// The server, as `HOST:PORT`.
        server: String,
        /// The failure, as a fragment: `503 Service Unavailable`.
        reason: String,
        /// The pause before the retry.
        pause: Duration,
    },
    /// The server has not responded yet.
    SlowResponse {
        /// The server, as `HOST:PORT`.
        server: String,
        /// How long the request has waited.
        since: Duration,
    },
    /// Reads fail. They are retried.
    ReadsFail {
        /// The server, as `HOST:PORT`.
        server: String,
        /// What cannot be read: `deployments`.
        resource: &'static str,
        /// The failure, as a fragment: `503 Service Unavailable`.
        reason: String,
    },
    /// Reads work again, after [`Notice::ReadsFail`].
    ReadsWorkAgain {
        /// The server, as `HOST:PORT`.
        server: String,
        /// How long they failed.
        lasted: Duration,
    },
    /// RBAC forbids reading these resources. The command continues without them.
    Forbidden(Vec<&'static str>),
    /// A credential plugin wrote a line to its stderr.
    PluginOutput(String),
    /// A credential plugin is still running.
    PluginRunning {
        /// The command.
        command: String,
        /// Its time limit; none when it can prompt the user.
        limit: Option<Duration>,
    },
    /// The server is reached over plain HTTP, so it gets no credential and no plugin is run.
    CredentialsWithheld {
        /// The server, as `HOST:PORT`.
        server: String,
        /// Whether it is this machine, without a proxy on the way.
        is_loopback: bool,
    },
    /// The server sent a `Warning:` header.
    Warning(String),
    /// A request and its result, for `-v=6`.
    Exchange(Exchange),
}

/// A request and its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// `GET`.
    pub verb: String,
    /// The full URL, without credentials.
    pub url: String,
    /// `200 OK`, or why there was no response.
    pub outcome: String,
    /// The time until the response headers arrived.
    pub took: Duration,
    /// The number of sequential round trips so far, including this one.
    pub round_trip: u32,
}
