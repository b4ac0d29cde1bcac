//! Retries of reads after transient failures. Writes are never retried.
//!
//! The backoff doubles, and half of each pause is random, so that clients do not retry in step when a
//! server comes back.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::request_error::RequestError;

const FIRST_PAUSE: Duration = Duration::from_millis(400);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// Calls `attempt` until it succeeds, fails permanently, or the next pause would pass `deadline`.
///
/// Calls `on_retry` with each failure that is retried, and with the pause before the retry.
///
/// # Errors
/// The last failure.
pub(super) async fn retry_until<T>(
    deadline: Instant,
    mut attempt: impl AsyncFnMut() -> Result<T, RequestError>,
    mut on_retry: impl FnMut(&RequestError, Duration),
) -> Result<T, RequestError> {
    let mut tries = 0;
    loop {
        let failure = match attempt().await {
            Ok(done) => return Ok(done),
            Err(failure) => failure,
        };
        let Some(server_delay) = failure.retry_delay() else {
            return Err(failure);
        };
        let pause = backoff(tries, server_delay, jitter());
        if pause >= deadline.saturating_duration_since(Instant::now()) {
            return Err(failure);
        }
        on_retry(&failure, pause);
        sleep(pause).await;
        tries += 1;
    }
}

/// Returns the pause before the next attempt, after `tries` failed ones, the last with `failure`.
pub(in crate::cluster) fn backoff_after(tries: u32, failure: &RequestError) -> Duration {
    backoff(tries, failure.retry_delay().unwrap_or_default(), jitter())
}

/// Returns the pause after `tries` failed attempts; `jitter` is between 0 and 1. The pause is never
/// shorter than the server's `Retry-After`.
fn backoff(tries: u32, server_delay: Duration, jitter: f64) -> Duration {
    let doubled = FIRST_PAUSE.saturating_mul(1 << tries.min(16)).min(LONGEST_PAUSE);
    server_delay.saturating_add(doubled.mul_f64(0.5 + jitter / 2.0))
}

/// Returns a random number between 0 and 1. The standard library seeds each hasher from the system, so no
/// crate for random numbers is needed.
fn jitter() -> f64 {
    f64::from(u32::try_from(RandomState::new().hash_one(0) >> 32).unwrap_or_default()) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use http::header::RETRY_AFTER;
    use http::{HeaderMap, HeaderValue, StatusCode};

    use super::*;
    use crate::cluster::connection::response::ApiResponse;
    use crate::cluster::connection::transport_error::TransportError;

    const MINUTE: Duration = Duration::from_secs(60);

    fn broken() -> RequestError {
        RequestError::Transport(TransportError::ConnectionBroken("connection reset".to_owned()))
    }

    #[test]
    fn pauses_double_up_to_a_limit_and_half_of_each_is_random() {
        let milliseconds = |tries, jitter| backoff(tries, Duration::ZERO, jitter).as_millis();
        assert_eq!([0, 1, 2, 9].map(|tries| milliseconds(tries, 1.0)), [400, 800, 1_600, 8_000]);
        assert_eq!([0, 1, 2, u32::MAX].map(|tries| milliseconds(tries, 0.0)), [200, 400, 800, 4_000]);
        assert!(backoff(0, Duration::from_secs(7), 0.0) >= Duration::from_secs(7));
        assert_eq!(backoff(1, Duration::MAX, 1.0), Duration::MAX);
        let values: Vec<_> = (0..100).map(|_| jitter()).collect();
        assert!(values.iter().all(|jitter| (0.0..=1.0).contains(jitter)));
        assert!(values.windows(2).any(|pair| pair[0] < pair[1]));
    }

    #[tokio::test(start_paused = true)]
    async fn transient_failures_are_retried_and_reported() {
        let (mut left, mut pauses) = (3, Vec::new());
        let deadline = Instant::now() + MINUTE;
        let attempt = async || {
            left -= 1;
            if left == 0 { Ok("done") } else { Err(broken()) }
        };
        let done = retry_until(deadline, attempt, |_, pause| pauses.push(pause)).await;
        assert_eq!((done.ok(), pauses.len()), (Some("done"), 2));
        assert!(pauses[0] <= FIRST_PAUSE && pauses[1] >= FIRST_PAUSE, "{pauses:?}");
    }

    #[test]
    fn a_pause_is_never_shorter_than_retry_after() {
        let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from(30))]);
        let response = ApiResponse::new(StatusCode::TOO_MANY_REQUESTS, headers, Vec::new());
        assert!(backoff_after(0, &RequestError::Status(response)) >= Duration::from_secs(30));
    }

    #[tokio::test(start_paused = true)]
    async fn retries_end_before_the_deadline() {
        let begun = Instant::now();
        let mut waited = Duration::ZERO;
        let done: Result<(), _> =
            retry_until(begun + MINUTE, async || Err(broken()), |_, pause| waited += pause).await;
        assert!(done.is_err());
        assert_eq!(begun.elapsed().as_secs(), waited.as_secs());
        assert!(waited < MINUTE && waited + LONGEST_PAUSE >= MINUTE, "{waited:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_retry_after_beyond_the_deadline_ends_the_retries() {
        let mut tries = 0;
        let attempt = async || {
            tries += 1;
            let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from(u64::MAX))]);
            Err(RequestError::Status(ApiResponse::new(StatusCode::SERVICE_UNAVAILABLE, headers, Vec::new())))
        };
        let done: Result<(), _> = retry_until(Instant::now() + MINUTE, attempt, |_, _| ()).await;
        assert!(done.is_err());
        assert_eq!(tries, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn permanent_failures_are_not_retried() {
        let mut tries = 0;
        let deadline = Instant::now() + MINUTE;
        let attempt = async || {
            tries += 1;
            Err(RequestError::Transport(TransportError::ConnectionRefused))
        };
        let done: Result<(), _> = retry_until(deadline, attempt, |_, _| panic!("no retry expected")).await;
        assert!(done.is_err());
        assert_eq!(tries, 1);
    }
}
