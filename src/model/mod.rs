//! Everything that is a function of API objects and a time: workloads, revisions, verdicts and changes.
//!
//! The model does no I/O, reads no clock and knows nothing of the command line. Most tests are here.

pub mod api;
pub mod change;
pub mod follow;
pub mod revision;
pub mod status;
pub mod step;
pub mod text;
pub mod workload;
