//! `list`: the rollouts of snapshots and of simulated clusters.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that finds nothing to unwrap has failed")]

mod arguments;
mod clusters;
mod documents;
mod objects;
mod tables;
mod watching;
