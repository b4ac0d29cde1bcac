//! Requests that do not depend on each other, sent together.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

/// Requests at a time. API servers give every client its share, and let the rest wait.
const MOST: usize = 16;

/// Waits for all of them, `MOST` at a time; what each came to, in the order given. The crate futures has
/// this as `join_all` and `buffered`.
pub async fn concurrently<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut waiting: Vec<_> = futures.into_iter().map(|future| (Some(Box::pin(future)), None)).collect();
    poll_fn(|context| {
        let mut pending = 0;
        for (future, output) in &mut waiting {
            let Some(running) = future else { continue };
            if pending == MOST {
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
    async fn they_run_side_by_side_and_keep_their_order() {
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
