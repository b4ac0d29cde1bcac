//! Fails a test whose command does not end.
//!
//! With a paused clock a command that waits for ever runs for ever, and a limit of tokio's clock passes at once. So the
//! limit is one of real time, in a thread of its own.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;
use std::time::{Duration, Instant};

/// How long one command may run. The longest one takes half a minute on a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(300);

/// Awaits a future, and panics if it takes longer than a limit of real time. `what` describes it.
pub(crate) async fn limited<F: Future>(limit: Duration, what: &str, future: F) -> F::Output {
    let begun = Instant::now();
    let waker: Arc<Mutex<Option<Waker>>> = Arc::default();
    let watched = Arc::clone(&waker);
    let (_running, ended) = channel::<()>();
    std::thread::spawn(move || {
        if ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout)
            && let Some(waker) = watched.lock().unwrap_or_else(PoisonError::into_inner).take()
        {
            waker.wake();
        }
    });
    let mut future = pin!(future);
    poll_fn(|context| {
        assert!(begun.elapsed() < limit, "{what} still runs after {limit:?} of real time");
        *waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(context.waker().clone());
        future.as_mut().poll(context)
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(50);

    #[tokio::test]
    #[should_panic(expected = "a wait still runs after 50ms")]
    async fn a_future_that_is_never_woken_fails() {
        limited(SHORT, "a wait", std::future::pending::<()>()).await;
    }

    #[tokio::test(start_paused = true)]
    #[should_panic(expected = "a loop still runs after 50ms")]
    async fn a_loop_on_a_paused_clock_fails() {
        let endless = async {
            loop {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        };
        limited(SHORT, "a loop", endless).await;
    }
}
