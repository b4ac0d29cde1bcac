//! What to wait for, and when to give up.

use std::time::Duration;

use super::decision::has_deadline;
use super::goal::Goal;
use crate::model::cause::CauseId;
use crate::model::revision::RevisionWord;
use crate::model::workload::Workload;

/// What to wait for, and when to give up. The default waits as kubectl does, for ever.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag that somebody types, and any of them goes with any"
)]
pub struct Options {
    /// How targets are judged and told of.
    pub telling: Telling,
    /// What counts as reached.
    pub goal: Goal,
    /// How long it must stay reached.
    pub stable: Duration,
    /// The only revision whose rollout counts.
    pub revision: Option<RevisionWord>,
    /// Whether only the template that a workload was found with counts: the one that was just written.
    pub as_found: bool,
    /// Whether to go on waiting while a hold keeps the goal from being reached.
    pub wait_held: bool,
    /// How long a cause that nobody will heal may last before the rollout counts as failed; none to
    /// leave that to the deadlines.
    pub fail_fast: Option<Duration>,
    /// Further causes that fail a rollout, and how long each may last.
    pub fail_on: Vec<(CauseId, Duration)>,
    /// How long nothing may move before a rollout counts as failed, for workloads whose controller has
    /// no deadline of its own.
    pub deadline: Option<Duration>,
    /// The same for StatefulSets and DaemonSets alone, where nothing else was given for all.
    pub deadline_of_sets: Option<Duration>,
    /// Whether a target that failed goes back to the revision that carried the service at the start.
    pub undo_on_failure: bool,
    /// Whether pods are deleted that a StatefulSet on its way back waits for in vain.
    pub replace_stuck_pods: bool,
    /// How long all targets together may take; none for ever.
    pub timeout: Option<Duration>,
}

impl Options {
    /// How long nothing may move before a rollout of this workload counts as failed; none where that is
    /// left to its own controller, or to nobody.
    pub(super) fn deadline_for(&self, workload: &Workload) -> Option<Duration> {
        let of_sets = self.deadline_of_sets.filter(|_| !matches!(workload, Workload::Deployment(_)));
        self.deadline.or(of_sets).filter(|_| !has_deadline(workload))
    }
}

/// How targets are judged and told of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Telling {
    /// Our way: verdicts and causes, each line once.
    #[default]
    Ours,
    /// As kubectl does, its mistakes included: its line for every event.
    Kubectl,
}
