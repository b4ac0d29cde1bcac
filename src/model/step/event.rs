//! What is worth telling of a plan.

use std::time::Duration;

use super::batch::Batch;
use super::end::End;
use super::lease::Lease;
use crate::model::cause::Cause;
use crate::model::follow::{LogLines, Step};

/// How a plan begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// There was none.
    First,
    /// In the place of another one, which is forgotten.
    Anew,
    /// It was there already, and goes on.
    GoesOn,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Another process steps it; it is waited for.
    Leased {
        /// Who.
        lease: Lease,
        /// For how long nothing must be seen of it before we take over.
        patience: Duration,
    },
    /// A hold of ours was found whose strategy somebody changed: it holds nothing any more, and it is
    /// begun anew from the strategy as it is.
    HoldEnded {
        /// Who, as far as the server remembers.
        manager: Option<String>,
    },
    /// The plan was written, or found and taken over.
    Began {
        /// Whether it, or another one, was there already.
        how: Beginning,
        /// The pods that had been replaced, or were about to be, before it was held, or before a plan that
        /// begins anew.
        went_without: Vec<String>,
    },
    /// Something has to come true before it goes on, as a fragment: `the controller to see the change`.
    Waits(String),
    /// Pods are left out, because their nodes are not ready; empty when none is any more.
    LeftOut(Vec<String>),
    /// A batch begins, or reached another stage.
    Batch(Batch),
    /// One place is released: its pod may be replaced now.
    Released {
        /// The batch's number.
        batch: usize,
        /// The pod's or node's name.
        place: String,
    },
    /// A PodDisruptionBudget does not let a pod go yet.
    Refused {
        /// The pod.
        pod: String,
        /// The server's words.
        message: String,
    },
    /// A soak begins again.
    SoakBeginsAnew {
        /// The pod because of which it does.
        pod: String,
        /// Why, as a fragment: `it restarted`.
        why: String,
    },
    /// The cluster itself put pods on the new revision: a scale-up, a pod that died, a new node.
    AddedByCluster(Vec<String>),
    /// Released pods went away with a scale-down, and the plan is back at the canary.
    BackToCanary,
    /// The last batch is done, and all must stay healthy for so long.
    FinalSoak(Duration),
    /// A cause came, changed or went.
    Cause {
        /// What it is now.
        cause: Cause,
        /// Which of the three.
        step: Step,
    },
    /// The last lines of a container that a cause is about.
    Log(LogLines),
    /// It failed, and the released pods go back to this revision.
    GoesBack {
        /// The revision, as a person calls it.
        revision: String,
    },
    /// A pod is removed that is not ready and that the controller waits for in vain.
    Heals(String),
    /// It ended.
    Ended(End),
}
