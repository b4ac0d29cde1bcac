//! Changes to a workload: patches with preconditions, and what each verb writes.

pub mod conflict;
pub mod hold;
pub mod owners;
pub mod patch;
pub mod plan;
pub mod preview;
pub mod restart;
pub mod stuck_pods;
pub mod undo;
