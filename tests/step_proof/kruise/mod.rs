//! The kinds of OpenKruise: seeded runs with an oracle of their own.
//!
//! `ROLLOUT2_STEPS=3000 cargo test --release --test step_proof kruise` runs more of them,
//! `ROLLOUT2_STEP_LIST=1` shows every wrong one, and
//! `ROLLOUT2_STEP_KIND=0 ROLLOUT2_STEP_SEED=17 cargo test --test step_proof one_of_kruise -- --ignored --nocapture`
//! shows one.

mod generator;
mod hand_made;
mod oracle;
mod run;

use generator::Kind;
use run::{Played, play};

/// How many runs of each kind a plain `cargo test` makes.
const RUNS: u64 = 100;

#[test]
fn seeded_runs_of_clone_sets_even() {
    run_half(Kind::CloneSet, 0);
}

#[test]
fn seeded_runs_of_clone_sets_odd() {
    run_half(Kind::CloneSet, 1);
}

#[test]
fn seeded_runs_of_advanced_stateful_sets_even() {
    run_half(Kind::StatefulSet, 0);
}

#[test]
fn seeded_runs_of_advanced_stateful_sets_odd() {
    run_half(Kind::StatefulSet, 1);
}

#[test]
fn seeded_runs_of_advanced_daemon_sets_even() {
    run_half(Kind::DaemonSet, 0);
}

#[test]
fn seeded_runs_of_advanced_daemon_sets_odd() {
    run_half(Kind::DaemonSet, 1);
}

/// Half of the runs, so that two processors share them.
#[expect(clippy::print_stdout, reason = "the figures of a long run")]
fn run_half(kind: Kind, half: u64) {
    let asked = std::env::var("ROLLOUT2_STEPS").ok().and_then(|count| count.parse().ok());
    let most = if std::env::var_os("ROLLOUT2_STEP_LIST").is_some() { usize::MAX } else { 6 };
    let (mut exits, mut failed, mut shown) = ([0; 6], 0, String::new());
    for seed in (half..asked.unwrap_or(RUNS)).step_by(2) {
        let played = play(kind, seed);
        exits[usize::from(played.exit.min(5))] += 1;
        if !played.wrong.is_empty() {
            failed += 1;
            if failed <= most {
                shown += &text(seed, &played);
            }
        }
    }
    println!("{kind:?}: exits 0 to 5: {exits:?}");
    assert!(failed == 0, "{failed} runs are wrong\n{shown}");
    assert!([0, 4].iter().all(|exit| exits[*exit] > 0), "{exits:?}");
}

#[test]
#[ignore = "shows the run of one seed"]
#[expect(clippy::print_stdout, reason = "to be read")]
fn one_of_kruise() {
    let number = |name: &str| std::env::var(name).unwrap().parse::<u64>().unwrap();
    let kind = [Kind::CloneSet, Kind::StatefulSet, Kind::DaemonSet];
    let kind = kind[usize::try_from(number("ROLLOUT2_STEP_KIND")).unwrap()];
    let seed = number("ROLLOUT2_STEP_SEED");
    let played = play(kind, seed);
    println!("{}", text(seed, &played));
    played.history.iter().for_each(|moment| println!("{moment} {}", moment.web["spec"]["updateStrategy"]));
    assert!(played.wrong.is_empty());
}

fn text(seed: u64, played: &Played) -> String {
    format!(
        "=== seed {seed}: exit {}\n{:?}\n{}\nwrong: {:#?}\n",
        played.exit, played.draw, played.transcript, played.wrong
    )
}
