//! Shell completion: from snapshots and clusters, through kubectl and in real shells.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
#![expect(clippy::print_stderr, reason = "a skipped test prints a note")]

mod answers;
mod clusters;
mod kubectl;
mod setup;
mod shells;

use harness::{Run, data};

/// Returns the completions of the last word of `kubectl-rollout2 WORDS...`.
fn completions(args: &[&str]) -> String {
    let output = Run::of(["__complete"].iter().chain(args)).run();
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0), "{args:?}");
    output.stdout
}

/// Returns the completions of `typed` from the recorded shop.
fn completions_in_shop(args: &[&str], typed: &str) -> String {
    let snapshot = data().join("shop/snapshot.json");
    let (verb, rest) = args.split_first().unwrap();
    let from = [*verb, "--from", snapshot.to_str().unwrap()];
    completions(&[&from, rest, &[typed]].concat())
}

/// Returns the suggested words without descriptions, and the directive in the last line.
fn suggestions(completions: &str) -> (Vec<&str>, &str) {
    let mut lines: Vec<&str> = completions.lines().collect();
    let directive = lines.pop().unwrap();
    (lines.into_iter().map(|line| line.split('\t').next().unwrap()).collect(), directive)
}
