//! The rollback of a target that failed, or that follows the failure of another one.

use std::time::Duration;

use super::TargetTracker;
use crate::error::Error;
use crate::model::change::stuck_pods::StuckPodDeletions;
use crate::model::engine::Now;
use crate::model::follow::options::UndoScope;
use crate::model::follow::output::{
    FollowerTask, Outcome, Report, RollbackResult, TargetEffects, TargetResult,
};
use crate::model::follow::rollback::{Rollback, StartState, unblock};
use crate::model::kind::Workload;
use crate::model::revision::Revision;

impl TargetTracker {
    /// Finishes the target, or starts the rollback if the target failed and `--undo-on-failure` is
    /// set. A rollback that fails is not rolled back.
    pub(super) fn finish_or_roll_back(
        &mut self,
        outcome: Outcome,
        elapsed: Duration,
        out: &mut TargetEffects,
    ) {
        let is_undone = self.options.undo_on_failure.is_some() && self.rollback.is_none();
        if !is_undone || !matches!(outcome, Outcome::Failed(_)) {
            return self.finish(outcome, elapsed, out);
        }
        self.has_failed = self
            .start_state
            .as_ref()
            .is_some_and(|start| start.is_of_found_rollout(&outcome, self.workload()));
        let revision = self.rollback_revision(&outcome);
        let result = self.result_with(outcome, elapsed);
        match revision {
            Ok(revision) => self.start_rollback(result, revision, out),
            Err(reason) => {
                let rollback = Some(RollbackResult::NotStarted(reason.to_owned()));
                self.set_result(TargetResult { rollback, ..result }, out);
            }
        }
    }

    /// Whether the rollout that was found failed, with `--undo-on-failure`.
    pub(in crate::model::follow) fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Starts the rollback because another target failed, with `--undo-on-failure=all`. A target without a rollout since
    /// the start goes on, and so does one that failed or that another client changed.
    pub(in crate::model::follow) fn roll_back_after(
        &mut self,
        failed: &str,
        elapsed: Duration,
        out: &mut TargetEffects,
    ) {
        if self.rollback.is_some() || (self.result.is_some() && !self.may_be_rolled_back_later()) {
            return;
        }
        let outcome = Outcome::OtherTargetFailed(failed.to_owned());
        if let Ok(revision) = self.rollback_revision(&outcome) {
            self.result = None;
            self.start_rollback(self.result_with(outcome, elapsed), revision, out);
        }
    }

    /// Whether the target has a result that the failure of another one replaces.
    pub(super) fn may_be_rolled_back_later(&self) -> bool {
        let ended = self.result.as_ref().map(|result| &result.outcome);
        self.options.undo_on_failure == Some(UndoScope::All)
            && self.rollback.is_none()
            && matches!(ended, Some(Outcome::Reached | Outcome::Held))
            && self.start_state.as_ref().is_some_and(StartState::has_stable_revision)
    }

    /// Returns the label of the revision to roll back to, or the reason for which the target is not rolled back.
    fn rollback_revision(&self, outcome: &Outcome) -> Result<String, &'static str> {
        let facts = self.start_state.as_ref().zip(self.observation());
        let (start, observation) = facts.ok_or("the observation is incomplete")?;
        start.rollback_revision(outcome, observation).map(Revision::label)
    }

    fn start_rollback(&mut self, result: TargetResult, revision: String, out: &mut TargetEffects) {
        self.rollback = Some(Rollback {
            failed: result.clone(),
            revision: revision.clone(),
            is_written: false,
            replaces_stuck_pods: self.options.replace_stuck_pods,
        });
        out.reports.push(Report::RollbackStarted { result, revision });
        out.tasks.push(FollowerTask::RollBack);
    }

    /// Applies the result of the rollback's write. The rollback is evaluated from the start.
    pub(in crate::model::follow) fn apply_rollback_result(
        &mut self,
        written: Result<Box<Workload>, Error>,
        now: Now,
        out: &mut TargetEffects,
    ) {
        let Some(rollback) = self.rollback.take() else { return };
        let written = match written {
            Ok(written) => written,
            Err(error) => {
                let not_started = Some(RollbackResult::NotStarted(error.sentence()));
                let result = TargetResult { rollback: not_started, ..rollback.failed.clone() };
                self.rollback = Some(rollback);
                return self.set_result(result, out);
            }
        };
        self.evaluation = self.evaluation.of_rollback(written.clone());
        self.found = Workload::clone(&written);
        self.stuck_pods = StuckPodDeletions::default();
        self.rollback = Some(Rollback { is_written: true, ..rollback });
        if let Some(observation) = &mut self.observation {
            observation.replace_workload(*written);
        }
        self.evaluate(now, false, out);
    }

    /// Requests the deletion of the next pod that blocks the rollback, or the revision that the command wrote, if there
    /// is one.
    pub(super) fn delete_stuck_pod(&mut self, fresh: bool, now: Duration, out: &mut TargetEffects) {
        let is_ours = self.rollback.is_some() || self.options.expect_found_template;
        let Some(observation) = &self.observation else { return };
        if !is_ours || !self.options.replace_stuck_pods {
            return;
        }
        match unblock(&mut self.stuck_pods, observation, fresh, now) {
            Some(FollowerTask::Refresh) => self.evaluation.request_refresh(out),
            task => out.tasks.extend(task),
        }
    }
}
