//! Runs `kubectl-rollout2` inside a test, and compares it with recorded outputs of kubectl.
//!
//! A [`Run`] is one command line in a world of its own: no process is started, no variable is set
//! and no clock is waited for, so tests run side by side. A [`Recorded`] is what kubectl printed for
//! one command, and [`golden::compare`] holds every recording of a verb against us. A [`lab::Lab`] is
//! a cluster with controllers in the same process, in a time that only moves when everybody waits;
//! [`random::Dice`] draws what happens in it. A [`replay::Replay`] plays again what real nodes did.

pub mod golden;
pub mod lab;
pub mod many_workloads;
pub mod random;
mod recorded;
pub mod replay;
mod run;
pub mod schema;

pub use recorded::{Recorded, data};
pub use run::{Ended, Run};
