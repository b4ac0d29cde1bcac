//! Sends requests concurrently that do not depend on each other.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use futures_util::stream::{StreamExt, iter};
use tokio::time::timeout;

/// The limit of concurrent requests. The API server queues more than its fair share for one client.
const MOST: usize = 16;

/// How long a command waits for what was read beside it, after it has ended.
const GRACE: Duration = Duration::from_secs(1);

/// Runs futures, at most `MOST` concurrently, and returns their results in the same order.
pub async fn concurrently<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    iter(futures).buffered(MOST).collect().await
}

/// Runs what a command does, and beside it a read that it can do without. Returns nothing read if that takes much longer.
pub async fn beside<A, B: Default>(work: impl Future<Output = A>, read: impl Future<Output = B>) -> (A, B) {
    match select(pin!(work), pin!(read)).await {
        Either::Left((done, read)) => (done, timeout(GRACE, read).await.unwrap_or_default()),
        Either::Right((read, work)) => (work.await, read),
    }
}
