//! For how long a pod has been well: by its timestamps, and by what this process observed.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

/// Timestamps have whole seconds, rounded down, and so has the server's time.
pub(crate) const STAMP_PRECISION: Duration = Duration::from_secs(1);

/// Returns how long a state has lasted: since its timestamp, or as long as this process has observed it without an
/// interruption. The longer time counts.
///
/// Nodes write timestamps with their own clocks. That of a node which is ahead is in the future, and would delay every
/// decision by the difference. A timestamp is valid for any process, also for one that has just started.
pub(crate) fn lasted(since: Option<Timestamp>, observed: Duration, now: Timestamp) -> Duration {
    let by_stamp = since.and_then(|since| now.duration_since(since).try_into().ok());
    by_stamp.unwrap_or(Duration::ZERO).max(observed.saturating_sub(STAMP_PRECISION))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_of_both_clocks_counts() {
        let now: Timestamp = "2026-11-20T13:00:00Z".parse().unwrap();
        for (since, observed, expected) in [
            (Some("2026-11-20T12:59:00Z"), 5, 60),
            (Some("2026-11-20T12:59:58Z"), 5, 4),
            (Some("2026-11-20T13:30:00Z"), 5, 4), // the clock of the node is ahead
            (Some("2026-11-20T13:30:00Z"), 0, 0),
            (None, 5, 4),
        ] {
            let since = since.map(|since| since.parse().unwrap());
            let lasted = lasted(since, Duration::from_secs(observed), now);
            assert_eq!(lasted, Duration::from_secs(expected), "{since:?} {observed}");
        }
    }
}
