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
//!         action = reconcile(state, memory)       reconcile.rs
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
mod counted_pods;
mod daemon_set;
mod deployment;
mod ending;
mod engine;
mod event;
mod failure;
mod kind_lookup;
mod memory;
mod next_batch;
mod options;
mod outcome;
mod ownership;
mod partition;
mod reconcile;
mod refusals;
mod reporter;
mod shown;
mod slot;
mod soak;
mod start;
mod state;
mod view;

#[cfg(test)]
mod tests;

pub use engine::Stepper;
pub use event::{BatchStage, BatchView, Origin, SlotState, SlotView, StepEvent, StepReport, Task};
pub use kind_lookup::{counts_pods, deletes_pods};
pub use options::StepOptions;
pub use outcome::{RollbackOutcome, StepOutcome, StopReason};
pub use shown::preview;
pub use view::PlanView;
