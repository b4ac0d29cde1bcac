//! Sends requests concurrently that do not depend on each other.

use futures_util::stream::{StreamExt, iter};

/// The limit of concurrent requests. The API server queues more than its fair share for one client.
const MOST: usize = 16;

/// Runs futures, at most `MOST` concurrently, and returns their results in the same order.
pub async fn concurrently<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    iter(futures).buffered(MOST).collect().await
}
