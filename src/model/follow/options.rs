//! What a follower waits for, and when it gives up.

use std::time::Duration;

use super::goal::Goal;
use crate::model::cause::{AllowedRestarts, Cause, CauseId};
use crate::model::kind::Workload;
use crate::model::revision::RevisionWord;

/// `MaxInt32`: the Deployment controller treats a deadline of this length as none.
const NO_DEADLINE: i64 = i32::MAX as i64;

/// How long updated pods must have been ready before a success where causes fail a rollout. A container without a readiness
/// probe is ready at once, and may crash a second later.
const SETTLE_TIME: Duration = Duration::from_secs(10);

/// What a follower waits for, and when it gives up. The default waits as kubectl does, without a
/// limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one option of the command line")]
pub struct FollowOptions {
    /// The goal to wait for.
    pub goal: Goal,
    /// How long the goal must stay reached (`--stable`).
    pub stable: Option<Duration>,
    /// The expected revision (`--revision`).
    pub revision: Option<RevisionWord>,
    /// Whether the template of the workload as it was found is the expected one: this process has
    /// just written it.
    pub expect_found_template: bool,
    /// Whether to keep waiting while a hold blocks the goal.
    pub wait_held: bool,
    /// The grace period of fatal causes (`--fail-fast`); none leaves failures to the deadlines.
    pub fail_fast: Option<Duration>,
    /// Further fatal causes and their grace periods (`--fail-on`).
    pub fail_on: Vec<(CauseId, Duration)>,
    /// The restarts of a container that are no crash loop (`--allow-restarts`).
    pub allowed_restarts: AllowedRestarts,
    /// How long a rollout may make no progress, for workloads whose controller has no deadline.
    pub deadline: Option<Duration>,
    /// Which targets a failure rolls back to their stable revisions; none without `--undo-on-failure`.
    pub undo_on_failure: Option<UndoScope>,
    /// Whether to delete pods that block the rollback of a StatefulSet.
    pub replace_stuck_pods: bool,
    /// The time limit for all targets together; none means no limit.
    pub timeout: Option<Duration>,
    /// Whether each target ends with its first evaluation (`--watch=false`): nothing is waited for.
    pub once: bool,
}

/// Which targets a failure rolls back (`--undo-on-failure`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoScope {
    /// The target that failed.
    Failed,
    /// Each target of the command whose rollout was under way when following began.
    All,
}

impl FollowOptions {
    /// Returns how long the updated pods must have been ready, by their own stamps. None if no cause fails a rollout, with
    /// `--stable 0s`, and for a goal without ready pods.
    pub(super) fn settle_time(&self) -> Option<Duration> {
        let fails_on_causes =
            self.fail_fast.is_some() || self.undo_on_failure.is_some() || !self.fail_on.is_empty();
        let is_off = self.stable.is_some_and(|stable| stable.is_zero()) || self.goal == Goal::Updated;
        (fails_on_causes && !is_off && !self.once).then_some(SETTLE_TIME)
    }

    /// Returns how long a cause may last before it fails the rollout; none if it does not fail it.
    pub(super) fn grace(&self, cause: &Cause) -> Option<Duration> {
        let named = self.fail_on.iter().find(|(id, _)| *id == cause.id).map(|(_, grace)| *grace);
        named.or_else(|| self.fail_fast.filter(|_| cause.is_fatal()))
    }

    /// Whether time alone can decide that the goal is reached.
    pub(super) fn waits_for_stability(&self) -> bool {
        self.settle_time().is_some() || self.stable.is_some_and(|stable| !stable.is_zero())
    }

    /// Returns how long a rollout of this workload may make no progress. Returns none if its
    /// controller has a deadline, or if no option sets one.
    pub(super) fn deadline_for(&self, workload: &Workload) -> Option<Duration> {
        self.deadline.filter(|_| !has_deadline(workload))
    }
}

/// Whether the controller itself reports a deadline (`spec.progressDeadlineSeconds`).
fn has_deadline(workload: &Workload) -> bool {
    let seconds = workload.object().int("/spec/progressDeadlineSeconds");
    workload.kind().has_progress_deadline() && seconds.is_some_and(|seconds| seconds < NO_DEADLINE)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn only_a_workload_without_a_deadline_gets_one() {
        let deadline = Some(Duration::from_secs(600));
        let options = FollowOptions { deadline, ..FollowOptions::default() };
        let (apps, kruise) = ("apps/v1", "apps.kruise.io/v1beta1");
        for (api_version, kind, seconds, expected) in [
            (apps, "Deployment", json!(30), None),
            (apps, "Deployment", json!(NO_DEADLINE), deadline),
            (apps, "StatefulSet", Value::Null, deadline),
            (kruise, "CloneSet", Value::Null, deadline),
            (kruise, "CloneSet", json!(30), None),
            (kruise, "StatefulSet", Value::Null, deadline),
            (kruise, "DaemonSet", Value::Null, deadline),
        ] {
            let mut object =
                json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "w"}, "spec": {}});
            if !seconds.is_null() {
                object["spec"]["progressDeadlineSeconds"] = seconds;
            }
            let workload = Workload::of_json(&object).unwrap();
            assert_eq!(options.deadline_for(&workload), expected, "{object}");
        }
    }
}
