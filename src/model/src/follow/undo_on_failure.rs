//! `--undo-on-failure`: whether a target that failed, or that follows the failure of another one, is rolled back, to which
//! revision, and which pods block the rollback.

use std::collections::HashMap;
use std::time::Duration;

use super::memory::Memory;
use super::options::{ExpectedRevision, UndoScope};
use super::progress::failure_stamps;
use super::report::{FollowRequest, Outcome, Report, Rollback, RollbackResult, RolloutFailure, TargetResult};
use super::start_state::{NoRollback, StartState};
use super::target::{FollowedTarget, Stage};
use crate::api::pod::Pod;
use crate::change::stuck_pods::StuckPodDeletions;
use crate::change::undo::{UndoOptions, take_back_command, undo};
use crate::engine::{Effects, Now, PodRef};
use crate::kind::Workload;
use crate::kind::verdict::RolloutState;
use crate::observation::Observation;
use crate::status::verdict;

impl FollowedTarget {
    /// Whether an outcome is a failure after which `--undo-on-failure` rolls back. A rollback that fails is not rolled back.
    pub(super) fn is_to_be_rolled_back(&self, outcome: &Outcome) -> bool {
        let is_failure = matches!(outcome, Outcome::Failed(_));
        is_failure && self.options().undo_on_failure.is_some() && self.rollback.is_none()
    }

    /// Starts the rollback after a failure. Finishes the target if there is nothing to roll back to.
    pub(super) fn roll_back(&mut self, outcome: Outcome, elapsed: Duration) {
        // `--until old-gone` waits longer than for a complete rollout. A container in a crash loop is ready for a moment.
        let is_complete = self.observation().is_some_and(is_complete_and_ready)
            && !self.memory.causes.active().any(|cause| cause.id.ends_container());
        let rollback = self.rollback_after(&outcome);
        let rollback = rollback.and_then(|to| if is_complete { Err(NoRollback::Complete) } else { Ok(to) });
        let Effects { reports, tasks } = self.memory.report_end(&outcome, &self.options, elapsed);
        self.effects.reports.extend(reports);
        self.effects.tasks.extend(tasks);
        let result = self.result_with(outcome, elapsed);
        match rollback {
            Ok((start, revision)) => self.start_rollback(result, start, revision),
            Err(reason) => {
                let rollback = Some(RollbackResult::NotStarted(reason));
                self.set_result(TargetResult { rollback, ..result });
            }
        }
    }

    /// Starts the rollback because another target failed, with `--undo-on-failure=all`. A target that is no part of the release
    /// goes on, and so does one that failed or that another client changed.
    pub(super) fn roll_back_after(&mut self, failed: &str, elapsed: Duration) {
        let is_other = self.start_state.as_ref().is_some_and(|start| !start.is_released);
        let has_ended = matches!(self.stage, Stage::Ended(_));
        if self.rollback.is_some() || is_other || has_ended {
            return;
        }
        let outcome = Outcome::OtherTargetFailed(failed.to_owned());
        if let Ok((start, revision)) = self.rollback_after(&outcome) {
            self.start_rollback(self.result_with(outcome, elapsed), start, revision);
        }
    }

    /// Whether the rollout that was found failed, so that with `--undo-on-failure=all` the other targets are rolled back too.
    pub(super) fn found_rollout_has_failed(&self) -> bool {
        let ended = match (&self.rollback, &self.stage) {
            (Some(rollback), _) => &rollback.failed,
            (None, Stage::Ended(result)) => result,
            (None, _) => return false,
        };
        let is_complete_or_another = matches!(
            ended.rollback,
            Some(RollbackResult::NotStarted(NoRollback::OtherRollout | NoRollback::Complete))
        );
        matches!(ended.outcome, Outcome::Failed(_)) && !is_complete_or_another
    }

    /// Whether the failure of another target replaces a result with this outcome.
    pub(super) fn is_to_follow_a_failure(&self, outcome: &Outcome) -> bool {
        self.options().undo_on_failure == Some(UndoScope::All)
            && self.rollback.is_none()
            && matches!(outcome, Outcome::Reached | Outcome::Held)
            && self.start_state.as_ref().is_some_and(|start| start.stable.is_ok() && start.is_released)
    }

