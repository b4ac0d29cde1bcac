//! `step`: releases an update batch by batch, with checks that no controller makes.
//!
//! A level-triggered reconciler. [`Stepper`] receives events, and does no I/O and has no clock:
//!
//! ```text
//! on an event:
//!     cluster.update(event)
//!     if it is fresh and no request is in flight:
//!         state  = State::of(cluster, now)       the observation, the plan in its annotation, and the pod slots
//!         action = reconcile(state, memory)
//!         perform(action)                        one write, or one wave of guarded deletions
//! ```
//!
//! Watches, timers and finished requests only wake the loop: an action that they suggest is decided again on
//! a fresh observation before it is executed. What a process measures itself (`Memory`) can
//! be lost at any time; then it waits longer.

mod action;
mod answers;
mod batch;
mod batches;
mod causes;
mod check;
mod cluster_view;
mod counted_pods;
mod daemon_set;
mod deployment;
mod engine;
mod kind_lookup;
mod memory;
mod next_batch;
mod outcome;
mod ownership;
mod partition;
mod preview;
mod reconcile;
mod refusals;
mod report;
mod reporter;
mod request;
mod rollback;
mod slot;
mod soak;
mod start;
mod state;
mod stepper;
mod task;
mod view;
mod view_builder;

#[cfg(test)]
mod tests;

pub use outcome::{BatchFailure, CheckResult, RollbackOutcome, StepOutcome, StopReason};
pub use preview::preview;
pub use report::{Beginning, StepReport};
pub use request::{CheckOverride, PaceOverrides, Request};
pub use stepper::Stepper;
pub use task::{DeletionResult, StepEvent, Task, WriteResult};
pub use view::{Batch, BatchStage, PlanPreview, PlanView, SlotState, SlotView, Soaked};
