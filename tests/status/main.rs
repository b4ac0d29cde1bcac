//! `status`: verdicts and causes of recorded and constructed objects.

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
