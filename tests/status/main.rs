//! `status`: verdicts and causes of recorded and of hand-written objects, both streams and the exit code.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that finds nothing to unwrap has failed")]

mod causes;
mod compat;
mod exit_codes;
mod forms;
mod holds;
mod hostile;
mod objects;
mod recorded;
mod upstream;
