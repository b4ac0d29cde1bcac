//! `step`: releases an update batch by batch, with checks that no controller makes.
//!
//! A level-triggered reconciler. [`Stepper`] receives events, and does no I/O and has no clock:
//!
//! ```text
//! on an event:
//!     receive the event                           answers.rs, cluster_view.rs
//!     state = the observation, the plan in its annotation, and the pod slots    state.rs
//!     report what changed                         reporter.rs
//!     if no request is in flight:
//!         action = reconcile(state, memory)       reconcile.rs; the rules of a batch are in batch.rs, what releases its
//!                                                 pods in partition.rs, deployment.rs and daemon_set.rs
//!         perform the action                      engine.rs: one write, or one wave of guarded deletions;
//!                                                 a refresh, if the observation is not fresh
//! ```
//!
//! Watches, timers and finished requests only wake the loop: an action that they suggest is decided again on
//! a fresh observation before it is executed. What a process measures itself (`memory.rs`) can be lost at any time;
//! then it waits longer.

mod action;
mod answers;
mod batch;
mod cluster_view;
mod daemon_set;
mod deployment;
mod engine;
mod event;
mod failure;
mod memory;
mod ownership;
mod partition;
mod reconcile;
mod refusals;
mod reporter;
mod slot;
mod soak;
mod start;
mod state;
mod view;

#[cfg(test)]
mod tests;

pub use action::{RollbackOutcome, StepOutcome, StopReason};
pub use engine::Stepper;
pub use event::{
    BatchStage, BatchView, Origin, SlotState, SlotView, StepAnswer, StepOptions, StepReport, Task,
};
pub use view::{FurtherBatches, PlanView, preview};

use self::daemon_set::StepDaemonSet;
use self::deployment::StepDeployment;
use self::partition::{StepCountedPods, StepStatefulSet};
use self::state::{State, StepKind};
use crate::api::count::as_count;
use crate::api::pod::Node;
use crate::engine::Now;
use crate::error::{Error, ErrorKind, Result};
use crate::hold::plan::{Hold, MAX_PODS};
use crate::kind::{HoldMethod, Workload, strategy};
use crate::observation::Observation;

/// Returns the implementation for the kind of a workload: the table of the kinds that can be stepped.
///
/// # Errors
/// When the kind cannot be stepped, with alternatives, and when the workload has more than [`MAX_PODS`] pods.
fn step_kind(workload: &Workload) -> Result<&'static dyn StepKind> {
    let wanted = workload.wanted();
    if as_count(wanted) > MAX_PODS {
        return Err(Error::new(
            ErrorKind::Malformed,
            format!("{} has {wanted} replicas; step works with at most {MAX_PODS}", workload.target()),
        ));
    }
    match workload.kind().hold_method() {
        Ok(HoldMethod::Partition) if strategy::partition_counts_pods(workload) => Ok(&StepCountedPods),
        Ok(HoldMethod::Partition) => Ok(&StepStatefulSet),
        Ok(HoldMethod::OnDelete) => Ok(&StepDaemonSet),
        Ok(HoldMethod::MinReadySeconds) => Ok(&StepDeployment),
        Err(reason) => Err(Error::usage(format!("{} cannot be stepped: {reason}", workload.target()))),
    }
}

/// Returns the state of a plan.
///
/// # Errors
/// As [`step_kind`], and when the hold has no plan.
fn state_of<'a>(
    observed: &'a Observation,
    nodes: Option<&'a [Node]>,
    hold: &'a Hold,
    now: Now,
) -> Result<State<'a>> {
    let (kind, plan) = (step_kind(&observed.workload)?, hold.require_plan(&observed.workload)?);
    Ok(State::new(kind, observed, nodes, hold, plan, now))
}

/// Whether `step` itself deletes the pods that it releases.
#[must_use]
pub fn deletes_pods(workload: &Workload) -> bool {
    workload.kind().hold_method() == Ok(HoldMethod::OnDelete)
}

/// Whether `step` releases a number of pods, and the controller chooses which ones.
#[must_use]
pub fn counts_pods(workload: &Workload) -> bool {
    step_kind(workload).is_ok_and(StepKind::counts_pods)
}
