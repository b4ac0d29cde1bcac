//! The counters and the verdict of a rollout, and what a kind derives the verdict from beside its counters.

/// The counters of `status`, under the same names for all kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The wanted pods.
    pub wanted: i64,
    /// All pods; for a DaemonSet, the nodes that have one.
    pub total: i64,
    /// How many pods the rollout updates: all wanted pods but those that a partition keeps.
    pub released: i64,
    /// The updated pods.
    pub updated: i64,
    /// The ready pods.
    pub ready: i64,
    /// The available pods; none if the controller does not count them.
    pub available: Option<i64>,
}

impl Counts {
    /// Returns the number of outdated pods.
    #[must_use]
    pub fn outdated(&self) -> i64 {
        (self.total - self.updated).max(0)
    }
}

/// The state of a rollout, with kubectl's line for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The state.
    pub state: RolloutState,
    /// The line, in one of kubectl's phrases.
    pub line: String,
}

/// The state of a rollout, in the order of a list: trouble first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RolloutState {
    /// The progress deadline passed, or another revision replaced the expected one. A fatal cause or `--deadline` fails
    /// the command, and leaves the state as it is.
    Failed,
    /// Progressing, with a cause that has needed a fix for a while. No kind concludes it:
    /// [`stuck_if`](crate::cause::stuck_if) does.
    Stuck,
    /// Outdated pods remain because the workload is paused.
    Paused,
    /// Outdated pods remain because of a hold of `pause` or `step`, `OnDelete`, or a partition that lets no pod update.
    Held,
    /// Pods remain to be updated or to become available, and no hold keeps them.
    Progressing,
    /// The controller has not observed the current spec.
    Unobserved,
    /// Every pod to update is updated and available.
    Complete,
}

impl RolloutState {
    /// All states.
    pub const ALL: [Self; 7] = [
        Self::Failed,
        Self::Stuck,
        Self::Paused,
        Self::Held,
        Self::Progressing,
        Self::Unobserved,
        Self::Complete,
    ];

    /// Whether the controller has observed the rollout and it is not complete, so that causes and warnings matter.
    #[must_use]
    pub fn is_observed_and_incomplete(self) -> bool {
        !matches!(self, Self::Complete | Self::Unobserved)
    }

    /// Returns the name for text and JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Progressing => "progressing",
            Self::Stuck => "stuck",
            Self::Paused => "paused",
            Self::Held => "held",
            Self::Unobserved => "unobserved",
            Self::Failed => "failed",
        }
    }
}

/// What the revisions and pods of a workload show, and its own counters do not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity<'a> {
    /// The name of the current revision; none while the live template has no revision yet.
    pub current: Option<&'a str>,
    /// Whether the workload has any revision.
    pub has_revisions: bool,
    /// Whether the controller still updates a pod, so that the workload is not held yet:
    ///
    /// - with `OnDelete` or a hold: an updated pod is not ready;
    /// - with a node selector: any pod is missing, not ready, terminating or updated in place.
    ///
    /// False without these.
    pub is_updating_pods: bool,
    /// Whether a rollback by `step` is under way and pods that the partition released are not back yet.
    pub is_rolling_back: bool,
}

impl Verdict {
    pub(crate) fn new(state: RolloutState, line: impl Into<String>) -> Self {
        Self { state, line: line.into() }
    }

    pub(super) fn progressing(line: impl Into<String>) -> Self {
        Self::new(RolloutState::Progressing, line)
    }

    pub(super) fn complete(line: impl Into<String>) -> Self {
        Self::new(RolloutState::Complete, line)
    }

    pub(super) fn deadline_exceeded(what: &str) -> Self {
        Self::new(RolloutState::Failed, format!("{what} exceeded its progress deadline"))
    }

    /// Returns kubectl's verdict on an update of replicas, checked in kubectl's order; `what` is such as `deployment "web"`.
    /// `old` replicas remain beside the wanted ones, and so many updated ones are `available`.
    pub(super) fn of_replicas(what: &str, counts: Counts, old: i64, available: i64) -> Self {
        let Counts { updated, released, .. } = counts;
        let finishing = format!("Waiting for {what} rollout to finish:");
        if updated < released {
            return Self::progressing(format!(
                "{finishing} {updated} out of {released} new replicas have been updated..."
            ));
        }
        if old > 0 {
            return Self::progressing(format!("{finishing} {old} old replicas are pending termination..."));
        }
        if available < updated {
            return Self::progressing(format!(
                "{finishing} {available} of {updated} updated replicas are available..."
            ));
        }
        Self::complete(format!("{what} successfully rolled out"))
    }

    /// Returns kubectl's verdict on an update of which a partition releases only some pods.
    pub(super) fn partitioned(updated: i64, released: i64) -> Self {
        if updated < released {
            return Self::progressing(format!(
                "Waiting for partitioned roll out to finish: {updated} out of {released} new pods have been updated..."
            ));
        }
        Self::complete(format!("partitioned roll out complete: {updated} new pods have been updated..."))
    }

    /// Returns kubectl's verdict on a workload some of whose pods are missing or not ready.
    pub(super) fn not_ready(pods: i64) -> Self {
        Self::progressing(format!("Waiting for {pods} pods to be ready..."))
    }

    pub(super) fn is_complete(&self) -> bool {
        self.state == RolloutState::Complete
    }
}
