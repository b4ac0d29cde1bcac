//! Counts the sequential round trips of a command.

use std::sync::atomic::{AtomicU32, Ordering};

/// Counts sequential round trips. A request that is sent after a response may depend on it; one that was sent before
/// does not. Far from the server, the time of a command is proportional to this number.
#[derive(Debug, Default)]
pub(super) struct RoundTrips(AtomicU32);

impl RoundTrips {
    /// Returns the number of the round trip that begins now.
    pub(super) fn begin(&self) -> u32 {
        self.0.load(Ordering::Relaxed) + 1
    }

    /// Records the response to a request of this round trip.
    pub(super) fn end(&self, round_trip: u32) {
        self.0.fetch_max(round_trip, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concurrent_requests_are_one_round_trip() {
        let trips = RoundTrips::default();
        let first = trips.begin();
        trips.end(first);
        let (one, other) = (trips.begin(), trips.begin());
        trips.end(one);
        let after_one = trips.begin();
        trips.end(other);
        assert_eq!([first, one, other, after_one, trips.begin()], [1, 2, 2, 3, 3]);
    }
}
