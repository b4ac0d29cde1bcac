//! Who hears what the way to the cluster has to tell.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::model::notice::Notice;

/// Hears notices as they happen. This room prints nothing: its owner decides what becomes of them.
#[derive(Clone)]
pub struct Listener(Arc<dyn Fn(&Notice) + Send + Sync>);

impl Listener {
    /// A listener that does this with every notice.
    pub fn new(hear: impl Fn(&Notice) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hear))
    }

    pub(super) fn tell(&self, notice: &Notice) {
        (self.0)(notice);
    }

    /// Waits for some work, and says what for when it takes longer than `untold`.
    pub(super) async fn told_after<T>(
        &self,
        untold: Duration,
        work: impl Future<Output = T>,
        notice: impl FnOnce() -> Notice,
    ) -> T {
        let mut work = std::pin::pin!(work);
        if let Ok(done) = tokio::time::timeout(untold, &mut work).await {
            return done;
        }
        self.tell(&notice());
        work.await
    }
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
    async fn only_what_takes_long_is_told() {
        let told = Arc::new(Mutex::new(0));
        let counter = Arc::clone(&told);
        let listener = Listener::new(move |_| *counter.lock().unwrap() += 1);
        let notice = || Notice::Warning("waiting".to_owned());
        let second = Duration::from_secs(1);
        listener.told_after(second * 2, sleep(second), notice).await;
        assert_eq!(*told.lock().unwrap(), 0);
        listener.told_after(second * 2, sleep(second * 9), notice).await;
        assert_eq!(*told.lock().unwrap(), 1);
    }
}
