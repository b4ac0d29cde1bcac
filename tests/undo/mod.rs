//! `undo`: its preview, its requests, its questions, and the stuck pods that it replaces.

#![expect(clippy::unwrap_used, reason = "a failed setup fails the test")]

mod dry_run;
mod failed_since;
mod kubectl_texts;
mod next_apply;
mod outages;
mod questions;
mod replaced_pods;
mod requests;
mod stuck_pods;

use harness::{Run, snapshot_path};

/// `undo ARGS... --from tests/data/NAMESPACE/snapshot.json`.
fn undo(namespace: &str, args: &[&str]) -> Run {
    Run::of(["undo"].iter().chain(args)).arg("--from").arg(snapshot_path(namespace))
}
