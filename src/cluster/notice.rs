//! Notices about requests: retries, slow responses, warnings and credential plugins.

use std::fmt;
use std::sync::Arc;
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

    /// Waits for `work`, and reports a notice when it takes longer than `notice_after`.
    pub(super) async fn notify_if_slow<T>(
        &self,
        notice_after: Duration,
        work: impl Future<Output = T>,
        notice: impl FnOnce() -> Notice,
    ) -> T {
        run_if_slow(notice_after, work, || self.notify(&notice())).await
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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tokio::time::sleep;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn only_slow_work_is_reported() {
        let reported = Arc::new(Mutex::new(0));
        let counter = Arc::clone(&reported);
        let listener = Listener::new(move |_| *counter.lock().unwrap() += 1);
        let notice = || Notice::Warning("waiting".to_owned());
        let second = Duration::from_secs(1);
        listener.notify_if_slow(second * 2, sleep(second), notice).await;
        assert_eq!(*reported.lock().unwrap(), 0);
        listener.notify_if_slow(second * 2, sleep(second * 9), notice).await;
        assert_eq!(*reported.lock().unwrap(), 1);
    }
}
