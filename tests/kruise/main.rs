//! The kinds of OpenKruise: recordings of real controllers, and a simulated cluster.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a failed unwrap fails the test")]

mod foretold;
mod history;
mod list_and_preview;
mod live;
mod pod_updates;
mod recording;
mod status;
mod step;
