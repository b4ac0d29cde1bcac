//! Runs `kubectl-rollout2` inside a test, and compares it with recorded outputs of kubectl.
//!
//! A [`Run`] is one command line in this process. It starts no process, sets no environment variable and waits
//! for no clock, so tests run in parallel. A [`Recorded`] is the recorded output of one kubectl command.
//! A [`Cluster`] is a simulated cluster: with controllers, on a clock that advances when every task waits, or with recorded
//! objects; in this process, or on a socket.
//! A [`Process`] is a command as a process of the built program.
//! [`terminal::screens`] returns what a terminal showed. [`merged`] writes a test object as changes of another.
//! [`random::Dice`] draws random numbers. A [`replay::Replay`] replays what was recorded on real nodes.

#![allow(
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    clippy::missing_panics_doc,
    reason = "the only callers are tests, which fail"
)]

pub mod changes;
pub mod cluster;
mod cluster_state;
pub mod files;
#[cfg(unix)]
pub mod held_pipe;
pub mod kruise;
mod kubectl_status;
pub mod many_workloads;
mod merge;
pub mod objects;
pub mod prelude;
pub mod process;
pub mod real;
mod real_time;
mod recorded;
pub mod replay;
mod run;
pub mod schema;
mod script;
pub mod terminal;

pub use cluster::Cluster;
pub use cluster_state::is_ready;
pub use kubectl_status::kubectl_status;
pub use merge::merged;
pub use process::Process;
pub use recorded::{Recorded, data, snapshot, snapshot_path};
pub use run::{Output, Run, ignores_sighup};
pub use script::write_script;
pub use simcluster::random;
