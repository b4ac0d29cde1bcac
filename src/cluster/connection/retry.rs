//! How long a request may take, and the pauses before a read is sent again. Writes are never retried.
//!
//! The backoff doubles, and half of each pause is random, so that clients do not retry in step when a
//! server comes back.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::request_error::RequestError;

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

const FIRST_PAUSE: Duration = Duration::from_millis(400);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// The pauses of one connection: a sequence of random numbers.
#[derive(Debug)]
pub(in crate::cluster) struct Backoff(AtomicU64);

impl Backoff {
    /// Starts a sequence that differs from that of every other process. The standard library seeds each hasher from the
    /// system, so no crate for random numbers is needed.
    pub(super) fn random() -> Self {
        Self::seeded(RandomState::new().hash_one(0))
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

    /// Returns the pause before the next attempt, after `tries` failed ones, the last with `failure`.
    pub(in crate::cluster) fn after(&self, tries: u32, failure: &RequestError) -> Duration {
        backoff(tries, failure.retry_delay().unwrap_or_default(), self.jitter())
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
    use http::header::RETRY_AFTER;
    use http::{HeaderMap, HeaderValue, StatusCode};

    use super::*;
    use crate::cluster::connection::message::ApiResponse;
    use crate::cluster::connection::request_error::NoResponse;
    use crate::error::{Error, ErrorKind};

    const MINUTE: Duration = Duration::from_secs(60);

    fn broken() -> RequestError {
        NoResponse::after_sending("reset", Error::new(ErrorKind::Unreachable, "reset")).transient().into()
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
        let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from(30))]);
        let response = ApiResponse::new(StatusCode::TOO_MANY_REQUESTS, headers, Vec::new());
        assert!(Backoff::random().after(0, &RequestError::Status(response)) >= Duration::from_secs(30));
    }

    #[tokio::test(start_paused = true)]
    async fn transient_failures_are_retried_until_the_deadline() {
        let (begun, mut pauses, backoff) = (Instant::now(), Vec::new(), Backoff::random());
        while let Some(pause) =
            backoff.before_retry(pauses.len().try_into().unwrap(), &broken(), begun + MINUTE)
        {
            tokio::time::sleep(pause).await;
            pauses.push(pause);
        }
        assert!(pauses[0] <= FIRST_PAUSE && pauses[1] >= FIRST_PAUSE, "{pauses:?}");
        let waited: Duration = pauses.iter().sum();
        assert_eq!(begun.elapsed().as_secs(), waited.as_secs());
        assert!(waited < MINUTE && waited + LONGEST_PAUSE >= MINUTE, "{waited:?}");
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
        let failure = NoResponse::without_connection("refused", refused).into();
        assert_eq!(Backoff::random().before_retry(0, &failure, Instant::now() + MINUTE), None);
    }
}
