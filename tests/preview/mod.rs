//! `preview`: the program on recorded objects, and with a program in kubectl's place.

#![expect(clippy::unwrap_used, reason = "a test that finds nothing to unwrap has failed")]

mod kubectl;
mod output;
mod recorded;
pub(crate) mod setup;
