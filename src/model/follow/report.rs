//! What the follower returns: reports for the user, and tasks for its driver.

use std::time::Duration;

use super::outcome::TargetResult;
use crate::model::cause::Cause;
use crate::model::cause::container_logs::{LogLines, LogRef};
use crate::model::change::least_time::LeastTime;
use crate::model::engine::{Effects, PodRef};
use crate::model::kind::verdict::{Counts, Verdict};
use crate::model::observation::Observation;

/// The reports and tasks of one target.
pub(super) type TargetEffects = Effects<Report, FollowerTask>;

/// One report about a target.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// The verdict, its line or the counters changed.
    Status {
        /// The verdict.
        verdict: Verdict,
        /// The counters of the controller.
        counts: Counts,
        /// Whether to print the line now: it is another one, and is not held back.
        prints_line: bool,
        /// Whether the target is being rolled back.
        is_rollback: bool,
    },
    /// A cause appeared, changed or disappeared.
    Cause {
        /// The cause; for one that is gone, as it was last reported.
        cause: Cause,
        /// What happened to it.
        change: CauseChange,
    },
    /// The last log lines of a container that a cause is about.
    Log {
        /// The lines.
        log: LogLines,
    },
    /// There is no verdict yet, for a reason that is not in the counters.
    Waiting {
        /// What the follower waits for, as a fragment: `the controller to number revision 6`.
        reason: String,
    },
    /// What a failure would be rolled back to, with `--undo-on-failure`. Once, unless the first evaluation ends the target.
    RollbackTarget(RollbackTarget),
    /// The rollout progresses, and needs a minute or more. Once.
    LeastTime {
        /// The least time that it still needs.
        least: LeastTime,
        /// The timeout, if it ends before.
        timeout: Option<ShortTimeout>,
    },
    /// The target failed and is rolled back.
    RollbackStarted {
        /// How it failed.
        result: TargetResult,
        /// The label of the revision it is rolled back to.
        revision: String,
    },
    /// The target has an outcome.
    Ended {
        /// The result.
        result: TargetResult,
    },
}

/// What a failure of a target would be rolled back to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RollbackTarget {
    /// The stable revision.
    Revision {
        /// Its label.
        label: String,
        /// The images of its template.
        images: Vec<String>,
    },
    /// Nothing; the reason, as a fragment.
    Nothing(&'static str),
}

impl RollbackTarget {
    /// Returns the rollback target of a rollout that has just begun.
    pub(super) fn of(observation: &Observation) -> Self {
        match observation.stable_at_start() {
            Some(stable) => Self::Revision {
                label: stable.label(),
                images: stable.template().images().into_iter().map(str::to_owned).collect(),
            },
            None => Self::Nothing(observation.why_nothing_is_stable()),
        }
    }
}

/// A timeout that ends before a rollout can. Both durations are counted from the start of the follower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortTimeout {
    /// The timeout.
    pub given: Duration,
    /// One that leaves each wave of pods a minute to start.
    pub fitting: Duration,
}

impl ShortTimeout {
    /// Returns the timeout if it ends before a rollout that needs this time from now on.
    pub(super) fn of(given: Duration, least: LeastTime, elapsed: Duration) -> Option<Self> {
        let fitting = elapsed.saturating_add(least.fitting_timeout());
        (elapsed.saturating_add(least.total) > given).then_some(Self { given, fitting })
    }
}

/// What happened to a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CauseChange {
    /// It is new.
    Appeared,
    /// Its pods or its wording changed.
    Changed,
    /// It is gone.
    Gone,
}

/// What the follower asks its driver to do for a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FollowerTask {
    /// Read the workload, its revisions and pods again and apply
    /// [`TargetEvent::Refreshed`](crate::model::engine::TargetEvent::Refreshed). Elapsed time or a hold is about
    /// to decide the outcome.
    Refresh,
    /// Read the last log lines of a container and apply
    /// [`TargetEvent::Log`](crate::model::engine::TargetEvent::Log). If they cannot be read, it has no lines.
    ReadLog(LogRef),
    /// Roll the target back to its stable revision if it still
    /// [matches](super::StartState::matches) its start state, and apply
    /// [`FollowerEvent::RolledBack`](super::FollowerEvent::RolledBack).
    RollBack,
    /// Delete a pod with a uid precondition. The result arrives as ordinary events.
    DeletePod(PodRef),
}
