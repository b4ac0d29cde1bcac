//! The controllers of `simcluster`, compared with recordings of a real control plane.

#![expect(clippy::unwrap_used, reason = "a test that unwraps says what it expected")]

mod at_rest;
mod daemon_set;
mod deployment;
mod disruption;
mod interleaving;
mod job;
mod kruise;
mod kubelets;
mod lab;
mod stateful_set;
mod trace_deployment;
mod trace_held_deployment;
