//! What `reconcile` returns: the next action, or how the command ends.

use std::time::Duration;

use serde_json::Value;

use super::event::{BatchView, StepReport};
use crate::api::patch::{FieldPath, Patch};
use crate::engine::{PodRef, StopSignal};
use crate::error::Error;
use crate::exit::Exit;
use crate::hold::plan::{BatchFailure, HOLD_ANNOTATION, Hold, Lock};
use crate::kind::Workload;
use crate::kind::fields::HoldFields;
use crate::text::plural::plural;

/// What to do next.
#[derive(Debug, PartialEq)]
pub(super) enum Action {
    /// Wait for an event.
    Wait,
    /// Read everything again before another action is performed.
    Refresh,
    /// Wait for this condition. If the wait lasts, the text is reported: `the pods that are starting`.
    WaitFor(String),
    /// Send a patch.
    Write(Box<Write>),
    /// Delete a wave of pods.
    DeleteWave(Vec<PodRef>),
    /// Delete a stuck pod: its controller waits for it and does not replace it.
    DeleteStuckPod(PodRef),
    /// Run the check of the batch.
    RunCheck,
    /// Run the check once for these pods, which run the revision without a batch.
    CheckUpdated(BatchView),
    /// Remember that the batch failed.
    Fail(BatchFailure),
    /// End the command with this outcome. If this process may have acquired the lock, release it before.
    End(StepOutcome),
    /// End the command now: it has no lock to release.
    EndNow(StepOutcome),
}

/// A patch of the workload.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Write {
    pub(super) purpose: Purpose,
    pub(super) patch: Patch,
    /// The hold of the plan that it stores; none if it ends the plan.
    pub(super) hold: Option<Hold>,
}

/// The purpose of a patch.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Purpose {
    /// To acquire the lock, with a new plan or the existing one, and the fields that hold the workload if it is not held.
    /// The reports are printed once that is stored.
    AcquireLock(Vec<StepReport>),
    /// To begin a batch, with the fields that release what can be released at once; with `--force` although this many pods
    /// are unavailable.
    BeginBatch(Option<usize>),
    /// To release slots of the batch, or more of them.
    ReleaseSlots,
    /// To record that the batch is done.
    FinishBatch,
    /// To write the template of the revision before.
    RollBack,
    /// To end the plan with this outcome.
    EndPlan(StepOutcome),
    /// To release the lock.
    Unlock,
}

impl Write {
    /// Returns the value of the annotation that it stores.
    pub(super) fn annotation(&self) -> Option<&str> {
        FieldPath::annotation(HOLD_ANNOTATION).value_in(self.patch.after())?.as_str()
    }
}

impl Purpose {
    /// Returns what the patch does, as an imperative.
    pub(super) fn words(&self) -> &'static str {
        match self {
            Self::AcquireLock(_) => "acquire the lock",
            Self::BeginBatch(_) => "begin the next batch",
            Self::ReleaseSlots => "release more pods",
            Self::FinishBatch => "record that the batch is done",
            Self::RollBack => "roll back",
            Self::EndPlan(_) => "end the plan",
            Self::Unlock => "release the lock",
        }
    }
}

impl Action {
    /// Creates the action to wait for a condition.
    pub(super) fn wait_for(what: impl Into<String>) -> Self {
        Self::WaitFor(what.into())
    }

    /// Creates the action to send a patch. The hold is that of the plan that it stores; none if it ends the plan.
    pub(super) fn write(purpose: Purpose, patch: Patch, hold: Option<Hold>) -> Self {
        Self::Write(Box::new(Write { purpose, patch, hold }))
    }

    /// Creates the action to stop.
    pub(super) fn stop(reason: StopReason) -> Self {
        Self::End(StepOutcome::Stopped(reason))
    }

    /// Creates the action to store a plan. The fields are new values of the fields of the hold, such as those that release
    /// pods.
    pub(super) fn write_plan(
        purpose: Purpose,
        hold: Hold,
        hold_fields: Option<HoldFields>,
        workload: &Workload,
    ) -> Self {
        match hold.into_patch(workload, hold_fields) {
            Ok((hold, patch)) => Self::write(purpose, patch, Some(hold)),
            Err(error) => Self::End(StepOutcome::Error(error)),
        }
    }

    /// Creates the action to end the plan of a workload, and to restore the original fields.
    pub(super) fn end_plan(outcome: StepOutcome, hold: &Hold, workload: &Workload) -> Self {
        Self::write(Purpose::EndPlan(outcome), hold.ending(workload), None)
    }

