//! The kinds of OpenKruise: recordings of real controllers, and a simulated cluster.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a failed unwrap fails the test")]

mod causes;
pub(crate) mod cluster;
mod driven;
mod foretold;
mod history;
mod list_and_preview;
mod live;
mod old_release;
mod own_pairs;
mod pod_updates;
pub(crate) mod recording;
mod selector;
mod status;
mod step;
