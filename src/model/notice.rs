//! What the way to the cluster has to tell while a command waits for it.

use std::time::Duration;

/// One thing worth telling. Never a header, a token or a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A read failed in passing and is tried again.
    Retrying {
        /// The server, as `HOST:PORT`.
        server: String,
        /// What went wrong, as a fragment: `503 Service Unavailable`.
        reason: String,
        /// How long we wait before the next try.
        pause: Duration,
    },
    /// The server has not said a word for a while, and we are still waiting.
    Silent {
        /// The server, as `HOST:PORT`.
        server: String,
        /// How long it has been silent.
        since: Duration,
    },
    /// What we follow is out of sight: the server cannot be reached, or does not answer. We go on trying.
    OutOfSight {
        /// The server, as `HOST:PORT`.
        server: String,
        /// What went wrong, as a fragment: `503 Service Unavailable`.
        reason: String,
    },
    /// Something beside the workloads may not be read, and is done without.
    Withheld(Vec<&'static str>),
    /// A credential plugin said something on its stderr.
    PluginSaid(String),
    /// A credential plugin takes its time.
    PluginRunning {
        /// The command.
        command: String,
        /// How long it may take; none when a person is at the other end.
        limit: Option<Duration>,
    },
    /// The server sent a `Warning:` header.
    Warning(String),
    /// One request and how it was answered.
    Exchanged(Exchange),
}

/// One request and how it was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// `GET`.
    pub verb: String,
    /// The whole address, without credentials.
    pub url: String,
    /// `200 OK`, or why there was no answer.
    pub outcome: String,
    /// Until the head of the answer was there.
    pub took: Duration,
}