    /// Returns the action for `-v 4`, as an imperative.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Wait => "wait".to_owned(),
            Self::Refresh => "read everything again".to_owned(),
            Self::WaitFor(what) => format!("wait for {what}"),
            Self::Write(write) => write.purpose.words().to_owned(),
            Self::DeleteWave(wave) => format!("delete {}", plural(wave.len(), "pod")),
            Self::DeleteStuckPod(pod) => format!("delete the stuck pod {}", pod.name),
            Self::RunCheck | Self::CheckUpdated(_) => "run the check".to_owned(),
            Self::Fail(failure) => format!("fail: {}", failure.words()),
            Self::End(outcome) | Self::EndNow(outcome) => format!("end: {}", outcome.word()),
        }
    }

    /// Whether the decision needs a fresh observation. A check does not: its result counts only if every pod was ready
    /// since, and what follows from it needs one. The release of the lock tests the annotation, and has little time.
    pub(super) fn needs_refresh(&self) -> bool {
        match self {
            Self::Wait | Self::WaitFor(_) | Self::RunCheck | Self::CheckUpdated(_) | Self::EndNow(_) => false,
            Self::Write(write) => write.purpose != Purpose::Unlock,
            _ => true,
        }
    }

    /// Whether it sends a patch or deletes pods.
    pub(super) fn is_request(&self) -> bool {
        matches!(self, Self::Write(_) | Self::DeleteWave(_) | Self::DeleteStuckPod(_))
    }
}

/// How a `step` command ended.
#[derive(Clone, Debug, PartialEq)]
pub enum StepOutcome {
    /// No pod that a plan would release is outdated, and nothing was written.
    NothingOutdated,
    /// The goal of the command is reached, and the remaining pods are held.
    Reached {
        /// How many pods run the new revision.
        updated: usize,
        /// How many pods there are.
        of: usize,
    },
    /// Every batch is done, and the original strategy is restored, without a pause.
    Complete,
    /// No more pods are released, and nothing is rolled back: the user must decide. Exit 5.
    Stopped(StopReason),
    /// A batch or a check failed. Exit 4.
    Failed {
        /// Why; none if the plan is rolling back and does not say why: `undo` began the rollback.
        failure: Option<BatchFailure>,
        /// The outcome of the rollback, if the plan requires one.
        rollback: Option<RollbackOutcome>,
    },
    /// The command's own timeout; the plan stays. Exit 3.
    TimedOut(Duration),
    /// A signal ended the command; the plan stays.
    Interrupted(StopSignal),
    /// The workload was deleted.
    Gone {
        /// Whether another workload has its name.
        recreated: bool,
    },
    /// The command cannot continue. The error sets the exit code.
    Error(Error),
}

/// Why no more pods are released.
#[derive(Clone, Debug, PartialEq)]
pub enum StopReason {
    /// The plan is paused.
    Paused,
    /// Another process holds the lock, and may still run.
    Locked(Lock),
    /// Another process took the plan over.
    TakenOver {
        /// The holder of that lock, if it is known.
        by: Option<String>,
    },
    /// Another client changed the template, the strategy or the annotation.
    Changed {
        /// The field manager, if managed fields show it.
        manager: Option<String>,
        /// Descriptions of the changes.
        changes: Vec<String>,
        /// The original update strategy, if nothing in the cluster stores it any more.
        lost_original: Option<Value>,
        /// The label of the revision that the plan began from, if the change was a rollback to it and ended the hold.
        rolled_back_to: Option<String>,
    },
    /// It is scaled to 0 replicas, so that there is no pod to release, and none that a hold keeps outdated.
    NoReplicas,
    /// Too many pods are unavailable to release another one.
    Unhealthy {
        /// The unavailable pods, each with the reason.
        pods: Vec<(String, String)>,
        /// How many pods may be unavailable.
        allowed: usize,
    },
    /// The original partition, or the original node selector, keeps pods outdated that the command asked for.
    OwnPartition {
        /// The partition; 0 for a node selector alone.
        partition: i64,
        /// How many pods it keeps outdated.
        outdated: usize,
    },
    /// No selected node has an outdated pod.
    NotSelected {
        /// How many other nodes have one.
        others: usize,
    },
    /// The plan can end only once the pods on these nodes are updated and available, and the nodes are not ready.
    OnUnreadyNodes(Vec<String>),
    /// The next pod is on a node that is not ready, and cannot be skipped.
    OnUnreadyNode {
        /// The pod.
        pod: String,
        /// Its node.
        node: String,
    },
}

/// The outcome of a rollback.
#[derive(Clone, Debug, PartialEq)]
pub enum RollbackOutcome {
    /// All pods run the revision before, and are available.
    Done {
        /// The label of that revision.
        revision: String,
    },
    /// It began, and is not complete.
    Unfinished {
        /// The label of that revision.
        revision: String,
        /// Why, as a clause.
        why: String,
    },
    /// It did not begin; why, as a clause.
    NotStarted(String),
}

impl StepOutcome {
    /// Returns the name for text and JSON.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::NothingOutdated => "nothing-outdated",
            Self::Reached { .. } => "reached",
            Self::Complete => "complete",
            Self::Stopped(_) => "stopped",
            Self::Failed { .. } => "failed",
            Self::TimedOut(_) => "timed-out",
            Self::Interrupted(stop) => stop.json_name(),
            Self::Gone { recreated: false } => "deleted",
            Self::Gone { recreated: true } => "recreated",
            Self::Error(_) => "error",
        }
    }

    /// Returns the exit code.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::NothingOutdated | Self::Reached { .. } | Self::Complete => Exit::Done,
            Self::Stopped(_) => Exit::Held,
            Self::Failed { .. } => Exit::Failed,
            Self::TimedOut(_) => Exit::Unfinished,
            Self::Interrupted(signal) => signal.exit(),
            Self::Gone { .. } => Exit::Error,
            Self::Error(error) => error.exit(),
        }
    }
}
