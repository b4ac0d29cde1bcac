//! `step` of DaemonSets.

mod batches;
mod budgets;
mod concurrent_changes;
mod refusals;
mod setup;
mod signals;
mod unready_nodes;
