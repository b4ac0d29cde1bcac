//! Deployments: seeded runs with an oracle of their own.
//!
//! `ROLLOUT2_STEPS=10000 cargo test --release --test all step_proof::deployments` runs more of them,
//! `ROLLOUT2_STEP_LIST=1` shows every wrong one, and
//! `ROLLOUT2_STEP_SEED=17 cargo test --test all one_deployment -- --ignored --nocapture` shows one.

mod generator;
mod hand_made;
mod oracle;

use generator::Deployment;

use crate::step_proof::seeded::{repeat, run_half, show};

/// How many runs a plain `cargo test` makes.
const RUNS: u64 = 100;

#[test]
fn seeded_runs_of_deployments_even() {
    run_half(Deployment, RUNS, 0);
}

#[test]
fn seeded_runs_of_deployments_odd() {
    run_half(Deployment, RUNS, 1);
}

#[test]
fn a_seed_has_one_outcome() {
    repeat(Deployment);
}

#[test]
#[ignore = "shows the run of one seed"]
fn one_deployment() {
    show(Deployment);
}
