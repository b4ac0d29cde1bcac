//! The output of followed rollouts as lines and as JSON.

pub mod json;
pub mod lines;
