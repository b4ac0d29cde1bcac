//! Notices for the user while a command waits: retries, slow responses, warnings and credential plugins.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::model::finding::Finding;

/// Receives notices as they happen. None contains a header, a token or a body. This room prints nothing, so `command` decides
/// how to show them.
#[derive(Clone)]
pub struct Listener(Arc<dyn Fn(&Finding) + Send + Sync>);

impl Listener {
    /// Creates a listener that calls `handle` with each notice.
    pub fn new(handle: impl Fn(&Finding) + Send + Sync + 'static) -> Self {
        Self(Arc::new(handle))
    }

    pub(super) fn notify(&self, notice: &Finding) {
        (self.0)(notice);
    }
}

/// The user sees a notice after waiting this long: for one answer, or during an outage.
pub(super) const NOTICE_AFTER: Duration = Duration::from_secs(4);

/// The time between two notes of an outage, or of several, while a command follows.
pub(super) const OUTAGE_NOTE_INTERVAL: Duration = Duration::from_secs(60);

/// For how long a notice is not repeated that appears once: longer than any command runs.
pub(super) const ONE_NOTE: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Waits for some work, and runs `slow` when it takes longer than [`NOTICE_AFTER`].
pub(super) async fn run_if_slow<T>(work: impl Future<Output = T>, slow: impl FnOnce()) -> T {
    let mut work = std::pin::pin!(work);
    if let Ok(done) = tokio::time::timeout(NOTICE_AFTER, &mut work).await {
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

/// Formats seconds, with one decimal below ten.
pub(super) fn seconds(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds >= 10.0 || duration.subsec_millis() == 0 {
        format!("{seconds:.0}s")
    } else {
        format!("{seconds:.1}s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::sleep;

    #[tokio::test(start_paused = true)]
    async fn only_slow_work_is_reported() {
        let mut reported = 0;
        run_if_slow(sleep(NOTICE_AFTER / 2), || reported += 1).await;
        assert_eq!(reported, 0);
        run_if_slow(sleep(NOTICE_AFTER * 2), || reported += 1).await;
        assert_eq!(reported, 1);
    }

    #[test]
    fn seconds_below_ten_have_a_decimal() {
        let texts = [1_240, 5_000, 42_300].map(|ms| seconds(Duration::from_millis(ms)));
        assert_eq!(texts, ["1.2s", "5s", "42s"]);
    }
}
