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

/// Which of the targets of a [`Follower`](super::Follower), counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetId(pub usize);
