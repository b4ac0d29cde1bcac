//! `--undo-on-failure`: whether a target that failed, or that follows the failure of another one, is rolled back, to which
//! revision, and which pods block the rollback.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

use super::options::UndoScope;
use super::report::{FollowerTask, Outcome, Report, Rollback, RollbackResult, RolloutFailure, TargetResult};
use super::target::{FollowedTarget, StartState};
use crate::model::api::pod::Pod;
use crate::model::change::stuck_pods::StuckPodDeletions;
use crate::model::engine::{Now, PodRef};
use crate::model::kind::Workload;
use crate::model::kind::verdict::RolloutState;
use crate::model::observation::Observation;
use crate::model::observation::pod_stage::SETTLE_TIME;
use crate::model::revision::Revision;
use crate::model::status::verdict;

/// Why a target is not rolled back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRollback {
    /// Its revisions and pods were not read.
    Unread,
    /// Another client rolled out another revision.
    OtherRollout,
    /// The rollout lacks only what `--until` waits for beyond its completion.
    Complete,
    /// The stable revision is missing; the reason, as a fragment.
    NoStableRevision(&'static str),
}

impl NoRollback {
    /// Returns the reason as a fragment.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Unread => "the observation is incomplete",
            Self::OtherRollout => "another client rolled out another revision",
            Self::Complete => "the rollout is complete",
            Self::NoStableRevision(why) => why,
        }
    }
}

impl FollowedTarget {
    /// Whether an outcome is a failure after which `--undo-on-failure` rolls back. A rollback that fails is not rolled back.
    pub(super) fn is_to_be_rolled_back(&self, outcome: &Outcome) -> bool {
        let is_failure = matches!(outcome, Outcome::Failed(_));
        is_failure && self.options().undo_on_failure.is_some() && self.rollback.is_none()
    }

    /// Starts the rollback after a failure. Finishes the target if there is nothing to roll back to.
    pub(super) fn roll_back(&mut self, outcome: Outcome, now: Now) {
        // Only a deadline ends a rollout that is complete: `--until old-gone` waits longer. A cause is not weighed against the
        // stamps of pods, which are by the clocks of their nodes.
        let is_complete = matches!(outcome, Outcome::Failed(RolloutFailure::Deadline(_)))
            && self.observation().is_some_and(|observed| is_complete_and_ready(observed, now.server_time));
        let revision = self.rollback_revision_after(&outcome);
        let revision = revision.and_then(|to| if is_complete { Err(NoRollback::Complete) } else { Ok(to) });
        self.found_rollout_failed = !matches!(revision, Err(NoRollback::OtherRollout | NoRollback::Complete));
        let result = self.result_with(outcome, now.elapsed);
        match revision {
            Ok(revision) => self.start_rollback(result, revision),
            Err(reason) => {
                let rollback = Some(RollbackResult::NotStarted(reason.words().to_owned()));
                self.set_result(TargetResult { rollback, ..result });
            }
        }
    }

    /// Starts the rollback because another target failed, with `--undo-on-failure=all`. A target without a rollout since
    /// the start goes on, and so does one that failed or that another client changed.
    pub(super) fn roll_back_after(&mut self, failed: &str, elapsed: Duration) {
        let was_complete = self.start_state.as_ref().is_some_and(|start| start.was_complete);
        if self.rollback.is_some()
            || was_complete
            || self.result.is_some() && !self.may_be_rolled_back_later()
        {
            return;
        }
        let outcome = Outcome::OtherTargetFailed(failed.to_owned());
        if let Ok(revision) = self.rollback_revision_after(&outcome) {
            self.result = None;
            self.start_rollback(self.result_with(outcome, elapsed), revision);
        }
    }

    /// Whether the target has a result that the failure of another one replaces.
    pub(super) fn may_be_rolled_back_later(&self) -> bool {
        let ended = self.result.as_ref().map(|result| &result.outcome);
        self.options().undo_on_failure == Some(UndoScope::All)
            && self.rollback.is_none()
            && matches!(ended, Some(Outcome::Reached | Outcome::Held))
            && self.start_state.as_ref().is_some_and(|start| start.stable.is_ok() && !start.was_complete)
    }

    /// Whether the rollout that failed has completed since, and its pods stay ready. With `--undo-on-failure=all` it is rolled
    /// back all the same, as the others are at the same time: a release does not stay in parts.
    #[must_use]
    pub fn has_recovered(&self, observation: &Observation, now: Timestamp) -> bool {
        let failed = self.rollback.as_ref().map(|rollback| &rollback.failed.outcome);
        self.options().undo_on_failure != Some(UndoScope::All)
            && matches!(failed, Some(Outcome::Failed(_)))
            && is_complete_and_ready(observation, now)
    }

    /// Returns the label of the revision to roll back to after this outcome.
    fn rollback_revision_after(&self, outcome: &Outcome) -> Result<String, NoRollback> {
        if matches!(outcome, Outcome::Failed(RolloutFailure::Replaced(_))) {
            return Err(NoRollback::OtherRollout);
        }
        let observation = self.observation().ok_or(NoRollback::Unread)?;
        self.rollback_revision(observation).map(Revision::label)
    }

