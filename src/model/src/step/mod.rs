//! `step`: releases an update batch by batch, with checks that no controller makes.
//!
//! A level-triggered reconciler. [`Stepper`] receives events, and does no I/O and has no clock:
//!
//! ```text
//! on an event:
//!     receive the event                           answers.rs, world.rs
//!     state = the observation, the plan in its annotation, and the pod slots    hold/mechanism/mod.rs
//!     record and report what changed              memory.rs
//!     if no request is in flight:
//!         step = decide(state, memory)            decide.rs; the rules of a batch are in batch.rs, what releases its
//!                                                 pods in hold/mechanism/
//!         perform the step                        engine.rs: one write, or one wave of guarded deletions;
//!                                                 a refresh, if the event was none
//! ```
//!
//! Watches, timers and finished requests only wake the loop: a step that they suggest is decided again on
//! a fresh observation before it is executed. What a process measures itself (`memory.rs`) can be lost at any time;
//! then it waits longer.

mod answers;
mod batch;
mod batch_view;
mod decide;
mod ending;
mod engine;
mod failure;
mod memory;
mod obstacle;
mod outcome;
mod ownership;
mod refusals;
mod request;
mod soak;
mod start;
mod view;
mod world;

#[cfg(test)]
mod tests;

pub use crate::hold::slot::{SlotState, SlotView};
pub use batch_view::{BatchStage, BatchView};
pub use engine::Stepper;
pub use outcome::{RollbackOutcome, StepOutcome, StopReason};
pub use request::{Origin, Reply, Request, StepOptions, StepReport};
pub use view::{FurtherBatches, PlanView, preview};

use crate::api::count::as_count;
use crate::api::pod::Node;
use crate::engine::Now;
use crate::error::{Error, ErrorKind, Result};
use crate::hold::mechanism::{Mechanism, State};
use crate::hold::plan::{Hold, MAX_PODS};
use crate::kind::{MechanismName, Workload};
use crate::observation::Observation;

/// Returns the mechanism by which a workload is stepped.
///
/// # Errors
/// When it cannot be stepped, and when it has more than [`MAX_PODS`] pods.
fn mechanism_of(workload: &Workload) -> Result<&'static dyn Mechanism> {
    let wanted = workload.wanted();
    if as_count(wanted) > MAX_PODS {
        return Err(Error::new(
            ErrorKind::Malformed,
            format!("{} has {wanted} replicas; step works with at most {MAX_PODS}", workload.target()),
        ));
    }
    workload
        .mechanism()
        .map_err(|reason| Error::usage(format!("{} cannot be stepped: {reason}", workload.target())))
}

/// Returns the state of a plan.
///
/// # Errors
/// As [`mechanism_of`], and when the hold has no plan.
pub(crate) fn state_of<'a>(
    observed: &'a Observation,
    nodes: Option<&'a [Node]>,
    hold: &'a Hold,
    now: Now,
) -> Result<State<'a>> {
    let mechanism = mechanism_of(&observed.workload)?;
    let Some(plan) = &hold.plan else {
        let target = observed.workload.target();
        return Err(Error::new(ErrorKind::Malformed, format!("the hold of {target} has no plan")));
    };
    Ok(State::new(mechanism, observed, nodes, hold, plan, now))
}

/// Whether `step` itself deletes the pods that it releases.
#[must_use]
pub fn deletes_pods(workload: &Workload) -> bool {
    workload.kind().mechanism() == Ok(MechanismName::Deletions)
}

/// Whether `step` releases a number of pods, and the controller chooses which ones.
#[must_use]
pub fn counts_pods(workload: &Workload) -> bool {
    mechanism_of(workload).is_ok_and(Mechanism::counts_pods)
}
