//! The kinds of OpenKruise: recordings of real controllers, and a simulated cluster.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that finds nothing to unwrap has failed")]

mod foretold;
mod history;
mod live;
mod pod_updates;
mod recording;
mod status;
