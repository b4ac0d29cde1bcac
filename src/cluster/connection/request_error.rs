//! Why a request failed, how long one may take, and the pauses before a read is sent again. Writes are never retried.
//!
//! The backoff doubles, and half of each pause is random, so that clients do not retry in step when a
//! server comes back.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http::StatusCode;
use tokio::time::Instant;

use super::message::ApiResponse;
use crate::error::Error;
use crate::world::random;

/// Why a request failed.
#[derive(Clone, Debug)]
pub(crate) enum RequestError {
    /// Nothing was sent: there is no credential, or it cannot be used.
    NotSent(Error),
    /// Nothing was sent: there is no connection to the server.
    NotConnected(Error),
    /// The connection was lost, or the response did not arrive in time. The server may have handled the request, and a
    /// further attempt may succeed at once.
    Lost(Error),
    /// The server may have handled the request, but there is no response that can be used.
    Unusable(Error),
    /// The server sent a response other than the expected one.
    Status(ApiResponse),
}

impl RequestError {
    /// Whether the server responded with 403.
    pub(crate) fn is_forbidden(&self) -> bool {
        self.has_status(StatusCode::FORBIDDEN)
    }

    /// Whether the server responded with 401 or 403, or no credential could be obtained.
    pub(crate) fn is_refused(&self) -> bool {
        matches!(self, Self::NotSent(_)) || self.is_forbidden() || self.has_status(StatusCode::UNAUTHORIZED)
    }

    /// Whether the server may have refused the resourceVersion. A server that is overloaded or refuses the user says nothing of
    /// it.
    pub(crate) fn may_concern_version(&self) -> bool {
        let overload = [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE];
        let is_other = self.is_refused() || overload.into_iter().any(|status| self.has_status(status));
        matches!(self, Self::Status(_)) && !is_other
    }

    /// Whether the requested resourceVersion or continue token has expired (410).
    pub(crate) fn is_expired(&self) -> bool {
        self.has_status(StatusCode::GONE)
    }

    /// Whether the server responded with this status.
    pub(crate) fn has_status(&self, status: StatusCode) -> bool {
        matches!(self, Self::Status(response) if response.status == status)
    }

    /// Returns the minimum delay before a retry; none when a retry cannot help.
    ///
    /// A refused connection is not retried: it mostly means a wrong address, and the user should learn that
    /// at once. A 500 is retried only when the server sends `Retry-After`.
    pub(in crate::cluster) fn retry_delay(&self) -> Option<Duration> {
        match self {
            Self::NotSent(_) | Self::NotConnected(_) | Self::Unusable(_) => None,
            Self::Lost(_) => Some(Duration::ZERO),
            Self::Status(response) => match response.status {
                StatusCode::TOO_MANY_REQUESTS
                | StatusCode::BAD_GATEWAY
                | StatusCode::SERVICE_UNAVAILABLE
                | StatusCode::GATEWAY_TIMEOUT => Some(response.retry_after().unwrap_or_default()),
                StatusCode::INTERNAL_SERVER_ERROR => response.retry_after(),
                _ => None,
            },
        }
    }
}

/// The last failure of an attempt that runs once at a time. The requests that waited for it fail with it, instead of
/// trying one after another. A later request tries again.
#[derive(Debug)]
pub(in crate::cluster) struct SharedFailure<E>(Mutex<Option<(Instant, E)>>);

impl<E> Default for SharedFailure<E> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<E: Clone> SharedFailure<E> {
    /// Returns the failure of an attempt that ended after a request `asked` for its result.
    pub(in crate::cluster) fn since(&self, asked: Instant) -> Option<E> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().filter(|(at, _)| *at >= asked).map(|(_, failure)| failure.clone())
    }

    /// Records that the attempt failed now.
    pub(in crate::cluster) fn record(&self, failure: &E) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), failure.clone()));
    }
}

/// The limit for a TCP connection. A round trip around the world takes 0.3s; kubectl waits 30s.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// The longest silence of the server within a response.
const READ_LIMIT: Duration = Duration::from_secs(30);

/// The limit for a read with its retries. An API server restarts in less time.
const REQUEST_LIMIT: Duration = Duration::from_secs(60);

/// The upper bound of `--request-timeout`; a larger one would overflow the clock.
const LONGEST_LIMIT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The time limits of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Timeouts {
    /// For a TCP connection.
    pub(super) connect: Duration,
    /// For the next byte of a response.
    pub(super) read: Duration,
    /// For a complete read, including its retries, and for a credential plugin that does not prompt the user.
    pub(super) request: Duration,
}

impl Timeouts {
    /// Returns the default limits, or `request_timeout` for each of them.
    pub(super) fn new(request_timeout: Option<Duration>) -> Self {
        let request_timeout = request_timeout.map(|asked| asked.min(LONGEST_LIMIT));
        Self {
            connect: request_timeout.unwrap_or(CONNECT_LIMIT),
            read: request_timeout.unwrap_or(READ_LIMIT),
            request: request_timeout.unwrap_or(REQUEST_LIMIT),
        }
    }
}

const FIRST_PAUSE: Duration = Duration::from_millis(400);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// The longest `Retry-After` that a read without a deadline obeys.
const LONGEST_DELAY: Duration = Duration::from_secs(60);

/// The pauses of one connection: a sequence of random numbers.
#[derive(Debug)]
pub(in crate::cluster) struct Backoff(AtomicU64);

impl Backoff {
    /// Starts a sequence that differs from that of every other process.
    pub(super) fn random() -> Self {
        Self::seeded(random())
    }

