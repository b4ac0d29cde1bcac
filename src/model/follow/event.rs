//! The input of the follower. Every event carries a complete state, so none depends on an earlier
//! one.

use std::sync::Arc;

use super::container_logs::LogLines;
use crate::error::Error;
use crate::model::api::event::Events;
use crate::model::api::pod::Pod;
use crate::model::revision::Revision;
use crate::model::status::observation::Observation;
use crate::model::workload::Workload;

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
    Tick,
}

/// A change of a target. Each variant carries everything of its sort as it is now.
#[derive(Clone, Debug)]
pub enum TargetEvent {
    /// The workload.
    Workload(Box<Workload>),
    /// The workload was deleted.
    Deleted,
    /// The workload cannot be read any more: access was denied, or the API server stays
    /// unreachable.
    Unreadable(Error),
    /// Its revisions, in any order; none if they cannot be read.
    Revisions(Option<Vec<Arc<Revision>>>),
    /// Its pods; none if they cannot be read.
    Pods(Option<Vec<Arc<Pod>>>),
    /// The warning events about the workload, its revisions and its pods; none if they cannot be
    /// read.
    Warnings(Option<Events>),
    /// A complete fresh observation, the answer to
    /// [`FollowerRequest::Refresh`](super::FollowerRequest::Refresh).
    Refreshed(Box<Observation>),
    /// The last log lines of a container, the answer to
    /// [`FollowerRequest::ReadLog`](super::FollowerRequest::ReadLog).
    Log(LogLines),
    /// The workload after the rollback was written, or why nothing was written: the answer to
    /// [`FollowerRequest::RollBack`](super::FollowerRequest::RollBack).
    RolledBack(Result<Box<Workload>, Error>),
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
