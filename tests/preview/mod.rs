//! `preview` of recorded objects on a simulated cluster, with a program in kubectl's place.

#![expect(clippy::unwrap_used, reason = "a test that finds nothing to unwrap has failed")]

mod kubectl;
mod output;
mod recorded;
pub(crate) mod setup;
