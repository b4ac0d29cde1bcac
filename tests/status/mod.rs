//! `status`: verdicts and causes of recorded and constructed objects, rollouts that it follows, and the live display.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a failed unwrap fails the test")]

mod causes;
mod contexts;
mod exit_codes;
mod follow;
mod frame;
mod holds;
mod kubectl_lines;
pub(crate) mod objects;
mod output;
mod recorded;
pub(crate) mod stale_configuration;
mod what_serves;
