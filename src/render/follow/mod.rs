//! Rollouts that are followed: lines, and JSON.

pub mod json;
pub mod lines;
