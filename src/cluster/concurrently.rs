//! Sends requests concurrently that do not depend on each other.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

/// The limit of concurrent requests. The API server queues more than its fair share for one client.
const MOST: usize = 16;

/// Runs futures, at most `MOST` concurrently, and returns their results in the same order.
pub async fn concurrently<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    at_most(MOST, futures).await
}

/// Runs futures, at most `limit` concurrently, and returns their results in the same order. The crate `futures` has
/// `join_all` and `buffered` for this.
pub async fn at_most<F: Future>(limit: usize, futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut waiting: Vec<_> = futures.into_iter().map(|future| (Some(Box::pin(future)), None)).collect();
    poll_fn(|context| {
        let mut pending = 0;
        for (future, output) in &mut waiting {
            let Some(running) = future else { continue };
            if pending == limit {
                break;
            }
            match Pin::as_mut(running).poll(context) {
                Poll::Ready(done) => (*future, *output) = (None, Some(done)),
                Poll::Pending => pending += 1,
            }
        }
        if pending == 0 { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    waiting.into_iter().filter_map(|(_, output)| output).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::{Instant, sleep};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn futures_run_concurrently_and_keep_their_order() {
        let after = async |seconds| {
            sleep(Duration::from_secs(seconds)).await;
            seconds
        };
        let begun = Instant::now();
        assert_eq!(concurrently([3, 1, 2].map(after)).await, [3, 1, 2]);
        assert_eq!(begun.elapsed().as_secs(), 3);
        assert_eq!(concurrently([1; MOST * 2 + 1].map(after)).await, [1; MOST * 2 + 1]);
        assert_eq!(begun.elapsed().as_secs(), 3 + 3);
        assert_eq!(concurrently([0; 0].map(after)).await, [0; 0]);
    }
}
