//! `--undo-on-failure`: whether a failed target is rolled back, to which revision, and with which
//! result.

use std::time::Duration;

use super::event::TargetEvent;
use super::now::Now;
use super::report::{FollowerRequest, PodRef, Report};
use super::result::{Outcome, Rollback, RollbackResult, RolloutFailure, TargetResult};
use super::target_tracker::TargetTracker;
use crate::error::Error;
use crate::model::change::stuck_pods::StuckPodDeletions;
use crate::model::follow::expected_revision::ExpectedRevision;
use crate::model::revision::Revision;
use crate::model::workload::Workload;

impl TargetTracker {
    /// Returns the rollback, once it was started or refused.
    #[must_use]
    pub fn rollback(&self) -> Option<&Rollback> {
        self.rollback.as_ref()
    }

    /// Whether the rollback was written, so that the present revision is the restored one.
    #[must_use]
    pub fn is_rollback_written(&self) -> bool {
        self.rollback.as_ref().is_some_and(|rollback| rollback.is_written)
    }

    /// Finishes the target, or starts the rollback if the target failed and `--undo-on-failure` is
    /// set. A rollback that fails is not rolled back.
    pub(super) fn finish_or_roll_back(
        &mut self,
        outcome: Outcome,
        elapsed: Duration,
        reports: &mut Vec<Report>,
    ) {
        let failure = match &outcome {
            Outcome::Failed(failure) if self.options.undo_on_failure && self.rollback.is_none() => failure,
            _ => return self.finish(outcome, elapsed, reports),
        };
        let revision = self.rollback_revision(failure).map(Revision::label);
        let result = self.result_with(outcome, elapsed);
        match revision {
            Ok(revision) => {
                let target = self.id;
                self.rollback = Some(Rollback {
                    failed: result.clone(),
                    revision: revision.clone(),
                    is_written: false,
                    replaces_stuck_pods: self.options.replace_stuck_pods,
                    stuck_pod_deletions: StuckPodDeletions::default(),
                });
                reports.push(Report::RollbackStarted { target, result, revision });
                reports.push(Report::Request(FollowerRequest::RollBack(target)));
            }
            Err(reason) => self.set_result(
                TargetResult { rollback: Some(RollbackResult::NotStarted(reason.to_owned())), ..result },
                reports,
            ),
        }
    }

    /// Returns the revision to roll back to. Only a target that still matches its start state is
    /// rolled back, and only to a revision that had ready pods then.
    fn rollback_revision(&self, failure: &RolloutFailure) -> Result<&Revision, &'static str> {
        let whole = "the observation is incomplete";
        let (start_state, observation) = self.start_state().zip(self.observation()).ok_or(whole)?;
        let is_ours = !matches!(failure, RolloutFailure::TakenOver(_) | RolloutFailure::Kubectl(_));
        if !is_ours || !start_state.matches(&observation.workload) {
            return Err("another client rolled out another revision, which is not rolled back");
        }
        start_state
            .stable_revision(observation)
            .ok_or("no other revision had ready pods when following began")
    }

    /// Applies the result of the rollback's write.
    pub(super) fn apply_rollback_result(
        &mut self,
        written: Result<Box<Workload>, Error>,
        now: Now,
        reports: &mut Vec<Report>,
    ) {
        let Some(rollback) = &mut self.rollback else { return };
        match written {
            Err(error) => {
                let not_started = Some(RollbackResult::NotStarted(error.sentence()));
                let result = TargetResult { rollback: not_started, ..rollback.failed.clone() };
                self.set_result(result, reports);
            }
            Ok(written) => {
                rollback.is_written = true;
                self.reset_for_rollback(Workload::clone(&written));
                self.expected = Some(ExpectedRevision::Written(written.clone()));
                let _ = self.observation.apply(TargetEvent::Workload(written)); // the observation is complete already
                self.evaluate(now, false, reports);
            }
        }
    }

    /// Requests the deletion of the next pod that blocks the rollback, if there is one.
    ///
    /// The StatefulSet controller waits until these pods are ready, and on the failed revision they
    /// never are. It deletes none of them. Each deletion follows a separate refresh, after the controller
    /// observed the rollback. A pod that is deleted earlier comes back on the failed
    /// revision.
    pub(super) fn delete_stuck_pod(&mut self, fresh: bool, reports: &mut Vec<Report>) {
        let next = match (self.observation(), &self.rollback) {
            (Some(observation), Some(rollback)) if self.options.replace_stuck_pods => {
                rollback.stuck_pod_deletions.next(observation)
            }
            _ => None,
        };
        let next = next.map(PodRef::of);
        match (next, &mut self.rollback) {
            (Some(pod), Some(rollback)) if fresh => {
                rollback.stuck_pod_deletions.record(&pod.uid);
                reports.push(Report::Request(FollowerRequest::DeletePod(self.id, pod)));
            }
            (Some(_), _) => self.request_refresh(reports),
            (None, _) => {}
        }
    }

    pub(super) fn is_rollback_pending(&self) -> bool {
        self.rollback.as_ref().is_some_and(|rollback| !rollback.is_written)
    }

    /// Whether the event carries a state from before the rollback was written. It would look like a
    /// second failure.
    pub(super) fn predates_rollback(&self, event: &TargetEvent) -> bool {
        let workload = match event {
            TargetEvent::Workload(workload) => workload,
            TargetEvent::Refreshed(observation) => &observation.workload,
            _ => return false,
        };
        self.rollback.is_some() && workload.object().generation() < self.found.object().generation()
    }
}
