//! The reports of a [`Stepper`](super::Stepper).

use std::time::Duration;

use super::outcome::CheckResult;
use super::view::Batch;
use crate::model::cause::Cause;
use crate::model::follow::{CauseChange, LogLines};
use crate::model::hold::plan::Lock;

/// How a command acquired the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// With a new plan.
    New,
    /// With a new plan that replaces another one.
    Replaced,
    /// With the existing plan.
    Resumed,
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
        /// The plan of the command.
        how: Beginning,
        /// The pods that the plan does not release, because they are updated or being updated.
        already_updated: Vec<String>,
    },
    /// Another client scaled the workload since its last batch began.
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
    Batch(Batch),
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
    /// A scale-down removed every released pod, so the next batch is the canary again.
    BackToCanary,
    /// The last batch is done, and the final soak of this length began.
    FinalSoak(Duration),
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
    ReplacesStuckPod(String),
    /// What `reconcile` decided, and why (`-v 4`).
    Decision(String),
}
