//! Notices about requests: retries, slow responses, warnings and credential plugins; and their words.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::model::text::plural::joined;

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

impl Notice {
    /// Returns the notice as one line.
    #[must_use]
    pub fn line(&self) -> String {
        match self {
            Self::Retrying { server, reason, pause } => {
                format!("note: {server}: {reason}; retrying in {}", seconds(*pause))
            }
            Self::SlowResponse { server, since } => {
                format!("note: {server}: no answer for {}; still waiting", seconds(*since))
            }
            Self::ReadsFail { server, resource, reason } => {
                format!("note: {server}: cannot read {resource}: {reason}; trying again")
            }
            Self::ReadsWorkAgain { server, lasted } => {
                format!("note: {server}: reads work again, after {}", seconds(*lasted))
            }
            Self::Forbidden(what) => {
                format!("note: causes are incomplete: cannot list {}", joined(what, "and"))
            }
            Self::PluginOutput(line) => line.clone(),
            Self::PluginRunning { command, limit } => {
                let limit = limit.map_or_else(String::new, |limit| format!(" up to {}", seconds(limit)));
                format!("note: waiting{limit} for the credential plugin {command}")
            }
            Self::CredentialsWithheld { server, is_loopback } => {
                let flag = if *is_loopback { ", or add --insecure-loopback-credentials" } else { "" };
                format!(
                    "warning: no credentials are sent to http://{server}, because plain HTTP is not encrypted; \
                     write the server as https://HOST:PORT{flag}"
                )
            }
            Self::Warning(text) => format!("Warning: {text}"),
            Self::Exchange(Exchange { verb, url, outcome, took, round_trip }) => {
                let took = took.as_millis();
                format!("{verb} {url} {outcome} in {took} milliseconds (round trip {round_trip})")
            }
        }
    }
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

/// Receives notices as they happen. This room prints nothing, so `command` decides how to show them.
#[derive(Clone)]
pub struct Listener(Arc<dyn Fn(&Notice) + Send + Sync>);

impl Listener {
    /// Creates a listener that calls `handle` with each notice.
    pub fn new(handle: impl Fn(&Notice) + Send + Sync + 'static) -> Self {
        Self(Arc::new(handle))
    }

    pub(super) fn notify(&self, notice: &Notice) {
        (self.0)(notice);
    }
}

/// Waits for some work, and runs `slow` when it takes longer than `limit`.
pub(super) async fn run_if_slow<T>(limit: Duration, work: impl Future<Output = T>, slow: impl FnOnce()) -> T {
    let mut work = std::pin::pin!(work);
    if let Ok(done) = tokio::time::timeout(limit, &mut work).await {
        return done;
    }
    slow();
    work.await
}

impl fmt::Debug for Listener {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Listener")
    }
}

/// Formats seconds, with one decimal below ten.
fn seconds(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds >= 10.0 || duration.subsec_millis() == 0 {
        format!("{seconds:.0}s")
    } else {
        format!("{seconds:.1}s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::line::Line;
    use tokio::time::sleep;

    #[tokio::test(start_paused = true)]
    async fn only_slow_work_is_reported() {
        let (second, mut reported) = (Duration::from_secs(1), 0);
        run_if_slow(second * 2, sleep(second), || reported += 1).await;
        assert_eq!(reported, 0);
        run_if_slow(second * 2, sleep(second * 9), || reported += 1).await;
        assert_eq!(reported, 1);
    }

    #[test]
    fn every_notice_is_one_line() {
        let server = || "10.0.0.1:6443".to_owned();
        let ms = Duration::from_millis;
        for (notice, words) in [
            (
                Notice::Retrying {
                    server: server(),
                    reason: "503 Service\nUnavailable".into(),
                    pause: ms(1_240),
                },
                "note: 10.0.0.1:6443: 503 Service\\nUnavailable; retrying in 1.2s",
            ),
            (
                Notice::SlowResponse { server: server(), since: ms(5_000) },
                "note: 10.0.0.1:6443: no answer for 5s; still waiting",
            ),
            (
                Notice::ReadsFail {
                    server: server(),
                    resource: "deployments",
                    reason: "502 Bad Gateway".into(),
                },
                "note: 10.0.0.1:6443: cannot read deployments: 502 Bad Gateway; trying again",
            ),
            (
                Notice::ReadsWorkAgain { server: server(), lasted: ms(42_000) },
                "note: 10.0.0.1:6443: reads work again, after 42s",
            ),
            (
                Notice::Forbidden(vec!["pods", "events"]),
                "note: causes are incomplete: cannot list pods and events",
            ),
            (
                Notice::PluginRunning { command: "aws".into(), limit: Some(ms(60_000)) },
                "note: waiting up to 60s for the credential plugin aws",
            ),
            (
                Notice::PluginRunning { command: "aws".into(), limit: None },
                "note: waiting for the credential plugin aws",
            ),
            (
                Notice::CredentialsWithheld { server: "h:80".into(), is_loopback: false },
                "warning: no credentials are sent to http://h:80, because plain HTTP is not encrypted; \
                 write the server as https://HOST:PORT",
            ),
            (
                Notice::CredentialsWithheld { server: "[::1]:80".into(), is_loopback: true },
                "warning: no credentials are sent to http://[::1]:80, because plain HTTP is not encrypted; \
                 write the server as https://HOST:PORT, or add --insecure-loopback-credentials",
            ),
            (Notice::Warning("old\u{1b}[31m".into()), "Warning: old^[[31m"),
            (
                Notice::Exchange(Exchange {
                    verb: "GET".into(),
                    url: "https://h/api".into(),
                    outcome: "200 OK".into(),
                    took: ms(12),
                    round_trip: 2,
                }),
                "GET https://h/api 200 OK in 12 milliseconds (round trip 2)",
            ),
        ] {
            assert_eq!(Line::of(notice.line()).text(), words, "as `MessageWriter::note` prints it");
        }
    }
}
