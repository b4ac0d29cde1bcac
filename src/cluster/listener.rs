//! The callback that receives notices from this room.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::cluster::notice::Notice;

/// Receives notices as they happen. This room prints nothing, so `command` decides how to show them.
#[derive(Clone)]
pub struct Listener(Arc<dyn Fn(&Notice) + Send + Sync>);

impl Listener {
    /// Creates a listener that calls `handle` with each notice.
    pub fn new(handle: impl Fn(&Notice) + Send + Sync + 'static) -> Self {
        Self(Arc::new(handle))
    }

    pub(super) fn notify(&self, notice: &Notice) {
        (self.0)(notice);
    }

    /// Waits for `work`, and reports a notice when it takes longer than `notice_after`.
    pub(super) async fn notify_if_slow<T>(
        &self,
        notice_after: Duration,
        work: impl Future<Output = T>,
        notice: impl FnOnce() -> Notice,
    ) -> T {
        run_if_slow(notice_after, work, || self.notify(&notice())).await
    }
}

/// Waits for some work, and runs `slow` when it takes longer than `limit`.
pub(super) async fn run_if_slow<T>(limit: Duration, work: impl Future<Output = T>, slow: impl FnOnce()) -> T {
    let mut work = std::pin::pin!(work);
    if let Ok(done) = tokio::time::timeout(limit, &mut work).await {
        return done;
    }
    slow();
    work.await
}

impl fmt::Debug for Listener {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Listener")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tokio::time::sleep;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn only_slow_work_is_reported() {
        let reported = Arc::new(Mutex::new(0));
        let counter = Arc::clone(&reported);
        let listener = Listener::new(move |_| *counter.lock().unwrap() += 1);
        let notice = || Notice::Warning("waiting".to_owned());
        let second = Duration::from_secs(1);
        listener.notify_if_slow(second * 2, sleep(second), notice).await;
        assert_eq!(*reported.lock().unwrap(), 0);
        listener.notify_if_slow(second * 2, sleep(second * 9), notice).await;
        assert_eq!(*reported.lock().unwrap(), 1);
    }
}
