//! How many round trips depended on each other so far.

use std::sync::atomic::{AtomicU32, Ordering};

/// Counts the round trips that depended on each other: a request that is sent after an answer came may
/// depend on it, one that is sent before does not. What a command takes far from its server is this many
/// round trips, and those of the connection.
#[derive(Debug, Default)]
pub(super) struct RoundTrips(AtomicU32);

impl RoundTrips {
    /// The number of the round trip that begins now.
    pub(super) fn begin(&self) -> u32 {
        self.0.load(Ordering::Relaxed) + 1
    }

    /// Takes note that the answer to a request of this round trip came.
    pub(super) fn end(&self, round_trip: u32) {
        self.0.fetch_max(round_trip, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_run_side_by_side_are_one_round_trip() {
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
