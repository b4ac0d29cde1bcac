//! Seeded runs of kinds whose states are histories of a workload and its pods.
//!
//! `ROLLOUT2_STEPS` is the number of runs, and `ROLLOUT2_STEP_LIST=1` shows every wrong one.

pub(crate) mod draw;
pub(crate) mod history;
pub(crate) mod oracle;
mod run;
pub(crate) mod story;

use draw::Kind;
use run::{Played, play};

/// Makes half of the runs, so that two processors share them.
#[expect(clippy::print_stdout, reason = "the figures of a long run")]
pub(crate) fn run_half(kind: impl Kind, runs: u64, half: u64) {
    let asked = std::env::var("ROLLOUT2_STEPS").ok().and_then(|count| count.parse().ok());
    let most = if std::env::var_os("ROLLOUT2_STEP_LIST").is_some() { usize::MAX } else { 6 };
    let (mut exits, mut failed, mut shown) = ([0; 6], 0, String::new());
    for seed in (half..asked.unwrap_or(runs)).step_by(2) {
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

/// Makes some runs twice. Each seed has one outcome.
pub(crate) fn repeat(kind: impl Kind) {
    for seed in 0..4 {
        let [first, second] = [(); 2].map(|()| play(kind, seed));
        assert_eq!(text(seed, &first), text(seed, &second));
    }
}

/// Shows the run of the seed `ROLLOUT2_STEP_SEED`.
#[expect(clippy::print_stdout, reason = "to be read")]
pub(crate) fn show(kind: impl Kind) {
    let seed = std::env::var("ROLLOUT2_STEP_SEED").unwrap().parse().unwrap();
    let played = play(kind, seed);
    println!("{}", text(seed, &played));
    played.history.iter().for_each(|moment| println!("{moment} {}", moment.web["spec"]["updateStrategy"]));
    assert!(played.wrong.is_empty());
}

fn text<K: Kind>(seed: u64, played: &Played<K>) -> String {
    format!(
        "=== seed {seed}: exit {}\n{:?}\n{}\nwrong: {:#?}\n",
        played.exit, played.draw, played.transcript, played.wrong
    )
}