    /// Returns the revision to roll back to. Only a workload that still matches its start state is rolled back, and only to a
    /// revision that had ready pods then.
    ///
    /// # Errors
    /// The reason for which it is not rolled back.
    pub fn rollback_revision<'a>(&self, observation: &'a Observation) -> Result<&'a Revision, NoRollback> {
        let start = self.start_state.as_ref().ok_or(NoRollback::Unread)?;
        let workload = &observation.workload;
        if workload.object().uid() != start.uid || workload.template_digest() != start.template {
            return Err(NoRollback::OtherRollout);
        }
        start.stable.as_ref().map_err(|why| NoRollback::NoStableRevision(why))?;
        let is_gone = NoRollback::NoStableRevision("the stable revision is not stored any more");
        start.stable_revision(observation).ok_or(is_gone)
    }

    fn start_rollback(&mut self, result: TargetResult, revision: String) {
        let (failed, causes) = (result.clone(), self.causes().cloned().collect());
        self.rollback = Some(Rollback { failed, causes, revision: revision.clone(), is_written: false });
        self.evaluation.effects.reports.push(Report::RollbackStarted { result, revision });
        self.evaluation.effects.tasks.push(FollowerTask::RollBack);
    }

    /// Applies the result of the rollback's write. The rollback is evaluated from the start; a target that recovered before
    /// the write is followed on.
    pub(super) fn apply_rollback_result(
        &mut self,
        written: Result<Option<Box<Workload>>, RollbackResult>,
        now: Now,
    ) {
        let Some(rollback) = self.rollback.take() else { return };
        match written {
            Ok(Some(written)) => {
                self.evaluation = self.evaluation.of_rollback(written.clone());
                self.found_workload = Workload::clone(&written);
                self.stuck_pods = StuckPodDeletions::default();
                self.rollback = Some(Rollback { is_written: true, ..rollback });
                // A watch may have reported a later state than the answer to the write.
                if let Some(observation) = &mut self.observation
                    && observation.workload.object().generation() < written.object().generation()
                {
                    observation.replace_workload(*written);
                }
            }
            Ok(None) => self.found_rollout_failed = false,
            Err(unwritten) => {
                let result = TargetResult { rollback: Some(unwritten), ..rollback.failed.clone() };
                self.rollback = Some(rollback);
                return self.set_result(result);
            }
        }
        self.advance(now, false);
        if let Some(event) = self.deferred.take() {
            self.apply(event, now);
        }
    }

    /// Requests the deletion of the next pod that blocks the rollback, or the revision that the command wrote, if there
    /// is one.
    ///
    /// The StatefulSet controller waits until such pods are ready, and on the failed revision they
    /// never are. It deletes none of them. Each deletion follows a separate refresh, after the controller
    /// observed the rollback and nothing moved for a moment. A pod that is deleted earlier comes back on the failed
    /// revision.
    pub(super) fn delete_stuck_pod(&mut self, is_refresh: bool, now: Duration) {
        let is_ours = self.rollback.is_some() || self.options().expect_found_template;
        let Some(observation) = &self.observation else { return };
        if !is_ours || !self.options().replace_stuck_pods {
            return;
        }
        self.stuck_pods.observe(observation, now);
        let Some(pod) = self.stuck_pods.next(observation, now).map(PodRef::of) else { return };
        if is_refresh {
            self.stuck_pods.record(&pod);
            self.evaluation.effects.tasks.push(FollowerTask::DeletePod(pod));
        } else {
            self.evaluation.request_refresh();
        }
    }
}

impl StartState {
    /// Records the state of a workload as it was found, with its first complete observation.
    pub(super) fn of(found: &Workload, observation: &Observation) -> Self {
        let stable = observation.stable_at_start().map(|revision| (revision.name.clone(), revision.digest));
        let was_complete = verdict(observation).state == RolloutState::Complete;
        Self { uid: found.object().uid().to_owned(), template: found.template_digest(), stable, was_complete }
    }

    /// Returns the stable revision at the start, if it still exists with the same template.
    #[must_use]
    pub fn stable_revision<'a>(&self, observation: &'a Observation) -> Option<&'a Revision> {
        let (name, template) = self.stable.as_ref().ok()?;
        observation.revisions.iter().find(|revision| revision.name == *name && revision.digest == *template)
    }
}

impl Rollback {
    /// Returns the result: the failure, and the outcome of the rollback.
    pub(super) fn end(self, outcome: Outcome, elapsed: Duration) -> TargetResult {
        let rollback = RollbackResult::RolledBack { revision: self.revision, outcome };
        TargetResult { elapsed, rollback: Some(rollback), ..self.failed }
    }
}

/// Whether a rollout is complete, and its pods stay ready. A container in a crash loop is ready for a moment.
fn is_complete_and_ready(observation: &Observation, now: Timestamp) -> bool {
    let is_settled = |since| now.duration_since(since) >= SETTLE_TIME.try_into().unwrap_or_default();
    let stays_ready = |pod: &Pod| pod.ready && pod.ready_since().is_some_and(is_settled);
    verdict(observation).state == RolloutState::Complete
        && observation.own_pods().filter(|pod| pod.is_active()).all(stays_ready)
}
