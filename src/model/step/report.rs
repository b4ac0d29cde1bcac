//! What a [`Stepper`](super::Stepper) reports while it runs.

use std::time::Duration;

use super::outcome::StepOutcome;
use super::view::Batch;
use crate::model::change::hold::Lease;
use crate::model::follow::{CauseChange, LogLines};
use crate::model::status::cause::Cause;

/// How a command begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// With a new plan.
    New,
    /// With a new plan that replaces another one.
    Replaced,
    /// With the plan that exists.
    Resumed,
}

/// Something to report.
#[derive(Clone, Debug, PartialEq)]
pub enum StepReport {
    /// Another process holds the lease.
    LeaseHeld {
        /// The lease.
        lease: Lease,
        /// How long we wait for it to expire; zero when we take it over at once.
        wait: Duration,
    },
    /// Another client changed the strategy under a hold, which has no effect any more.
    HoldEnded {
        /// Its field manager, as far as the server stores it.
        manager: Option<String>,
    },
    /// The lease is acquired.
    Began {
        /// With which plan.
        how: Beginning,
        /// The pods that the plan does not release, because they are updated, or about to be.
        already_updated: Vec<String>,
    },
    /// What the command waits for, as a noun phrase.
    Waiting(String),
    /// The pods that are skipped because their nodes are not ready; empty when none is any more.
    Skipped(Vec<String>),
    /// A batch began, or entered another stage.
    Batch(Batch),
    /// The pod of a slot may be replaced.
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
    /// The cluster created these pods on the new revision: a scale-up, a pod that died, a new node.
    AddedByCluster(Vec<String>),
    /// A scale-down removed every released pod, so the next batch is the canary again.
    BackToCanary,
    /// The last batch is done, and the final soak of this length began.
    FinalSoak(Duration),
    /// A cause appeared, changed or went.
    Cause {
        /// The cause.
        cause: Cause,
        /// Which of the three.
        change: CauseChange,
    },
    /// The last lines of a container that a cause names.
    Log(LogLines),
    /// The released pods go back to the revision with this label.
    RollingBack {
        /// The label.
        revision: String,
    },
    /// A stuck pod is deleted.
    ReplacesStuckPod(String),
    /// What `reconcile` decided, and why (`-v 4`).
    Decision(String),
    /// The command ended.
    Ended(StepOutcome),
}
