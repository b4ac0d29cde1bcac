//! What is worth telling, and what the follower asks for.

use super::end::End;
use super::moment::TargetId;
use super::seen::LogLines;
use crate::model::cause::Cause;
use crate::model::pod::Pod;
use crate::model::verdict::{Counts, Verdict};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The verdict, its line or the counters changed.
    Stands {
        /// Whose.
        target: TargetId,
        /// How it stands.
        verdict: Verdict,
        /// Its pods, as the controller counts them.
        counts: Counts,
        /// Whether the line is another one than before; otherwise only the counters changed.
        line_is_new: bool,
        /// Whether it has failed before, and this is its way back.
        is_way_back: bool,
    },
    /// A cause came, changed or went.
    Cause {
        /// Whose.
        target: TargetId,
        /// What it is now; what it was, for one that went.
        cause: Cause,
        /// Which of the three.
        step: Step,
    },
    /// The last lines of a container that a cause is about.
    Log {
        /// Whose.
        target: TargetId,
        /// The lines.
        log: LogLines,
    },
    /// The target cannot be judged yet for a reason that is not in its counters.
    Waits {
        /// Whose.
        target: TargetId,
        /// For what, as a fragment: `the controller to number revision 6`.
        reason: String,
    },
    /// The target failed, and is to go back to another revision.
    GoesBack {
        /// Whose.
        target: TargetId,
        /// How it failed.
        end: End,
        /// The revision it goes back to, as a person calls it.
        revision: String,
    },
    /// The target has its final verdict.
    Ended {
        /// Whose.
        target: TargetId,
        /// What it is.
        end: End,
    },
    /// Something is to be done, and its result to be handed in.
    Ask(Ask),
}

/// What became of a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It is there for the first time.
    Appeared,
    /// Other pods have it, or it is told in other words.
    Changed,
    /// It is not there any more.
    Gone,
}

/// What the follower asks whoever drives it to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Read everything about the target again, and hand it in as [`News::Look`](super::News::Look):
    /// something that time or a hold decides is about to be final.
    Look(TargetId),
    /// Read the last lines of a container, and hand them in as [`News::Log`](super::News::Log). When they cannot be
    /// read, nothing need be handed in.
    Log(TargetId, LogPlace),
    /// Roll the target back to the revision that carried the service at the start, if it still is what
    /// was followed from the start, and hand in what became of that as [`News::Undone`](super::News::Undone).
    Undo(TargetId),
    /// Delete a pod, if it still is the one with this uid. What becomes of that is seen like anything else.
    Delete(TargetId, PodPlace),
}

/// One pod, and no other that comes to have its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodPlace {
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
}

impl PodPlace {
    /// The place of a pod.
    #[must_use]
    pub fn of(pod: &Pod) -> Self {
        Self { name: pod.name.clone(), uid: pod.uid.clone() }
    }
}

/// Where a container's last lines are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPlace {
    /// The pod.
    pub pod: String,
    /// The container.
    pub container: String,
    /// Whether the instance before the present one is meant: the one that crashed.
    pub previous: bool,
}
