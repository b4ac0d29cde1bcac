//! What a [`Stepper`](super::Stepper) receives, decides and returns: the options of its command, steps, requests to its driver
//! and their replies, and reports.

use std::time::Duration;

use super::batch_view::BatchView;
use super::outcome::{StepOutcome, StopReason};
use crate::api::patch::{FieldPath, Patch};
use crate::api::pod::Node;
use crate::cause::Cause;
use crate::cause::container_logs::{LogLines, LogRef};
use crate::change::written::{DeletionResult, Written};
use crate::engine::PodRef;
use crate::error::Error;
use crate::follow::CauseChange;
use crate::hold::plan::{BatchFailure, CheckResult, HOLD_ANNOTATION, Hold, Lock, PaceFlags, Reach};
use crate::kind::Workload;
use crate::kind::fields::HoldFields;
use crate::observation::Observation;
use crate::text::plural::plural;

/// The options of a `step` command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command, and they are independent")]
pub struct StepOptions {
    /// The flags that set the pace. Other values come from the plan, or are defaults.
    pub pace: PaceFlags,
    /// The goal; none for the stored goal of the plan, or else one batch.
    pub reach: Option<Reach>,
    /// Whether the next batch begins even if too many pods are unavailable (`--force`).
    pub force: bool,
    /// Whether to replace the lock of another process (`--take-over`).
    pub take_over: bool,
    /// Whether to skip the rest of a soak (`--skip-soak`).
    pub skip_soak: bool,
    /// Whether to replace an existing plan with one from the flags of this command only (`--new-plan`).
    pub new_plan: bool,
    /// Whether to report every decision (`-v 4`).
    pub explains: bool,
    /// The time limit of the command (`--timeout`).
    pub timeout: Option<Duration>,
    /// The holder of the lock that was found, if its process has ended on this host. Its lock is replaced too.
    pub ended_holder: Option<String>,
}

/// The reply to a request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// The answer to a [`Request::Refresh`].
    Refreshed {
        /// The workload, its revisions and its pods.
        observed: Box<Observation>,
        /// The nodes; none when listing nodes is forbidden.
        nodes: Option<Vec<Node>>,
    },
    /// A [`Request::Refresh`] failed.
    Unrefreshed(Error),
    /// The result of a patch.
    Written(Written),
    /// The results of a wave of deletions.
    Deleted(Vec<(PodRef, DeletionResult)>),
    /// The result of the check.
    Checked(CheckResult),
}

/// What `step` decided to do next.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    /// Wait for an event. If the wait lasts, its condition is reported, if there is one: `the pods that are starting`.
    Wait(Option<String>),
    /// Send a request, and decide again on its reply.
    Ask(Request),
    /// Remember that the batch failed, and decide again.
    Fail(BatchFailure),
    /// End the command with this outcome. If this process may have acquired the lock, release it before.
    End(StepOutcome),
}

impl Step {
    /// Creates the step to wait for a condition.
    pub(super) fn wait_for(what: impl Into<String>) -> Self {
        Self::Wait(Some(what.into()))
    }

    /// Creates the step to send a patch. The hold is that of the plan that it stores; none if it ends the plan.
    pub(super) fn write(then: Then, patch: Patch, hold: Option<Hold>) -> Self {
        Self::Ask(Request::Patch(Box::new(Write { then, patch, hold })))
    }

    /// Creates the step to stop.
    pub(super) fn stop(reason: StopReason) -> Self {
        Self::End(StepOutcome::Stopped(reason))
    }

    /// Creates the step to store a plan. The fields are new values of the fields of the hold, such as those that release
    /// pods.
    pub(super) fn write_plan(
        then: Then,
        hold: Hold,
        hold_fields: Option<HoldFields>,
        workload: &Workload,
    ) -> Self {
        match hold.into_patch(workload, hold_fields) {
            Ok((hold, patch)) => Self::write(then, patch, Some(hold)),
            Err(error) => Self::End(StepOutcome::Error(error)),
        }
    }

    /// Creates the step to end the plan of a workload, and to restore the original fields.
    pub(super) fn end_plan(outcome: StepOutcome, hold: &Hold, workload: &Workload) -> Self {
        Self::write(Then::EndPlan(outcome), hold.ending(workload), None)
    }

    /// Returns it for `-v 4`, as an imperative.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Wait(None) => "wait".to_owned(),
            Self::Wait(Some(what)) => format!("wait for {what}"),
            Self::Ask(Request::Refresh) => "read everything again".to_owned(),
            Self::Ask(Request::Patch(write)) => write.then.words().to_owned(),
            Self::Ask(Request::Delete { pods, .. }) => format!("delete {}", plural(pods.len(), "pod")),
            Self::Ask(Request::DeleteStuck(pod)) => format!("delete the stuck pod {}", pod.name),
            Self::Ask(Request::ReadLog(_)) => "read a log".to_owned(),
            Self::Ask(Request::Check(_)) => "run the check".to_owned(),
            Self::Fail(failure) => format!("fail: {}", failure.words()),
            Self::End(outcome) => format!("end: {}", outcome.word()),
        }
    }

    /// Whether it sends a patch or deletes pods.
    pub(super) fn is_write(&self) -> bool {
        matches!(self, Self::Ask(Request::Patch(_) | Request::Delete { .. } | Request::DeleteStuck(_)))
    }
}

