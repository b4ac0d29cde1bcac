//! What a stepper asks whoever drives it to do, and what became of it.

use super::batch::Batch;
use crate::error::Error;
use crate::model::conflict::Conflict;
use crate::model::follow::{LogPlace, News, PodPlace, Stop};
use crate::model::node::Node;
use crate::model::patch::Patch;
use crate::model::workload::Workload;

/// Something to do. Of writes, removals and looks there is never more than one under way; a check may be
/// beside them, because the lease has to be renewed while it runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// Read the workload, its revisions and pods, and the nodes again, and hand them in: the nodes
    /// first, as [`Seen::Nodes`], then [`News::Look`].
    Look,
    /// Make one change of the workload, and hand in [`Seen::Wrote`].
    Write(Box<Patch>),
    /// Remove a pod, if it still is the one with this uid and the workload [is as it was], and hand in
    /// [`Seen::Removed`].
    ///
    /// [is as it was]: super::is_as_it_was
    Remove {
        /// Which pod.
        pod: PodPlace,
        /// Whether it is evicted, so that PodDisruptionBudgets count, and not deleted.
        evict: bool,
    },
    /// Run the check, and hand in [`Seen::Checked`].
    Check(Batch),
    /// Read the last lines of a container, and hand them in as [`News::Log`].
    Log(LogPlace),
}

/// One thing that was seen.
#[derive(Clone, Debug)]
pub enum Seen {
    /// Something new about the workload.
    News(News),
    /// The nodes; none when they may not be read.
    Nodes(Option<Vec<Node>>),
    /// What became of a change.
    Wrote(Wrote),
    /// What became of a removal.
    Removed(Removed),
    /// What the check said.
    Checked(Checked),
    /// Somebody wants us to stop.
    Stopped(Stop),
    /// Nothing but that time went by.
    Nothing,
}

/// What became of a change.
#[derive(Clone, Debug)]
pub enum Wrote {
    /// It was made; this is the workload now.
    Done(Box<Workload>),
    /// Somebody else changed what it relies on, and nothing was written.
    Conflict(Conflict),
    /// It was refused, or could not be sent: nothing was written.
    Not(Error),
    /// Nobody knows.
    Unknown(Error),
}

/// What became of a removal.
#[derive(Clone, Debug)]
pub enum Removed {
    /// It is on its way out, or gone, or another pod has its name by now.
    Done,
    /// A PodDisruptionBudget does not allow it now, in the server's words.
    Refused(String),
    /// It was refused, or could not be sent.
    Not(Error),
    /// Nobody knows.
    Unknown(Error),
    /// Nothing was sent: the workload, its lease among it, is not what it was any more.
    Superseded,
}

impl Removed {
    /// Why the pod is certain to be there still; none when it is going, or nobody knows.
    #[must_use]
    pub fn refusal(&self) -> Option<String> {
        match self {
            Self::Done | Self::Unknown(_) => None,
            Self::Refused(words) => Some(words.clone()),
            Self::Not(error) => Some(error.sentence()),
            Self::Superseded => Some("somebody changed the workload meanwhile".to_owned()),
        }
    }
}

/// What a check said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checked {
    /// Exit 0: go on.
    Passed,
    /// Another exit code, or none when a signal ended it.
    Failed(Option<i32>),
    /// It took longer than it may, and was ended.
    TimedOut,
    /// It could not be started.
    NotRun,
}
