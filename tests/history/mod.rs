//! `history`: its tables, and what it prints of one revision.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod bad_input;
mod configuration;
mod contexts;
mod flags;
mod hostile;
mod kubectl_texts;
mod output;
mod revision;
mod revision_words;
mod since;

use harness::{Run, snapshot_path};

/// `history ARGS... --from tests/data/NAMESPACE/snapshot.json`.
fn history(namespace: &str, args: &[&str]) -> Run {
    Run::of(["history"].iter().chain(args)).arg("--from").arg(snapshot_path(namespace))
}
