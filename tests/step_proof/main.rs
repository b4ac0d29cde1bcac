//! Stepping, proven: seeded runs of whole command lines in paused time, in which oracles of their own
//! look at every change that the cluster ever stored.
//!
//! The oracles know what the issue says and nothing of the planner: they read the objects, the
//! requests and the words of the command lines.

#![expect(clippy::unwrap_used, reason = "a test that cannot get ready has failed")]

mod draw;
mod kill;
mod mortal;
mod nodes;
mod oracle;
mod others;
mod person;
mod play;
mod proven;
mod schedules;
mod timeline;
mod words;
mod world;
