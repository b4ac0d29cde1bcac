//! Proof of `step`: seeded runs of complete command lines in paused time, in which independent oracles
//! look at every change that the cluster ever stored.
//!
//! The oracles implement the specification without the code of the planner: they read the objects, the
//! requests and the words of the command lines.

#![expect(clippy::unwrap_used, reason = "a test that cannot get ready has failed")]

mod command;
mod external_changes;
mod generator;
mod kill;
mod kill_switch;
mod kind;
mod nodes;
mod oracle;
mod proven;
mod run;
mod schedules;
mod scripted_check;
mod timeline;
mod user;
mod world;
