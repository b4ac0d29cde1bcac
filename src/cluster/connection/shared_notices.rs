//! Suppresses a notice that several concurrent requests would repeat.

use std::mem::{Discriminant, discriminant};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::cluster::notice::Notice;

/// The kinds of notices that were reported, each with the time until which it is suppressed.
#[derive(Debug, Default)]
pub(super) struct SharedNotices(Mutex<Vec<(Discriminant<Notice>, Instant)>>);

impl SharedNotices {
    /// Whether to report a notice. If so, further notices of its kind are suppressed for the time `lasts`.
    pub(super) fn is_due(&self, notice: &Notice, lasts: Duration) -> bool {
        let (kind, now) = (discriminant(notice), Instant::now());
        let mut standing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        standing.retain(|(_, until)| *until > now);
        let is_due = standing.iter().all(|(other, _)| *other != kind);
        if is_due {
            standing.push((kind, now + lasts));
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_similar_notice_is_suppressed_for_a_while() {
        let second = Duration::from_secs(1);
        let retrying = |server: &str| Notice::Retrying {
            server: server.to_owned(),
            reason: String::new(),
            pause: second,
        };
        let notices = SharedNotices::default();
        assert!(notices.is_due(&retrying("a"), second));
        assert!(!notices.is_due(&retrying("b"), second));
        assert!(notices.is_due(&Notice::SlowResponse { server: "a".to_owned(), since: second }, second));
        tokio::time::advance(second).await;
        assert!(notices.is_due(&retrying("b"), second));
    }
}
