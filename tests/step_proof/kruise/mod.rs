//! The kinds of OpenKruise: seeded runs with an oracle of their own.
//!
//! `ROLLOUT2_STEPS=3000 cargo test --release --test all step_proof::kruise` runs more of them,
//! `ROLLOUT2_STEP_LIST=1` shows every wrong one, and
//! `ROLLOUT2_STEP_KIND=0 ROLLOUT2_STEP_SEED=17 cargo test --test all one_of_kruise -- --ignored --nocapture`
//! shows one.

mod generator;
mod hand_made;
mod oracle;

use generator::Kruise;

use crate::step_proof::seeded::{repeat, run_half, show};

/// How many runs of each kind a plain `cargo test` makes.
const RUNS: u64 = 100;

#[test]
fn seeded_runs_of_clone_sets_even() {
    run_half(Kruise::CloneSet, RUNS, 0);
}

#[test]
fn seeded_runs_of_clone_sets_odd() {
    run_half(Kruise::CloneSet, RUNS, 1);
}

#[test]
fn seeded_runs_of_advanced_stateful_sets_even() {
    run_half(Kruise::StatefulSet, RUNS, 0);
}

#[test]
fn seeded_runs_of_advanced_stateful_sets_odd() {
    run_half(Kruise::StatefulSet, RUNS, 1);
}

#[test]
fn seeded_runs_of_advanced_daemon_sets_even() {
    run_half(Kruise::DaemonSet, RUNS, 0);
}

#[test]
fn seeded_runs_of_advanced_daemon_sets_odd() {
    run_half(Kruise::DaemonSet, RUNS, 1);
}

#[test]
fn a_seed_has_one_outcome() {
    [Kruise::CloneSet, Kruise::StatefulSet, Kruise::DaemonSet].into_iter().for_each(repeat);
}

#[test]
#[ignore = "shows the run of one seed"]
fn one_of_kruise() {
    let kind = std::env::var("ROLLOUT2_STEP_KIND").unwrap().parse::<usize>().unwrap();
    show([Kruise::CloneSet, Kruise::StatefulSet, Kruise::DaemonSet][kind]);
}
