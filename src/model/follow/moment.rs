//! When something was seen, and of which target.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

/// One point in time, by both clocks that matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// How long we have been following, by a monotonic clock. Everything we wait for is measured by it.
    pub elapsed: Duration,
    /// The server's time of day, which is only ever compared with stamps in objects.
    pub wall: Timestamp,
}

impl Moment {
    /// The time of day as the server stamps objects: whole seconds.
    #[must_use]
    pub fn stamp(&self) -> String {
        Timestamp::from_second(self.wall.as_second()).unwrap_or(self.wall).to_string()
    }
}

/// Which of the targets of a [`Follower`](super::Follower), counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetId(pub usize);