    /// Starts the sequence of a seed, so that a test can repeat a run.
    pub(super) fn seeded(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    /// Returns the pause before a retry, after `tries` retries and `failure`; none if the failure is permanent, or the
    /// pause would pass `deadline`.
    pub(super) fn before_retry(
        &self,
        tries: u32,
        failure: &RequestError,
        deadline: Instant,
    ) -> Option<Duration> {
        let pause = backoff(tries, failure.retry_delay()?, self.jitter());
        (pause < deadline.saturating_duration_since(Instant::now())).then_some(pause)
    }

    /// Returns the pause before the next attempt of a read without a deadline, after `tries` failed ones, the last with
    /// `failure`. A server that asks for a pause of hours is asked again after a minute.
    pub(in crate::cluster) fn after(&self, tries: u32, failure: &RequestError) -> Duration {
        let delay = failure.retry_delay().unwrap_or_default().min(LONGEST_DELAY);
        backoff(tries, delay, self.jitter())
    }

    /// Returns the pause before a command repeats what failed `tries` times before.
    pub(super) fn pause(&self, tries: u32) -> Duration {
        backoff(tries, Duration::ZERO, self.jitter())
    }

    /// Returns the next number between 0 and 1 (`SplitMix64`).
    fn jitter(&self) -> f64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let state = self.0.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        f64::from(u32::try_from((mixed ^ (mixed >> 31)) >> 32).unwrap_or_default()) / f64::from(u32::MAX)
    }
}

/// Returns the pause after `tries` failed attempts; `jitter` is between 0 and 1. The pause is never
/// shorter than the server's `Retry-After`.
fn backoff(tries: u32, server_delay: Duration, jitter: f64) -> Duration {
    let doubled = FIRST_PAUSE.saturating_mul(1 << tries.min(16)).min(LONGEST_PAUSE);
    server_delay.saturating_add(doubled.mul_f64(0.5 + jitter / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::connection::message::ApiResponse;
    use crate::error::{Error, ErrorKind};
    use http::header::RETRY_AFTER;
    use http::{HeaderMap, HeaderValue, StatusCode};

    const MINUTE: Duration = Duration::from_secs(60);

    fn broken() -> RequestError {
        RequestError::Lost(Error::new(ErrorKind::Unreachable, "reset"))
    }

    #[test]
    fn pauses_double_up_to_a_limit_and_half_of_each_is_random() {
        let milliseconds = |tries, jitter| backoff(tries, Duration::ZERO, jitter).as_millis();
        assert_eq!([0, 1, 2, 9].map(|tries| milliseconds(tries, 1.0)), [400, 800, 1_600, 8_000]);
        assert_eq!([0, 1, 2, u32::MAX].map(|tries| milliseconds(tries, 0.0)), [200, 400, 800, 4_000]);
        assert!(backoff(0, Duration::from_secs(7), 0.0) >= Duration::from_secs(7));
        assert_eq!(backoff(1, Duration::MAX, 1.0), Duration::MAX);
        let values = |backoff: Backoff| (0..100).map(|_| backoff.jitter()).collect::<Vec<_>>();
        let random = values(Backoff::random());
        assert!(random.iter().all(|jitter| (0.0..=1.0).contains(jitter)));
        assert!(random.windows(2).any(|pair| pair[0] < pair[1]));
        assert_ne!(random, values(Backoff::random()));
        assert_eq!(values(Backoff::seeded(7)), values(Backoff::seeded(7)));
    }

    #[test]
    fn a_pause_is_never_shorter_than_retry_after() {
        let pause = |seconds: u64| {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from(seconds))]);
            let response = ApiResponse::new(StatusCode::TOO_MANY_REQUESTS, headers, Vec::new());
            Backoff::random().after(0, &RequestError::Status(response))
        };
        assert!(pause(30) >= Duration::from_secs(30));
        assert!(pause(u64::MAX) <= LONGEST_DELAY + FIRST_PAUSE);
    }

    #[tokio::test(start_paused = true)]
    async fn transient_failures_are_retried_until_the_deadline() {
        let (begun, mut pauses, backoff) = (Instant::now(), Vec::new(), Backoff::seeded(7));
        while let Some(pause) =
            backoff.before_retry(pauses.len().try_into().unwrap(), &broken(), begun + MINUTE)
        {
            tokio::time::sleep(pause).await;
            pauses.push(pause);
        }
        assert!(pauses[0] <= FIRST_PAUSE && pauses[1] >= FIRST_PAUSE, "{pauses:?}");
        // tokio rounds each pause up to a whole millisecond.
        let (waited, elapsed): (Duration, _) = (pauses.iter().sum(), begun.elapsed());
        assert!(waited <= elapsed && elapsed < waited + Duration::from_millis(20), "{waited:?} {elapsed:?}");
        assert!(elapsed < MINUTE && elapsed + LONGEST_PAUSE >= MINUTE, "{elapsed:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_retry_after_beyond_the_deadline_ends_the_retries() {
        let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from(u64::MAX))]);
        let response = ApiResponse::new(StatusCode::SERVICE_UNAVAILABLE, headers, Vec::new());
        let failure = RequestError::Status(response);
        assert_eq!(Backoff::random().before_retry(0, &failure, Instant::now() + MINUTE), None);
    }

    #[tokio::test(start_paused = true)]
    async fn permanent_failures_are_not_retried() {
        let refused = Error::new(ErrorKind::Unreachable, "refused");
        let failure = RequestError::NotConnected(refused);
        assert_eq!(Backoff::random().before_retry(0, &failure, Instant::now() + MINUTE), None);
    }
}
