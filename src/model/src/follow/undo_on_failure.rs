//! `--undo-on-failure`: which targets are rolled back after a failure, to which revision, and which pods block the rollback.
//! The command writes the rollback between the two times that it follows a target.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use super::options::{FollowOptions, UndoScope};
use super::report::{FollowRequest, Outcome, Report, RolloutFailure, TargetResult};
use super::start_state::{NoRollback, StartState};
use super::target::FollowedTarget;
use crate::api::pod::Pod;
use crate::cause::Cause;
use crate::engine::{PodRef, TargetId};
use crate::exit::Exit;
use crate::kind::verdict::RolloutState;
use crate::observation::Observation;
use crate::settle::failure_stamps;
use crate::status::verdict;

/// The rollback of a target whose rollout failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Rollback {
    /// How the rollout ended.
    pub failed: TargetResult,
    /// The causes of that, most important first.
    pub causes: Vec<Cause>,
    /// The label that the revision to roll back to had then. The rollback gives it a new number.
    pub revision: String,
    /// The result of the write: the command that takes it back, if one does, or why the target is not known to be rolled back.
    /// `None` while it is being written.
    pub written: Option<Result<Option<String>, NoRollback>>,
}

/// The rollbacks of a command.
pub type Rollbacks = BTreeMap<TargetId, Rollback>;

/// A target and its rollback. Once that is written, the target is the rollback that is followed.
#[derive(Clone, Copy, Debug)]
pub struct Followed<'a> {
    /// The target.
    pub target: &'a FollowedTarget,
    /// Its rollback, once one was begun.
    pub rollback: Option<&'a Rollback>,
}

impl<'a> Followed<'a> {
    /// Whether the rollback was written, so that the present revision is the restored one.
    #[must_use]
    pub fn is_rollback_written(&self) -> bool {
        self.rollback.is_some_and(|rollback| matches!(rollback.written, Some(Ok(_))))
    }

    /// Returns the last result, once nothing follows: that of the rollback, if it was written.
    #[must_use]
    pub fn result(&self) -> Option<&'a TargetResult> {
        let is_being_written = self.rollback.is_some_and(|rollback| rollback.written.is_none());
        self.target.result().filter(|_| !is_being_written)
    }

    /// Returns how the rollout ended that was found.
    #[must_use]
    pub fn failed_or_result(&self) -> Option<&'a TargetResult> {
        self.rollback.map(|rollback| &rollback.failed).or_else(|| self.target.result())
    }

    /// Returns the outcome of the rollout that was found.
    #[must_use]
    pub fn outcome(&self) -> Option<&'a Outcome> {
        self.failed_or_result().map(|result| &result.outcome)
    }

    /// Returns the revision of a rollback that was written, and its outcome.
    #[must_use]
    pub fn rolled_back(&self) -> Option<(&'a str, &'a Outcome)> {
        let rollback = self.rollback.filter(|_| self.is_rollback_written())?;
        Some((&rollback.revision, &self.target.result()?.outcome))
    }

    /// Returns why a failure is not known to be rolled back.
    #[must_use]
    pub fn no_rollback(&self) -> Option<&'a NoRollback> {
        match self.rollback {
            Some(rollback) => rollback.written.as_ref()?.as_ref().err(),
            None => self.target.result()?.no_rollback.as_ref(),
        }
    }

    /// Returns the exit code. A failed rollout stays failed after a successful rollback.
    #[must_use]
    pub fn exit(&self) -> Exit {
        self.failed_or_result().map_or(Exit::Unfinished, TargetResult::exit)
    }
}

impl FollowedTarget {
    /// Returns the start state to roll back to after a failure, or a timeout with `--undo-on-timeout`, and the label of its stable
    /// revision. `None` after another outcome, and without `--undo-on-failure`.
    pub(super) fn rollback_after_failure(
        &self,
        outcome: &Outcome,
    ) -> Option<Result<(StartState, String), NoRollback>> {
        self.options().undo_on_failure.filter(|_| self.is_failure(outcome))?;
        // `--until old-gone` waits longer than for a complete rollout. A container in a crash loop is ready for a moment.
        let is_complete = self.observation().is_some_and(is_complete_and_ready)
            && !self.memory.causes.active().any(|cause| cause.id.ends_container());
        let rollback = self.rollback_after(outcome);
        Some(rollback.and_then(|to| if is_complete { Err(NoRollback::Complete) } else { Ok(to) }))
    }

    /// Whether an outcome is one that `--undo-on-failure` rolls back.
    fn is_failure(&self, outcome: &Outcome) -> bool {
        match outcome {
            Outcome::Failed(_) => true,
            Outcome::TimedOut(_) => self.options().undo_on_timeout,
            _ => false,
        }
    }

    /// Ends the target if it is rolled back because another one failed, with `--undo-on-failure=all`. A target that is no part
    /// of the release goes on, and so does one that failed or that another client changed.
    pub(super) fn end_after(&mut self, failed: &str, elapsed: Duration) {
        let is_other = self.start_state.as_ref().is_some_and(|start| !start.is_released);
        let is_all = self.options().undo_on_failure == Some(UndoScope::All);
        if !is_all || is_other || self.is_over || self.due_rollback.is_some() {
            return;
        }
        let outcome = Outcome::OtherTargetFailed(failed.to_owned());
        if let Ok(to) = self.rollback_after(&outcome) {
            self.due_rollback = Some(to);
            self.result = Some(self.result_with(outcome, elapsed));
        }
    }

    /// Whether the rollout failed, so that with `--undo-on-failure=all` the other targets are rolled back too.
    pub(super) fn ends_release(&self) -> bool {
        let is_all = self.options().undo_on_failure == Some(UndoScope::All);
        let is_failure = |result: &TargetResult| {
            let is_complete_or_another =
                matches!(result.no_rollback, Some(NoRollback::OtherRollout | NoRollback::Complete));
            self.is_failure(&result.outcome) && !is_complete_or_another
        };
        is_all && self.result().is_some_and(is_failure)
    }

    /// Whether the failure of another target replaces a result with this outcome.
    pub(super) fn is_to_follow_a_failure(&self, outcome: &Outcome) -> bool {
        self.options().undo_on_failure == Some(UndoScope::All)
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

    /// Takes the rollback that is due.
    pub(super) fn take_rollback(&mut self) -> Option<(StartState, Rollback)> {
        let (start, revision) = self.due_rollback.take()?;
        self.is_over = true;
        let (failed, causes) = (self.result()?.clone(), self.causes().cloned().collect());
        Some((start, Rollback { failed, causes, revision, written: None }))
    }

    /// Requests the deletion of the next pod that blocks the revision that the command wrote, if there is one.
    ///
    /// The StatefulSet controller waits until such pods are ready, and on the failed revision they
    /// never are. It deletes none of them. Each deletion follows a separate refresh, after the controller
    /// observed the rollback and nothing moved for a moment. A pod that is deleted earlier comes back on the failed
    /// revision.
    pub(super) fn delete_stuck_pod(&mut self, is_refresh: bool, now: Duration) {
        let FollowOptions { expect_found_template, replace_stuck_pods, .. } = *self.options;
        let Some(observation) = &self.observation else { return };
        if !expect_found_template || !replace_stuck_pods {
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
