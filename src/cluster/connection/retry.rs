//! Reads that failed in passing are tried again; writes never are.
//!
//! Doubling pauses, half of each left to chance, so that a thousand clients of a server that comes back
//! do not come back together.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::failure::Failure;

const FIRST_PAUSE: Duration = Duration::from_millis(400);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// Tries until it works, fails for good, or `deadline` would pass in the next pause.
///
/// `tell` hears of every failure that is followed by another try, and how long we wait before it.
///
/// # Errors
/// The last failure.
pub(super) async fn until<T>(
    deadline: Instant,
    mut attempt: impl AsyncFnMut() -> Result<T, Failure>,
    mut tell: impl FnMut(&Failure, Duration),
) -> Result<T, Failure> {
    let mut tries = 0;
    loop {
        let failure = match attempt().await {
            Ok(done) => return Ok(done),
            Err(failure) => failure,
        };
        let Some(asked_for) = failure.passes_after() else {
            return Err(failure);
        };
        let pause = pause(tries, asked_for, chance());
        if pause >= deadline.saturating_duration_since(Instant::now()) {
            return Err(failure);
        }
        tell(&failure, pause);
        sleep(pause).await;
        tries += 1;
    }
}

/// The pause after so many tries that failed in passing, the last one like this.
pub(in crate::cluster) fn pause_after(tries: u32, failure: &Failure) -> Duration {
    pause(tries, failure.passes_after().unwrap_or_default(), chance())
}

/// The pause after so many tries; `chance` is between 0 and 1. A server that said when to come back
/// (`Retry-After`) is not asked earlier.
fn pause(tries: u32, asked_for: Duration, chance: f64) -> Duration {
    let doubled = FIRST_PAUSE.saturating_mul(1 << tries.min(16)).min(LONGEST_PAUSE);
    asked_for.saturating_add(doubled.mul_f64(0.5 + chance / 2.0))
}

/// A number between 0 and 1, nobody knows which. The standard library seeds every hasher with
/// randomness of the system; for this a crate of random numbers would be too much.
fn chance() -> f64 {
    f64::from(u32::try_from(RandomState::new().hash_one(0) >> 32).unwrap_or_default()) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use http::header::RETRY_AFTER;
    use http::{HeaderMap, HeaderValue, StatusCode};

    use super::*;
    use crate::cluster::connection::answer::Answer;
    use crate::cluster::connection::fault::Fault;

    const MINUTE: Duration = Duration::from_secs(60);

    fn broken() -> Failure {
        Failure::Fault(Fault::Broken("connection reset".to_owned()))
    }

    #[test]
    fn pauses_double_up_to_a_limit_and_half_of_each_is_chance() {
        let milliseconds = |tries, chance| pause(tries, Duration::ZERO, chance).as_millis();
        assert_eq!([0, 1, 2, 9].map(|tries| milliseconds(tries, 1.0)), [400, 800, 1_600, 8_000]);
        assert_eq!([0, 1, 2, u32::MAX].map(|tries| milliseconds(tries, 0.0)), [200, 400, 800, 4_000]);
        assert!(pause(0, Duration::from_secs(7), 0.0) >= Duration::from_secs(7));
        assert_eq!(pause(1, Duration::MAX, 1.0), Duration::MAX);
        let chances: Vec<_> = (0..100).map(|_| chance()).collect();
        assert!(chances.iter().all(|chance| (0.0..=1.0).contains(chance)));
        assert!(chances.windows(2).any(|pair| pair[0] < pair[1]));
    }

    #[tokio::test(start_paused = true)]
    async fn what_passes_is_tried_again_and_told() {
        let (mut left, mut told) = (3, 0);
        let deadline = Instant::now() + MINUTE;
        let attempt = async || {
            left -= 1;
            if left == 0 { Ok("done") } else { Err(broken()) }
        };
        let done = until(deadline, attempt, |_, _| told += 1).await;
        assert_eq!((done.ok(), told), (Some("done"), 2));
    }

    #[tokio::test(start_paused = true)]
    async fn it_ends_before_the_deadline() {
        let begun = Instant::now();
        let mut waited = Duration::ZERO;
        let done: Result<(), _> =
            until(begun + MINUTE, async || Err(broken()), |_, pause| waited += pause).await;
        assert!(done.is_err());
        assert_eq!(begun.elapsed().as_secs(), waited.as_secs());
        assert!(waited < MINUTE && waited + LONGEST_PAUSE >= MINUTE, "{waited:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_may_ask_for_more_time_than_there_is() {
        let mut tries = 0;
        let attempt = async || {
            tries += 1;
            let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from(u64::MAX))]);
            Err(Failure::Refused(Answer::new(StatusCode::SERVICE_UNAVAILABLE, headers, Vec::new())))
        };
        let done: Result<(), _> = until(Instant::now() + MINUTE, attempt, |_, _| ()).await;
        assert!(done.is_err());
        assert_eq!(tries, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn what_does_not_pass_is_not_tried_again() {
        let mut tries = 0;
        let deadline = Instant::now() + MINUTE;
        let attempt = async || {
            tries += 1;
            Err(Failure::Fault(Fault::Refused))
        };
        let done: Result<(), _> = until(deadline, attempt, |_, _| panic!("nothing to tell")).await;
        assert!(done.is_err());
        assert_eq!(tries, 1);
    }
}
