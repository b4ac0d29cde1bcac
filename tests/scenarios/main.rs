//! Sequences of commands on a cluster with working controllers.
//!
//! A scenario only applies objects, runs our commands, and waits for conditions, so it runs on any
//! cluster. By default that is the simulated one. `ROLLOUT2_TEST_KUBECONFIG` names the kubeconfig
//! of a real one, whose nodes obey image tags.

#![expect(clippy::unwrap_used, reason = "a scenario that cannot go on has failed")]

mod daemon_set;
mod failing;
mod history;
mod history_output;
mod kubectl_users;
mod objects;
mod pausing;
mod rolling;
mod scaling;
mod setup;
mod stateful_set;
mod step;
mod undo_on_failure;
