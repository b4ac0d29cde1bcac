//! Sequences of commands on a cluster with running controllers.
//!
//! A scenario only applies objects, runs our commands, and waits for conditions, so it runs on any cluster. The default is
//! the simulated cluster in paused time. `ROLLOUT2_TEST_KUBECONFIG` is the path of the kubeconfig of a real one, whose nodes must
//! interpret the image tags.

#![expect(clippy::unwrap_used, reason = "a failed setup fails the test")]

mod daemon_set;
mod deployment;
mod history;
mod history_output;
mod kubectl_users;
mod objects;
mod stateful_set;
mod step;
