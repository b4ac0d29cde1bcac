//! The status of a rollout: the observation of a workload, its verdict, and the causes of a stall.

pub mod cause;
pub mod effect;
pub mod history;
pub mod list;
pub mod observation;
pub mod pod_stage;
pub mod serving;
mod stable_revision;
pub mod verdict;
