//! Reads what belongs to workloads: their revisions, pods and warning events. All of it goes into a store, which has the
//! facts by owner and answers with observations. A command reads once, or follows.
//!
//! One that follows has one watch for each resource and namespace, shared by all targets in it. A reflector reopens a watch
//! that ends, from its last resourceVersion or from a new list. The observer emits complete observations, so its users need
//! not handle interrupted watches.

mod facts;
pub mod observer;
mod outage;
pub mod read;
pub mod reflector;
mod refresh;
mod store;
mod targets;
#[cfg(test)]
mod tests;
