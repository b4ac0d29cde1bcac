//! The input of the follower. Every event carries a complete state, so none depends on an earlier
//! one.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

use super::container_logs::LogLines;
use crate::error::Error;
use crate::model::kind::Workload;
use crate::model::observation::Observation;

/// One moment, on both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// The time since the follower started, from a monotonic clock. All waiting is measured by it.
    pub elapsed: Duration,
    /// The API server's time of day. It is only compared with timestamps in objects.
    pub server_time: Timestamp,
}

impl Now {
    /// Returns the time of day in whole seconds, as the API server writes timestamps.
    #[must_use]
    pub fn stamp(&self) -> String {
        Timestamp::from_second(self.server_time.as_second()).unwrap_or(self.server_time).to_string()
    }
}

/// The index of a target of a [`Follower`](super::Follower).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetId(pub usize);

/// One event of the follower.
#[derive(Clone, Debug)]
pub enum FollowerEvent {
    /// A target changed.
    Target(TargetId, TargetEvent),
    /// The user or the system asked the process to stop.
    Stopped(StopSignal),
    /// Only time passed.
    Tick {
        /// How long ago the server last answered a read.
        answered: Duration,
    },
}

/// A change of a target.
#[derive(Clone, Debug)]
pub enum TargetEvent {
    /// Something that was observed changed.
    Observed {
        /// Everything as it is known now. Its parts were read one after another.
        observation: Box<Observation>,
        /// Whether the warning events were read, or are forbidden.
        knows_warnings: bool,
    },
    /// A complete fresh observation, the answer to
    /// [`FollowerTask::Refresh`](super::FollowerTask::Refresh).
    Refreshed(Box<Observation>),
    /// The workload was deleted.
    Deleted,
    /// The workload cannot be read any more: access was denied, or the API server stays
    /// unreachable.
    Unreadable(Error),
    /// The last log lines of a container, the answer to
    /// [`FollowerTask::ReadLog`](super::FollowerTask::ReadLog).
    Log(LogLines),
    /// The workload after the rollback was written, or why nothing was written: the answer to
    /// [`FollowerTask::RollBack`](super::FollowerTask::RollBack).
    RolledBack(Result<Box<Workload>, Error>),
}

impl TargetEvent {
    /// Returns the state of the workload that the event carries.
    pub(in crate::model) fn workload(&self) -> Option<&Workload> {
        match self {
            Self::Observed { observation, .. } | Self::Refreshed(observation) => Some(&observation.workload),
            _ => None,
        }
    }
}

/// The signal that asked the process to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopSignal {
    /// SIGINT.
    Interrupted,
    /// SIGTERM.
    Terminated,
    /// SIGHUP: the terminal was closed.
    HungUp,
}

impl StopSignal {
    /// Returns the name for JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Interrupted => "interrupted",
            Self::Terminated => "terminated",
            Self::HungUp => "hung-up",
        }
    }

    /// Returns the name for text.
    #[must_use]
    pub fn words(self) -> String {
        self.word().replace('-', " ")
    }
}
