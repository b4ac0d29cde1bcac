//! `step`: releases an update batch by batch, with checks that no controller makes.
//!
//! A level-triggered reconciler. [`Stepper`] receives events, and does no I/O and has no clock:
//!
//! ```text
//! loop {
//!     observation = refresh()
//!     plan        = observation.workload.annotation      the only memory: any process can continue
//!     action      = reconcile(plan, observation, timers, now)
//!     execute(action)                                    one write, or one wave of guarded deletions
//! }
//! ```
//!
//! Watches, timers and finished requests only wake the loop: an action that they suggest is decided again on
//! a fresh observation before it is executed. What a process measures itself (`Timers`) can
//! be lost at any time; then it waits longer.

mod acquire;
mod action;
mod added_pods;
mod batch_in_progress;
mod batches;
mod between_batches;
mod causes;
mod cluster_view;
mod completing;
mod counted_pods;
mod daemon_set;
mod deployment;
mod ending;
mod existing_plan;
mod kind_lookup;
mod lease_upkeep;
mod on_event;
mod outcome;
mod ownership;
mod partition;
mod preview;
mod reconcile;
mod report;
mod reporter;
mod request;
mod rollback;
mod situation;
mod slot;
mod soak;
mod stale_refresh;
mod state;
mod stateful_set;
mod step_kind;
mod stepper;
mod task;
mod timers;
mod validate;
mod view;
mod view_builder;

#[cfg(test)]
mod tests;

pub use outcome::{BatchFailure, CheckResult, RollbackOutcome, StepOutcome, StopReason};
pub use preview::preview;
pub use report::{Beginning, StepReport};
pub use request::{CHECK_TIMEOUT, CheckOverride, Identity, PaceOverrides, Request};
pub use stepper::Stepper;
pub use task::{DeletionResult, StepEvent, StepperOutput, Task, WriteResult};
pub use view::{Batch, BatchStage, PlanPreview, PlanView, SlotState, SlotView, Soaked};
