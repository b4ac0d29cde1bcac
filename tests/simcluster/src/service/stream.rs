//! The lines of a watch: its first events, then every change, until its timeout or a fault ends it.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::{Stream, stream};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use super::body::{Damage, WatchDamage, WatchEnd};
use crate::{
    cluster::Shared,
    request::{Events, Plan},
};

/// The time between two bookmarks.
const BOOKMARK_EVERY: Duration = Duration::from_secs(60);

/// How long before its timeout a watch gets its last bookmark (`nextBookmarkTime` of the API server's watch cache).
const LAST_BOOKMARK: Duration = Duration::from_secs(2);

struct Watcher {
    shared: Arc<Shared>,
    moved: watch::Receiver<u64>,
    events: Events,
    waiting: VecDeque<String>,
    sent: usize,
    damage: Option<WatchDamage>,
    end: Instant,
    next_bookmark: Option<Instant>,
}

/// The lines of a planned watch.
pub(super) fn lines(
    shared: Arc<Shared>,
    plan: Plan,
    damage: &Damage,
) -> impl Stream<Item = Bytes> + Send + 'static {
    let now = Instant::now();
    let watcher = Watcher {
        moved: shared.moved(),
        shared,
        events: plan.events,
        waiting: plan.first.into(),
        sent: 0,
        damage: damage.watch,
        end: now + plan.timeout,
        next_bookmark: plan.bookmarks.then(|| next_bookmark(now, now + plan.timeout)),
    };
    stream::unfold(watcher, |mut watcher| async move {
        let event = watcher.next().await?;
        Some((Bytes::from(event + "\n"), watcher))
    })
}

/// Returns when the next bookmark after a time is due.
fn next_bookmark(now: Instant, end: Instant) -> Instant {
    let last = end - LAST_BOOKMARK;
    let next = now + BOOKMARK_EVERY;
    if now < last { next.min(last) } else { next }
}

impl Watcher {
    /// Returns the next event; `None` at the end of the watch.
    async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(damage) = self.damage.filter(|damage| damage.after <= self.sent) {
                match damage.end {
                    WatchEnd::Closed => return None,
                    WatchEnd::Silent => std::future::pending::<()>().await,
                    WatchEnd::Expired => {
                        self.damage = None;
                        self.waiting.clear();
                        return Some(self.shared.write(|store| self.events.expire(store)));
                    }
                    WatchEnd::Failed => {
                        self.damage = None;
                        self.waiting.clear();
                        return Some(self.events.fail());
                    }
                }
            }
            if let Some(event) = self.waiting.pop_front() {
                self.sent += 1;
                return Some(event);
            }
            if self.events.ended() {
                return None;
            }
            // Marked as read before the check, so that no change is missed between the check and the wait.
            self.moved.mark_unchanged();
            self.waiting = self.shared.write(|store| self.events.catch_up(store)).into();
            if self.waiting.is_empty() && !self.wait().await {
                return None;
            }
        }
    }

    /// Waits for a change or for the time of a bookmark; false at the timeout of the watch.
    async fn wait(&mut self) -> bool {
        let bookmark = self.next_bookmark.unwrap_or(self.end);
        tokio::select! {
            biased;
            () = sleep_until(self.end) => false,
            () = sleep_until(bookmark), if bookmark < self.end => {
                self.next_bookmark = Some(next_bookmark(bookmark, self.end));
                self.waiting.push_back(self.events.bookmark());
                true
            }
            changed = self.moved.changed() => changed.is_ok(),
        }
    }
}
