//! The kinds of OpenKruise: every recorded step of real controllers, read from a snapshot.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that finds nothing to unwrap has failed")]

mod history;
mod live;
mod pod_updates;
mod recording;
mod status;
