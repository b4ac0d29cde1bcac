//! Runs requests concurrently.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use futures_util::stream::{StreamExt, iter};
use tokio::time::timeout;

/// The limit of concurrent requests. The API server queues more than its fair share for one client.
const MAX_CONCURRENT: usize = 16;

/// How long a command that has ended waits for an optional read.
const OPTIONAL_READ_GRACE: Duration = Duration::from_secs(1);

/// Runs futures, at most `MAX_CONCURRENT` concurrently, and returns their results in the same order.
pub async fn concurrently<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    iter(futures).buffered(MAX_CONCURRENT).collect().await
}

/// Runs a command and a read that it can do without. Abandons the read 1 s after the command ends.
pub async fn with_optional_read<A, B: Default>(
    work: impl Future<Output = A>,
    read: impl Future<Output = B>,
) -> (A, B) {
    match select(pin!(work), pin!(read)).await {
        Either::Left((done, read)) => (done, timeout(OPTIONAL_READ_GRACE, read).await.unwrap_or_default()),
        Either::Right((read, work)) => (work.await, read),
    }
}