/// A request to the driver. At most one refresh, patch or wave of deletions is in flight; a check may run beside it, so that an
/// external change is noticed meanwhile.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Get the workload, list its revisions and its pods, then the nodes if they are needed, and apply [`Reply::Refreshed`] or
    /// [`Reply::Unrefreshed`].
    Refresh,
    /// Send one patch of the workload, and apply [`Reply::Written`].
    Patch(Box<Write>),
    /// Read the workload again. If it is [unchanged], delete a wave of pods, each with a uid precondition. Then apply
    /// [`Reply::Deleted`].
    ///
    /// [unchanged]: crate::hold::plan::guarded
    Delete {
        /// The pods.
        pods: Vec<PodRef>,
        /// Whether to evict them, so that PodDisruptionBudgets apply.
        evict: bool,
    },
    /// Delete a stuck pod in the same way: its controller waits for it and does not replace it.
    DeleteStuck(PodRef),
    /// Run a check for the pods of a batch, and apply [`Reply::Checked`].
    Check(BatchView),
    /// Read the last log lines of a container, and apply [`TargetEvent::Log`](crate::engine::TargetEvent::Log).
    ReadLog(LogRef),
}

/// A patch of the workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Write {
    /// What the patch is for, which is done once it is stored.
    pub(super) then: Then,
    /// The patch.
    pub patch: Patch,
    /// The hold of the plan that it stores; `None` if it ends the plan.
    pub(super) hold: Option<Hold>,
}

/// What a patch is for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Then {
    /// To acquire the lock, with a new plan or the existing one, and the fields that hold the workload if it is not held.
    /// The reports are printed once that is stored.
    AcquireLock(Vec<StepReport>),
    /// To begin a batch, with the fields that release what can be released at once.
    BeginBatch {
        /// Whether `--force` begins it although too many pods are unavailable.
        forced: bool,
    },
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

impl Then {
    /// Returns what the patch does, as an imperative.
    pub(super) fn words(&self) -> &'static str {
        match self {
            Self::AcquireLock(_) => "acquire the lock",
            Self::BeginBatch { .. } => "begin the next batch",
            Self::ReleaseSlots => "release more pods",
            Self::FinishBatch => "record that the batch is done",
            Self::RollBack => "roll back",
            Self::EndPlan(_) => "end the plan",
            Self::Unlock => "release the lock",
        }
    }
}

/// One report.
#[derive(Clone, Debug, PartialEq)]
pub enum StepReport {
    /// This command replaces the lock of another process.
    ReplacesLock(Lock),
    /// Another client changed the strategy, so that the hold is not in force any more.
    HoldEnded {
        /// The field manager, if managed fields show it.
        manager: Option<String>,
    },
    /// The lock is acquired.
    Began {
        /// What held the workload before.
        origin: Origin,
        /// The pods that the plan does not release, because they are updated or being updated.
        already_updated: Vec<String>,
    },
    /// Another client scaled the workload since the last observation, where pods are only counted.
    Scaled {
        /// How many pods were wanted then.
        from: i64,
        /// How many pods are wanted now.
        to: i64,
    },
    /// The command waits for this condition, a noun phrase.
    Waiting(String),
    /// The pods that are skipped because their nodes are not ready; empty when none is skipped any more.
    Skipped(Vec<String>),
    /// A batch began, or entered another stage.
    Batch(BatchView),
    /// A slot was released: its pod may be replaced.
    Released {
        /// The number of the batch.
        batch: usize,
        /// The slot.
        slot: String,
    },
    /// A PodDisruptionBudget does not allow an eviction now.
    EvictionRefused {
        /// The pod.
        pod: String,
        /// The server's message.
        message: String,
    },
    /// The soak starts again.
    SoakRestarted {
        /// The pod that interrupted it.
        pod: String,
        /// Why, as a clause.
        why: String,
    },
    /// A check that runs again and again did not pass, or passed again.
    Checked {
        /// The number of the batch.
        batch: usize,
        /// The result of this run.
        result: CheckResult,
        /// How many runs in a row did not pass.
        failures: u32,
        /// After how many the batch fails.
        limit: u32,
    },
    /// The controller created these pods on the new revision: after a scale-up, a pod failure, or for a new node.
    AddedByController(Vec<String>),
    /// A cause appeared, changed or disappeared.
    Cause {
        /// The cause.
        cause: Cause,
        /// What happened to it.
        change: CauseChange,
    },
    /// The last log lines of a container that a cause is about.
    Log(LogLines),
    /// A rollback of the released pods began.
    RollingBack {
        /// The label of the revision to roll back to.
        revision: String,
    },
    /// `step` deletes a stuck pod.
    ReplacesStuckPod(PodRef),
    /// What `step` decided (`-v 4`).
    Decision(String),
}

/// What held the workload before this command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A plan that continues, releasing batches or rolling back.
    Plan,
    /// A plan, which a new one replaces.
    Replaced,
    /// A pause that the annotation stores.
    Pause,
    /// No annotation of a hold in force: nothing holds the workload, or its own field pauses it.
    Free,
}
