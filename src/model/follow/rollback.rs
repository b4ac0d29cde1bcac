//! `--undo-on-failure`: whether a failed target is rolled back, to which revision, and which pods block the rollback.

use std::time::Duration;

use super::output::{FollowerTask, Outcome, RollbackResult, RolloutFailure, TargetResult};
use crate::model::change::stuck_pods::StuckPodDeletions;
use crate::model::engine::PodRef;
use crate::model::kind::Workload;
use crate::model::observation::Observation;
use crate::model::revision::Revision;
use crate::model::text::digest::Digest;

/// The state of a target when the follower started: its template, and its stable revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartState {
    /// The uid of the workload.
    uid: String,
    /// The template that was being rolled out.
    template: Digest,
    /// The name and the template of the stable revision; none if no other revision had ready pods.
    stable: Option<(String, Digest)>,
}

impl StartState {
    /// Records the state of a workload as it was found, with its first complete observation.
    pub(super) fn of(found: &Workload, observation: &Observation) -> Self {
        let stable = observation.stable_at_start().map(|revision| (revision.name.clone(), revision.digest));
        Self { uid: found.object().uid().to_owned(), template: found.template_digest(), stable }
    }

    /// Whether the workload is still the same object with the same template.
    #[must_use]
    pub fn matches(&self, workload: &Workload) -> bool {
        workload.object().uid() == self.uid && workload.template_digest() == self.template
    }

    /// Returns the stable revision at the start, if it still exists with the same template.
    #[must_use]
    pub fn stable_revision<'a>(&self, observation: &'a Observation) -> Option<&'a Revision> {
        let (name, template) = self.stable.as_ref()?;
        observation.revisions.iter().find(|revision| revision.name == *name && revision.digest == *template)
    }

    /// Whether an outcome is one of the rollout that was found, and not of a later one of another client.
    pub(super) fn is_of_found_rollout(&self, outcome: &Outcome, workload: &Workload) -> bool {
        !matches!(outcome, Outcome::Failed(RolloutFailure::Superseded(_))) && self.matches(workload)
    }

    /// Returns the revision to roll back to after an outcome. Only a target that still matches its start state is rolled
    /// back, and only to a revision that had ready pods then.
    ///
    /// # Errors
    /// The reason for which the target is not rolled back.
    pub(super) fn rollback_revision<'a>(
        &self,
        outcome: &Outcome,
        observation: &'a Observation,
    ) -> Result<&'a Revision, &'static str> {
        if !self.is_of_found_rollout(outcome, &observation.workload) {
            return Err("another client rolled out another revision, which is not rolled back");
        }
        self.stable_revision(observation).ok_or("no other revision had ready pods when following began")
    }

    /// Whether a rollout was under way that can be rolled back.
    pub(super) fn has_stable_revision(&self) -> bool {
        self.stable.is_some()
    }
}

/// The rollback of a failed target.
#[derive(Clone, Debug, PartialEq)]
pub struct Rollback {
    /// How the target failed.
    pub failed: TargetResult,
    /// The label of the target revision when the rollout failed.
    pub revision: String,
    /// Whether the rollback was written. Until then every event may be older than the write and is
    /// not evaluated.
    pub(super) is_written: bool,
    /// Whether `--replace-stuck-pods` deletes stuck pods.
    pub replaces_stuck_pods: bool,
}

impl Rollback {
    /// Returns the result: the failure, and the outcome of the rollback.
    pub(super) fn end(self, outcome: Outcome, elapsed: Duration) -> TargetResult {
        let rollback = RollbackResult::RolledBack { revision: self.revision, outcome };
        TargetResult { elapsed, rollback: Some(rollback), ..self.failed }
    }
}

/// Returns what to do about the next pod that blocks a StatefulSet, if there is one.
///
/// The StatefulSet controller waits until these pods are ready, and on the failed revision they
/// never are. It deletes none of them. Each deletion follows a separate refresh, after the controller
/// observed the rollback and nothing moved for a moment. A pod that is deleted earlier comes back on the failed
/// revision.
pub(super) fn unblock(
    deletions: &mut StuckPodDeletions,
    observation: &Observation,
    fresh: bool,
    now: Duration,
) -> Option<FollowerTask> {
    deletions.observe(observation, now);
    let pod = deletions.next(observation, now).map(PodRef::of)?;
    if !fresh {
        return Some(FollowerTask::Refresh);
    }
    deletions.record(&pod.uid);
    Some(FollowerTask::DeletePod(pod))
}
