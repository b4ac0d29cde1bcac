//! Sequences that people go through, on a cluster whose controllers work.
//!
//! A scenario only applies, runs our commands, and waits until something holds, so it plays on any cluster: on the
//! simulated one, or on a real one whose nodes obey image tags when `ROLLOUT2_TEST_KUBECONFIG` names its kubeconfig.

#![expect(clippy::unwrap_used, reason = "a scenario that cannot go on has failed")]

mod daemon_set;
mod failing;
mod ground;
mod history;
mod objects;
mod pausing;
mod rolling;
mod scaling;
mod stateful_set;
mod stepping;
mod told;
mod undoing;
mod users;