    /// Returns the start state to roll back to after this outcome, and the label of its stable revision.
    fn rollback_after(&self, outcome: &Outcome) -> Result<(StartState, String), NoRollback> {
        if matches!(outcome, Outcome::Failed(RolloutFailure::Replaced(_))) {
            return Err(NoRollback::OtherRollout);
        }
        let (start, observation) =
            self.start_state.as_ref().zip(self.observation()).ok_or(NoRollback::Unread)?;
        Ok((start.clone(), start.rollback_revision(observation)?.label()))
    }

    fn start_rollback(&mut self, result: TargetResult, start: StartState, revision: String) {
        let (failed, causes) = (result.clone(), self.causes().cloned().collect());
        let take_back = self.observation().and_then(|failed| {
            let undo = undo(failed, start.rollback_revision(failed).ok()?, &UndoOptions::default()).ok()?;
            take_back_command(failed, &undo)
        });
        let revision_label = revision.clone();
        self.stage = Stage::RollsBack(None);
        self.rollback =
            Some(Rollback { failed, causes, revision: revision_label, take_back, is_written: false });
        self.effects.reports.push(Report::RollbackStarted { result, revision });
        let unless_recovered = self.options().undo_on_failure != Some(UndoScope::All);
        self.effects.tasks.push(FollowRequest::RollBack { start, unless_recovered });
    }

    /// Applies the result of the rollback's write. The rollback is evaluated from the start; a target that recovered before
    /// the write is followed on.
    pub(super) fn apply_rollback_result(
        &mut self,
        written: Result<Option<Box<Workload>>, RollbackResult>,
        now: Now,
    ) {
        let Some(rollback) = self.rollback.take() else { return };
        let stage = std::mem::replace(&mut self.stage, Stage::Followed);
        match written {
            Ok(Some(written)) => {
                self.memory = Memory::of(Some(ExpectedRevision::Written(written.clone())));
                (self.final_refresh, self.refresh_requested) = (None, false);
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
            Ok(None) => {}
            Err(unwritten) => {
                let result = TargetResult { rollback: Some(unwritten), ..rollback.failed.clone() };
                self.rollback = Some(rollback);
                return self.set_result(result);
            }
        }
        self.advance(now, false);
        if let Stage::RollsBack(Some(end)) = stage {
            self.apply(end, now);
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
            self.effects.reports.push(Report::ReplacesStuckPod(pod.clone()));
            self.effects.tasks.push(FollowRequest::DeletePod(pod));
        } else {
            self.request_refresh();
        }
    }
}

impl Rollback {
    /// Returns the result: the failure, and the outcome of the rollback.
    pub(super) fn end(self, outcome: Outcome, elapsed: Duration) -> TargetResult {
        let rollback = RollbackResult::RolledBack { revision: self.revision, outcome };
        TargetResult { elapsed, rollback: Some(rollback), ..self.failed }
    }
}

/// Whether a rollout is complete, and its pods are ready.
#[must_use]
pub fn is_complete_and_ready(observation: &Observation) -> bool {
    verdict(observation).state == RolloutState::Complete
        && observation.own_pods().filter(|pod| pod.is_active()).all(|pod| pod.ready)
}

/// Whether a rollout is complete in two observations with pods, and none failed between them. A container in a crash loop is
/// ready for a moment. No stamp is compared with the server's time, because the clock of a node may differ.
#[must_use]
pub fn stayed_complete(before: &Observation, later: &Observation) -> bool {
    let stamps: HashMap<_, _> =
        before.own_pods().map(|pod| (pod.uid.as_str(), failure_stamps(pod))).collect();
    let is_same =
        |pod: &Pod| stamps.get(pod.uid.as_str()).is_none_or(|before| *before == failure_stamps(pod));
    let is_seen = |one: &Observation| one.pods.is_some() && is_complete_and_ready(one);
    [before, later].into_iter().all(is_seen) && later.own_pods().filter(|pod| pod.is_active()).all(is_same)
}
