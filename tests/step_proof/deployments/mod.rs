//! Deployments: seeded runs with an oracle of their own.
//!
//! `ROLLOUT2_STEPS=10000 cargo test --release --test step_proof deployments` runs more of them,
//! `ROLLOUT2_STEP_LIST=1` shows every wrong one, and
//! `ROLLOUT2_STEP_SEED=17 cargo test --test step_proof one_deployment -- --ignored --nocapture` shows one.

pub(crate) mod generator;
mod hand_made;
pub(crate) mod history;
mod oracle;
pub(crate) mod run;

use run::{Played, play};

/// How many runs a plain `cargo test` makes.
const RUNS: u64 = 300;

#[test]
fn seeded_runs_of_deployments_even() {
    run_half(0);
}

#[test]
fn seeded_runs_of_deployments_odd() {
    run_half(1);
}

/// Half of the runs, so that two processors share them.
#[expect(clippy::print_stdout, reason = "the figures of a long run")]
fn run_half(half: u64) {
    let asked = std::env::var("ROLLOUT2_STEPS").ok().and_then(|count| count.parse().ok());
    let most = if std::env::var_os("ROLLOUT2_STEP_LIST").is_some() { usize::MAX } else { 6 };
    let (mut exits, mut failed, mut shown) = ([0; 6], 0, String::new());
    for seed in (half..asked.unwrap_or(RUNS)).step_by(2) {
        let played = play(seed);
        exits[usize::from(played.exit.min(5))] += 1;
        if !played.wrong.is_empty() {
            failed += 1;
            if failed <= most {
                shown += &text(seed, &played);
            }
        }
    }
    println!("exits 0 to 5: {exits:?}");
    assert!(failed == 0, "{failed} runs are wrong\n{shown}");
    assert!([0, 4].iter().all(|exit| exits[*exit] > 0), "{exits:?}");
}

#[test]
#[ignore = "shows the run of one seed"]
#[expect(clippy::print_stdout, reason = "to be read")]
fn one_deployment() {
    let seed = std::env::var("ROLLOUT2_STEP_SEED").unwrap().parse().unwrap();
    let played = play(seed);
    println!("{}", text(seed, &played));
    played.history.iter().for_each(|moment| println!("{moment}"));
    assert!(played.wrong.is_empty());
}

fn text(seed: u64, played: &Played) -> String {
    format!(
        "=== seed {seed}: exit {}\n{:?}\n{}\nwrong: {:#?}\n",
        played.exit, played.draw, played.transcript, played.wrong
    )
}
