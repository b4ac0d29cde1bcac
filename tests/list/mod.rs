//! `list`: the rollouts of snapshots and of simulated clusters.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod arguments;
mod clusters;
mod contexts;
mod documents;
mod objects;
mod since;
mod tables;
mod templates;
mod watching;
