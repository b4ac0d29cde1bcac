//! `undo`: the binary with recorded objects.

mod dry_run;
mod failed_since;

use harness::{Run, snapshot_path};

/// `undo ARGS... --from tests/data/NAMESPACE/snapshot.json`.
fn undo(namespace: &str, args: &[&str]) -> Run {
    Run::of(["undo"].iter().chain(args)).arg("--from").arg(snapshot_path(namespace))
}
